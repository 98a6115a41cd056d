//! `make install`: a C program finds library and header through pkg-config, shared and static; the
//! command is installed with manual page and completions; and `make uninstall` leaves nothing.

#![cfg(feature = "capi")]

mod capi_common;
#[path = "common/console.rs"]
mod console;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use capi_common::{WARNINGS, crate_dir, run};

/// An installation in a separate folder, as a packager makes it.
struct Installation {
    destdir: tempfile::TempDir,
}

/// Installing writes to one build folder, so one test does it at a time.
static BUILD_FOLDER: Mutex<()> = Mutex::new(());

const PREFIX: &str = "/opt/fairtree";

impl Installation {
    fn make(&self, target: &str) {
        let _alone = BUILD_FOLDER.lock();
        // Use only this test's options, not those of a calling `make test`.
        run(Command::new("make")
            .current_dir(crate_dir())
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .args(["-f", "packaging/install.mk", "PROFILE=dev", target])
            .arg(format!("CARGO={}", env!("CARGO")))
            .arg(format!("PREFIX={PREFIX}"))
            .arg(format!("DESTDIR={}", self.destdir.path().display())));
    }

    fn path(&self, below_prefix: &str) -> PathBuf {
        let prefix = PREFIX.trim_start_matches('/');
        self.destdir.path().join(prefix).join(below_prefix)
    }

    fn pkg_config(&self, args: &[&str]) -> Vec<String> {
        let output = run(Command::new("pkg-config")
            .env("PKG_CONFIG_LIBDIR", self.path("lib/pkgconfig"))
            .env("PKG_CONFIG_SYSROOT_DIR", self.destdir.path())
            .args(args)
            .arg("fairtree"));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn compile_harness(&self, name: &str, flags: &[String]) -> PathBuf {
        let program = self.destdir.path().join(name);
        run(Command::new("cc")
            .arg("-std=c11")
            .args(WARNINGS)
            .arg(crate_dir().join("examples/c/harness.c"))
            .args(flags)
            .args(["-lm", "-o"])
            .arg(&program));
        program
    }

    /// Every file and link, below the prefix.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.destdir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a readable folder") {
                let path = entry.expect("a readable entry").path();
                match path.is_dir() && !path.is_symlink() {
                    true => folders.push(path),
                    false => files.push(path),
                }
            }
        }
        files
    }
}

fn soname(library: &Path) -> String {
    let output = run(Command::new("readelf").arg("--dynamic").arg(library));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let line = text.lines().find(|line| line.contains("(SONAME)"));
    let line = line.expect("the library has a SONAME");
    let name = line.split(['[', ']']).nth(1).expect("a name in brackets");
    name.to_owned()
}

#[test]
fn a_program_builds_against_the_installation() {
    let installation = Installation {
        destdir: tempfile::tempdir().expect("a temporary folder"),
    };
    installation.make("install-lib");

    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(installation.pkg_config(&["--modversion"]), [version]);
    let links = ["lib/libfairtree.so", "lib/libfairtree.so.1"];
    for link in links {
        assert!(installation.path(link).is_symlink(), "{link} is a link");
    }
    let real = fs::canonicalize(installation.path("lib/libfairtree.so")).expect("a library");
    let name = real
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert_eq!(name, format!("libfairtree.so.{version}"));
    assert_eq!(
        soname(&real),
        format!("libfairtree.so.{}", fairtree::capi::FT_ABI_VERSION)
    );

    let shared = installation.pkg_config(&["--cflags", "--libs"]);
    let program = installation.compile_harness("shared", &shared);
    let printed = run(Command::new(program).env("LD_LIBRARY_PATH", installation.path("lib")));

    let statically: Vec<String> = installation
        .pkg_config(&["--static", "--cflags", "--libs"])
        .into_iter()
        .map(|flag| flag.replace("-lfairtree", "-l:libfairtree.a"))
        .collect();
    let program = installation.compile_harness("static", &statically);
    let needed = run(Command::new("readelf").arg("--dynamic").arg(&program)).stdout;
    assert!(!String::from_utf8_lossy(&needed).contains("libfairtree"));
    assert_eq!(run(&mut Command::new(program)).stdout, printed.stdout);
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    assert!(
        printed.starts_with(&format!("fairtree {version}\n")),
        "{printed}"
    );

    for program in ["shared", "static"] {
        fs::remove_file(installation.destdir.path().join(program)).expect("it was there");
    }
    installation.make("uninstall");
    assert_eq!(installation.files(), Vec::<PathBuf>::new());
}

