// Part of build.rs: the name that programs ask for at run time.

/// `FT_ABI_VERSION` of `src/capi/version.rs`; the test `capi_install` compares them.
const ABI_VERSION: u32 = 0;

/// Names the shared library `libfairtree.so.0`. The plugin, which Slurm loads by its path, has no
/// such name.
pub fn link() {
    println!("cargo::rerun-if-changed=packaging/soname.rs");
    let is = |name: &str| std::env::var_os(name).is_some();
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && is("CARGO_FEATURE_CAPI") && !is("CARGO_FEATURE_SLURM") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfairtree.so.{ABI_VERSION}");
    }
}
