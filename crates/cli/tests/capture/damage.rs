//! Captures that are damaged, and folders that are none.

use super::*;

// One row of an account, one number, one setting: each changes the numbers of all users.
#[test]
fn a_damaged_capture_is_refused_by_every_report() {
    let folder = folder("damaged");
    let from = folder.display().to_string();
    let damaged = [
        ("sshare.txt", " science|", " sci|ence|", "sshare.txt:10:"),
        ("sshare.txt", "|1516|", "|15x6|", "sshare.txt:6:"),
        (
            "config.txt",
            "PriorityWeightAge       = 1000",
            "PriorityWeightAge = many",
            "config.txt:120",
        ),
        (
            "config.txt",
            "PriorityWeightFairShare",
            "PriorityWeightFareShare",
            "PriorityWeightFairShare is not there",
        ),
    ];
    for (file, whole, broken, said) in damaged {
        for entry in fs::read_dir(checkout().join(CLUSTER)).expect("a folder") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
        }
        let answer = text(file);
        assert!(answer.contains(whole), "{whole}");
        fs::write(folder.join(file), answer.replacen(whole, broken, 1)).expect("written");
        for command in [
            &["shares"][..],
            &["share"],
            &["explain", "301"],
            &["explain", "ft2-alice@physics"],
            &["prio"],
            &["metrics"],
            &["what-if", "--shares", "physics=3"],
            &["compare", CLUSTER, &from],
        ] {
            let args = match command[0] {
                "compare" => command.to_vec(),
                _ => [command, &["--from", &from]].concat(),
            };
            let ran = fairtree(&args, None, false);
            assert_eq!(ran.status.code(), Some(2), "{args:?}: {}", out(&ran));
            assert_eq!(out(&ran), "", "{args:?}");
            assert!(err(&ran).contains(said), "{args:?}: {said}: {}", err(&ran));
        }
    }
    // Jobs that are not there are not 0 jobs.
    fs::write(folder.join("config.txt"), text("config.txt")).expect("written");
    fs::write(folder.join("jobs.txt"), "").expect("written");
    for command in [&["metrics"][..], &["forecast", "--all"]] {
        let ran = fairtree(&[command, &["--from", &from]].concat(), None, false);
        assert_eq!(ran.status.code(), Some(2), "{}", out(&ran));
        assert!(
            err(&ran).contains("has no job, where squeue and sprio list some"),
            "{}",
            err(&ran)
        );
    }
}

// sshare(1): "only the user's own"; root has a row below root.
// A whole line less, so that each line that is left is right.
#[test]
fn a_file_of_another_size_than_the_manifest_names_is_refused() {
    let folder = folder("cut-at-a-line");
    let bin = commands(&folder, &[]);
    let captures = folder.join("captures");
    let ran = fairtree(
        &["capture", &captures.display().to_string()],
        Some(&bin),
        false,
    );
    assert!(ran.status.success(), "{}", err(&ran));
    let made = only(&captures);
    for (file, args) in [
        ("sshare.txt", &["share"][..]),
        ("sprio.txt", &["prio"]),
        ("jobs.txt", &["explain", "309"]),
        ("qos.txt", &["what-if", "--nice", "309=1"]),
    ] {
        let path = made.join(file);
        let whole = fs::read_to_string(&path).expect("text");
        let kept = whole.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let longer = format!("{whole}\n");
        for (text, why) in [
            (&whole[..kept], "the file is cut off"),
            (&longer, "the file was changed"),
        ] {
            fs::write(&path, text).expect("written");
            let from = captures.display().to_string();
            let ran = fairtree(&[args, &["--from", &from]].concat(), None, false);
            assert_eq!(ran.status.code(), Some(2), "{file}");
            let says = format!(
                "{file}: has {} bytes, where manifest.json names {}",
                text.len(),
                whole.len()
            );
            let said = err(&ran);
            assert!(said.contains(&says) && said.contains(why), "{file}: {said}");
        }
        fs::write(&path, &whole).expect("written");
    }
    let from = captures.display().to_string();
    let ran = fairtree(&["share", "--from", &from], None, false);
    assert!(ran.status.success(), "{}", err(&ran));
}

#[test]
fn folders_without_captures_are_errors() {
    let folder = folder("none");
    let path = folder.to_str().expect("UTF-8");
    for args in [
        &["prio", "--from", path][..],
        &["share", "--from", path],
        &["capture", "--list", path],
        &["share", "--from", "no-such-folder"],
        &["prio", "--from", path, "tests/sprio/long.txt"],
    ] {
        let ran = fairtree(args, None, false);
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
    }
    fs::write(
        folder.join("manifest.json"),
        "{\"schema\": \"fairtree.capture/9\"}",
    )
    .expect("written");
    let ran = fairtree(&["share", "--from", path], None, false);
    assert!(err(&ran).contains("fairtree.capture/9"), "{}", err(&ran));
}
