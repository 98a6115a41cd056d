// Part of build.rs: the name by which programs find the library at run time.

/// `FT_ABI_VERSION` of `src/capi/version.rs`; the test `capi_install` compares them.
const ABI_VERSION: u32 = 1;

/// Sets the SONAME `libfairtree.so.1` of the shared library. The plugin has none: Slurm loads it by
/// path.
pub fn link() {
    println!("cargo::rerun-if-changed=packaging/soname.rs");
    let is = |name: &str| std::env::var_os(name).is_some();
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && is("CARGO_FEATURE_CAPI") && !is("CARGO_FEATURE_SLURM") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfairtree.so.{ABI_VERSION}");
    }
}
