//! `cargo fmt` does not find modules that a macro declares (the tables of rankings and of keys):
//! here `rustfmt` looks at their files.

use std::path::Path;
use std::process::Command;

const FOLDERS: [&str; 2] = ["src/fairshare", "src/config/parameters"];

#[test]
fn files_that_tables_declare_are_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in FOLDERS {
        let files = root.join(folder).read_dir().expect("a folder of the crate");
        let files = files.map(|entry| entry.expect("an entry").path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let mut command = Command::new("rustfmt");
        command.args(["--check", "--edition", "2024"]).args(files);
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if std::env::var_os("CI").is_none() => {
                eprintln!("skipped: rustfmt: {error}");
                return;
            }
            Err(error) => panic!("rustfmt: {error}"),
        };
        let differences = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{folder}:\n{differences}");
    }
}
