//! Build script: the shared library gets its name; with the feature `slurm` the script
//! compiles the shim against a configured Slurm source tree and translates the shim's header.

#[path = "packaging/soname.rs"]
mod soname;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    soname::link();
    for name in [
        "slurm_has_recover",
        "slurm_has_calc_fs_factor",
        "slurm_has_factors_request",
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    #[cfg(feature = "slurm")]
    slurm::build();
}

#[cfg(feature = "slurm")]
mod slurm {
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    const SOURCE: &str = "FAIRTREE_SLURM_SRC";

    /// What a release looks up by name, beyond what all of them do.
    struct Release {
        number: u32,
        name: &'static str,
        symbols: &'static [&'static str],
    }

    const RELEASES: [Release; 2] = [
        Release {
            number: 0x16_05_08,
            name: "22.05.8",
            symbols: &["slurm_has_calc_fs_factor", "slurm_has_factors_request"],
        },
        Release {
            number: 0x18_0b_05,
            name: "24.11.5",
            symbols: &["slurm_has_calc_fs_factor", "slurm_has_recover"],
        },
    ];

    pub fn build() {
        println!("cargo::rerun-if-env-changed={SOURCE}");
        println!("cargo::rerun-if-changed=c_shim");
        let source = source_tree();
        let release = release_of(&source);
        for symbol in release.symbols {
            println!("cargo::rustc-cfg={symbol}");
        }
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(
            out.join("release.rs"),
            format!(
                "/// SLURM_VERSION_NUMBER of Slurm {0}.\npub const SLURM_VERSION_NUMBER: u32 = {1:#x};\n",
                release.name, release.number
            ),
        )
        .expect("OUT_DIR is writable");
        compile_shim(&source);
        translate_header(&out);
        // sshare has none of slurmctld's functions: they must not be looked for before a call.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,lazy");
    }

    fn source_tree() -> PathBuf {
        let source = env::var_os(SOURCE).unwrap_or_else(|| {
            panic!(
                "the feature `slurm` needs {SOURCE}: the folder of a configured Slurm source \
                 tree of the release that slurmctld runs (`make plugin` fetches one)"
            )
        });
        let source = PathBuf::from(source);
        for file in [
            "config.h",
            "slurm/slurm_version.h",
            "src/slurmctld/slurmctld.h",
        ] {
            assert!(
                source.join(file).is_file(),
                "{SOURCE}={} has no {file}: is it a Slurm source tree, and has ./configure run?",
                source.display()
            );
        }
        source
    }

    fn release_of(source: &Path) -> &'static Release {
        let config = fs::read_to_string(source.join("config.h")).expect("config.h is readable");
        let number = config
            .lines()
            .find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER 0x"))
            .and_then(|hex| u32::from_str_radix(hex.trim(), 16).ok())
            .expect("config.h of Slurm defines SLURM_VERSION_NUMBER");
        RELEASES
            .iter()
            .find(|release| release.number == number)
            .unwrap_or_else(|| {
                let known = RELEASES.map(|release| release.name).join(", ");
                panic!(
                    "Slurm {}.{:02}.{} is not known to fairtree (known: {known}). A plugin fits \
                     one release only. Compare the symbols that its src/interfaces/priority.c \
                     looks up with RELEASES in build.rs, and the structs and functions that \
                     c_shim uses with a block of c_shim/release.h; then add a block to each.",
                    number >> 16,
                    number >> 8 & 0xff,
                    number & 0xff
                )
            })
    }

    fn compile_shim(source: &Path) {
        let mut files: Vec<PathBuf> = fs::read_dir("c_shim")
            .expect("c_shim is there")
            .map(|entry| entry.expect("c_shim is readable").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        files.sort();
        cc::Build::new()
            .files(files)
            .std("gnu11")
            .include("c_shim")
            .flag("-isystem")
            .flag(source)
            .flag("-isystem")
            .flag(source.join("src"))
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
