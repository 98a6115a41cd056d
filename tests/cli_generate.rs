//! Manual pages and completions: what `make install` asks the command for.

use std::path::Path;
use std::process::Command;

fn generate(what: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generate-{what}"));
    let status = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(["generate", what])
        .arg(&folder)
        .status()
        .expect("the command starts");
    assert!(status.success());
    let files = std::fs::read_dir(&folder).expect("the folder");
    files
        .map(|file| {
            let path = file.expect("a file").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("text"))
        })
        .collect()
}

#[test]
fn manual_pages_name_every_option() {
    let pages = generate("man");
    let page = |name: &str| {
        &pages
            .iter()
            .find(|page| page.0 == name)
            .expect("the page")
            .1
    };
    assert!(
        page("fairtree.1").starts_with(".ie"),
        "{}",
        page("fairtree.1")
    );
    let share = page("fairtree-share.1");
    for option in [
        "noheader",
        "parsable2",
        "helpformat",
        "check",
        "Exit codes",
        "Examples",
    ] {
        assert!(share.contains(option), "{option}");
    }
    assert!(
        !pages.iter().any(|page| page.0.contains("generate")),
        "hidden stays hidden"
    );
}

#[test]
fn completions_for_three_shells() {
    let mut names: Vec<String> = generate("completions")
        .into_iter()
        .map(|file| file.0)
        .collect();
    names.sort();
    assert_eq!(names, ["_fairtree", "fairtree.bash", "fairtree.fish"]);
}