#[test]
fn the_command_comes_with_its_manual_and_completions() {
    let installation = Installation {
        destdir: tempfile::tempdir().expect("a temporary folder"),
    };
    installation.make("install");
    let printed = run(Command::new(installation.path("bin/fairtree")).arg("--version")).stdout;
    let version = format!("fairtree {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&printed), version);
    for (file, contains) in [
        ("share/man/man1/fairtree.1", ".TH fairtree 1"),
        ("share/bash-completion/completions/fairtree", "complete "),
        ("share/zsh/site-functions/_fairtree", "#compdef fairtree"),
        (
            "share/fish/vendor_completions.d/fairtree.fish",
            "complete -c fairtree",
        ),
        ("include/fairtree.h", "#define FAIRTREE_H"),
        (
            "share/man/man1/fairtree-ledger-fill.1",
            "what the plugin has not seen",
        ),
        (
            "lib/systemd/system/fairtree-ledger@.service",
            "ExecStart=/opt/fairtree/bin/fairtree --quiet ledger %i",
        ),
        ("lib/systemd/system/fairtree-ledger@.timer", "OnCalendar="),
    ] {
        let text = fs::read_to_string(installation.path(file)).expect(file);
        assert!(text.contains(contains), "{file}");
    }
    installation.make("uninstall");
    assert_eq!(installation.files(), Vec::<PathBuf>::new());
}

/// As `systemd-analyze security` adds it up, of 10: what a service could do to its host.
#[test]
fn services_are_confined() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (unit, instance) in [
        ("fairtree-capture.service", "fairtree-capture.service"),
        ("fairtree-ledger@.service", "fairtree-ledger@fill.service"),
    ] {
        let source = crate_dir().join(format!("packaging/{unit}.in"));
        let text = fs::read_to_string(source).expect(unit);
        let path = folder.path().join(instance);
        fs::write(&path, text.replace("@BINDIR@", "/usr/bin")).expect("written");
        let mut analyze = Command::new("systemd-analyze");
        analyze.args(["security", "--offline=true", "--no-pager", "--threshold=20"]);
        match analyze.arg(&path).output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{said}");
            }
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "systemd-analyze: {error}");
                eprintln!("not tested: systemd-analyze: {error}");
            }
        }
    }
}

/// Runs the commands of the guide for C programmers one after the other in a shell with a temporary
/// home. `make` works in the checkout, with cargo's quick profile.
#[test]
fn the_guide_for_c_programmers_works() {
    let page = console::document("docs/c-programmer.md");
    let blocks = console::blocks(&page);
    let program = blocks
        .iter()
        .find(|block| block.kind == "c")
        .expect("a program");
    assert_eq!(program.text, console::document("examples/c/first.c"));
    let install = blocks
        .iter()
        .filter(|block| block.kind == "console install");
    let calls: Vec<console::Call> = install.flat_map(console::calls).collect();
    assert!(calls.len() >= 10, "{calls:?}");

    let home = tempfile::tempdir().expect("a temporary folder");
    let root = crate_dir();
    std::os::unix::fs::symlink(root.join("examples"), home.path().join("examples"))
        .expect("a link");
    let own = |variable: &str, folder: &str| {
        let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(folder);
        std::env::var_os(variable).map_or_else(home, PathBuf::from)
    };
    // A character that no output contains separates the outputs.
    let mut script = format!(
        "set -e -o pipefail\nmake() {{ command make -C '{}' PROFILE=dev CARGO='{}' \"$@\" >&2; }}\n",
        root.display(),
        env!("CARGO")
    );
    for call in &calls {
        script.push_str(&format!("{}\nprintf '\\036'\n", call.command));
    }
    let _alone = BUILD_FOLDER.lock();
    let printed = run(Command::new("bash")
        .args(["-c", &script])
        .current_dir(home.path())
        .env("CARGO_HOME", own("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", own("RUSTUP_HOME", ".rustup"))
        .env("HOME", home.path())
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL"));
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    for (call, text) in calls.iter().zip(printed.split('\u{1e}')) {
        let shown = call.output.is_empty() || console::is_shown(&call.output, text);
        assert!(shown, "$ {}\nprints\n{text}", call.command);
    }
}
