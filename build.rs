//! Build script: the shared library gets its name; with the feature `slurm` the script
//! compiles the shim against a configured Slurm source tree and translates the shim's header.

#[path = "packaging/soname.rs"]
mod soname;

#[cfg(feature = "slurm")]
#[path = "packaging/slurm_symbols.rs"]
mod slurm_symbols;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    soname::link();
    for name in [
        "slurm_has_calc_fs_factor",
        "slurm_has_factors_request",
        "slurm_has_recover",
        "slurm_has_thread_start",
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    #[cfg(feature = "slurm")]
    slurm::build();
}

#[cfg(feature = "slurm")]
mod slurm {
    use super::slurm_symbols::Interface;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    const SOURCE: &str = "FAIRTREE_SLURM_SRC";

    /// The release series that c_shim knows: year and month. docs/releases.md tells how to add
    /// one, and what each of them was checked with.
    const SERIES: [(u32, u32); 8] = [
        (22, 5),
        (23, 2),
        (23, 11),
        (24, 5),
        (24, 11),
        (25, 5),
        (25, 11),
        (26, 5),
    ];

    /// Functions that every release looks up.
    const ALWAYS: [&str; 5] = [
        "priority_p_get_priority_factors_list",
        "priority_p_job_end",
        "priority_p_reconfig",
        "priority_p_set",
        "priority_p_set_assoc_usage",
    ];

    /// Functions that some releases look up, and what exports them.
    const SOMETIMES: [(&str, &str); 3] = [
        ("priority_p_calc_fs_factor", "slurm_has_calc_fs_factor"),
        ("priority_p_recover", "slurm_has_recover"),
        ("priority_p_thread_start", "slurm_has_thread_start"),
    ];

    pub fn build() {
        println!("cargo::rerun-if-env-changed={SOURCE}");
        println!("cargo::rerun-if-changed=c_shim");
        println!("cargo::rerun-if-changed=packaging/slurm_symbols.rs");
        let source = source_tree();
        let release = Release::of(&source);
        export_what_is_looked_up(&source, &release);
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        fs::write(
            out.join("release.rs"),
            format!(
                "/// SLURM_VERSION_NUMBER of Slurm {release}.\n\
                 pub const SLURM_VERSION_NUMBER: u32 = {:#x};\n",
                release.number
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
            fail(&format!(
                "the feature `slurm` needs {SOURCE}: the folder of a configured Slurm source \
                 tree of the very release that slurmctld runs (`make plugin` fetches one)"
            ))
        });
        let source = PathBuf::from(source);
        for file in [
            "config.h",
            "slurm/slurm_version.h",
            "src/slurmctld/slurmctld.h",
        ] {
            let path = source.join(file);
            println!("cargo::rerun-if-changed={}", path.display());
            if !path.is_file() {
                fail(&format!(
                    "{SOURCE}={} has no {file}: is it a Slurm source tree, and has ./configure \
                     run?",
                    source.display()
                ));
            }
        }
        source
    }

    /// Ends the build with a sentence instead of a backtrace.
    fn fail(message: &str) -> ! {
        println!("cargo::error={message}");
        std::process::exit(1)
    }

    /// SLURM_VERSION_NUMBER.
    struct Release {
        number: u32,
    }

    impl Release {
        /// The release of a source tree, if its series is known.
        fn of(source: &Path) -> Release {
            let config = fs::read_to_string(source.join("config.h")).expect("config.h is readable");
            let number = config
                .lines()
                .find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER 0x"))
                .and_then(|hex| u32::from_str_radix(hex.trim(), 16).ok())
                .unwrap_or_else(|| {
                    fail(&format!(
                        "{}/config.h does not define SLURM_VERSION_NUMBER",
                        source.display()
                    ))
                });
            let release = Release { number };
            if !SERIES.contains(&release.series()) {
                let known = SERIES.map(|(year, month)| format!("{year}.{month:02}"));
                fail(&format!(
                    "Slurm {release} is of a series that fairtree does not know (known: {}). Go \
                     through the list of docs/releases.md with its source: the symbols and \
                     signatures of src/interfaces/priority.c, the records and functions that \
                     c_shim uses (c_shim/expect.c lists them), and what changed in \
                     src/plugins/priority/multifactor; then add the series to SERIES in build.rs \
                     and to c_shim/release.h",
                    known.join(", ")
                ));
            }
            release
        }

        fn series(&self) -> (u32, u32) {
            (self.number >> 16, self.number >> 8 & 0xff)
        }
    }

    impl std::fmt::Display for Release {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let (year, month) = self.series();
            write!(f, "{year}.{month:02}.{}", self.number & 0xff)
        }
    }

    fn export_what_is_looked_up(source: &Path, release: &Release) {
        let interface = Interface::read(source).unwrap_or_else(|error| fail(&error));
        let mut rest: BTreeSet<&str> = interface.functions.iter().map(String::as_str).collect();
        for name in ALWAYS {
            if !rest.remove(name) {
                fail(&format!(
                    "Slurm {release} does not look up {name}: see docs/releases.md"
                ));
            }
        }
        for (name, cfg) in SOMETIMES {
            if rest.remove(name) {
                println!("cargo::rustc-cfg={cfg}");
            }
        }
        if !rest.is_empty() {
            fail(&format!(
                "Slurm {release} looks up {rest:?} in a priority plugin, which fairtree does not \
                 have: see docs/releases.md"
            ));
        }
        if interface.factors_request {
            println!("cargo::rustc-cfg=slurm_has_factors_request");
        }
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
