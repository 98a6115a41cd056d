//! Build script: sets the name of the shared library. With the feature `slurm` it also compiles the
//! shim against a configured Slurm source tree and generates Rust bindings from the shim's header.

#[path = "packaging/soname.rs"]
mod soname;

#[path = "packaging/slurm_source.rs"]
#[allow(dead_code)] // without the feature `slurm` only the names of the cfgs matter
mod slurm_source;

#[path = "packaging/configured_source.rs"]
#[cfg(feature = "slurm")]
mod configured_source;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=packaging/configured_source.rs");
    println!("cargo::rerun-if-changed=packaging/slurm_source.rs");
    soname::link();
    for name in slurm_source::CFGS {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    #[cfg(feature = "slurm")]
    slurm::build();
}

#[cfg(feature = "slurm")]
mod slurm {
    use super::configured_source::configured;
    use super::slurm_source::{Interface, Release};
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    const SOURCE: &str = "FAIRTREE_SLURM_SRC";

    /// The revision of the source, as `FAIRTREE_REVISION` says, or git; none without either.
    fn revision() {
        println!("cargo::rerun-if-env-changed=FAIRTREE_REVISION");
        if env::var_os("FAIRTREE_REVISION").is_some() {
            return;
        }
        let git = |args: &[&str]| {
            let ran = std::process::Command::new("git").args(args).output().ok()?;
            let text = String::from_utf8(ran.stdout).ok()?;
            Some(text.trim().to_owned()).filter(|text| ran.status.success() && !text.is_empty())
        };
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            if fs::exists(&log).unwrap_or(false) {
                println!("cargo::rerun-if-changed={log}");
            }
        }
        if let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) {
            println!("cargo::rustc-env=FAIRTREE_REVISION={revision}");
        }
    }

    pub fn build() {
        println!("cargo::rerun-if-env-changed={SOURCE}");
        println!("cargo::rerun-if-changed=c_shim");
        let (source, build, release) = source_tree().unwrap_or_else(|error| fail(&error));
        if let Some(warning) = release.warning() {
            println!("cargo::warning={warning}");
        }
        let cfgs = Interface::read(&source).and_then(|found| found.cfgs());
        for cfg in cfgs.unwrap_or_else(|error| fail(&error)) {
            println!("cargo::rustc-cfg={cfg}");
        }
        revision();
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(
            out.join("release.rs"),
            format!(
                "/// SLURM_VERSION_NUMBER of Slurm {release}.\n\
                 pub const SLURM_VERSION_NUMBER: u32 = {:#x};\n",
                release.0
            ),
        )
        .expect("OUT_DIR is writable");
        compile_shim(&source, &build);
        translate_header(&out);
        // sshare has none of slurmctld's functions: they must not be resolved before they are
        // called.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,lazy");
        // A hook that has just released the plugin may still be executing our code when slurmctld
        // unloads us. The code stays mapped; a process has one copy of it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }

    /// Ends the build with a message instead of a backtrace.
    fn fail(message: &str) -> ! {
        println!("cargo::error={message}");
        std::process::exit(1)
    }

    /// The source tree, the folder in which it is configured, and the release.
    fn source_tree() -> Result<(PathBuf, PathBuf, Release), String> {
        let source = env::var_os(SOURCE).ok_or_else(|| {
            format!(
                "the feature `slurm` needs {SOURCE}: the folder of a configured Slurm source \
                 tree of the very release that slurmctld runs (`make plugin` fetches one)"
            )
        })?;
        let source = PathBuf::from(source);
        let header = source.join("src/slurmctld/slurmctld.h");
        let build = configured(&source).filter(|_| header.is_file());
        let Some(build) = build else {
            return Err(format!(
                "{SOURCE}={} has no config.h, slurm/slurm_version.h or src/slurmctld/slurmctld.h: \
                 is it a Slurm source tree, and has ./configure run?",
                source.display()
            ));
        };
        let config = build.join("config.h");
        for file in [&config, &build.join("slurm/slurm_version.h"), &header] {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let config = fs::read_to_string(config).map_err(|e| e.to_string())?;
        let release = Release::of_config(&config)?;
        Ok((source, build, release))
    }

    fn compile_shim(source: &Path, build: &Path) {
        let mut files: Vec<PathBuf> = fs::read_dir("c_shim")
            .expect("c_shim is there")
            .map(|entry| entry.expect("c_shim is readable").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        files.sort();
        // Without optimisation glibc does not do the checks of _FORTIFY_SOURCE.
        let optimised = env::var("OPT_LEVEL").ok().filter(|level| level != "0");
        cc::Build::new()
            .files(files)
            .std("gnu11")
            .include("c_shim")
            .flag("-isystem")
            .flag(build)
            .flag("-isystem")
            .flag(source)
            .flag("-isystem")
            .flag(source.join("src"))
            .flag("-fvisibility=hidden")
            .opt_level_str(optimised.as_deref().unwrap_or("1"))
            // Debian's hardening flags for Slurm; tests/slurm_symbols.rs checks them in the plugin.
            .flag("-U_FORTIFY_SOURCE")
            .flag("-D_FORTIFY_SOURCE=2")
            .flag("-fstack-protector-strong")
            .flag("-fstack-clash-protection")
            .flag("-fcf-protection")
            .force_frame_pointer(false)
            .warnings(true)
            .extra_warnings(true)
            .warnings_into_errors(true)
            .compile("fairtree_shim");
    }

    fn translate_header(out: &Path) {
        bindgen::Builder::default()
            .header("c_shim/shim.h")
            .allowlist_function("shim_.*")
            .allowlist_type("shim_.*")
            .prepend_enum_name(false)
            .rust_target(bindgen::RustTarget::stable(85, 0).expect("a release of Rust"))
            .rust_edition(bindgen::RustEdition::Edition2024)
            .layout_tests(true)
            .derive_default(true)
            .generate_comments(false)
            .generate()
            .expect("c_shim/shim.h is translated")
            .write_to_file(out.join("shim.rs"))
            .expect("OUT_DIR is writable");
    }
}
