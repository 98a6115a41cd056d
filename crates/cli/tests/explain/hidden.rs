//! Answers where `PrivateData` hides a part of the site.

use super::*;

/// A capture that frank made under `PrivateData`.
fn private(name: &str, words: &str) -> String {
    edited_capture(
        name,
        &[
            (
                "config.txt",
                "PrivateData             = none",
                &format!("PrivateData             = {words}"),
            ),
            (
                "manifest.json",
                "\"time\"",
                "\"user\": \"ft2-frank\",\n  \"time\"",
            ),
        ],
    )
}

#[test]
fn private_data_is_said() {
    let jobs = private("explain-private-jobs", "jobs");
    let text = stdout(&run(&["309", "--from", &jobs], ""));
    assert!(
        text.contains(" Place 12 of 17 in main of those that you may see (PrivateData=jobs).\n"),
        "{text}"
    );
    // sshare shows frank's row alone.
    let usage = private("explain-private-usage", "jobs,usage");
    let path = std::path::Path::new(&usage).join("sshare.txt");
    let shares = std::fs::read_to_string(&path).expect("the edited capture");
    let own = shares
        .lines()
        .enumerate()
        .filter(|(at, line)| *at == 0 || line.contains("frank"));
    let own: Vec<&str> = own.map(|(_, line)| line).collect();
    std::fs::write(&path, own.join("\n") + "\n").expect("written");
    let hidden = "PrivateData=jobs,usage: Slurm shows you no shares and usage of others";
    // frank's own row; 4 CPUs for an hour; 309 waits behind others, and with 100000 points more first.
    for (args, said) in [
        (&["explain", "309"][..], "job 309 of ft2-frank"),
        (&["explain", "ft2-frank"], "genomics              ft2-frank"),
        (
            &["cost", "-u", "ft2-frank", "--tres", "cpu=4", "--time", "60"],
            "1.00 hours =",
        ),
        (
            &["cost", "--job", "309"],
            "shares and usage of others are hidden",
        ),
        (&["what-if", "--nice", "309=-100000"], "12 -> 1"),
    ] {
        let ran = fairtree(&[args, &["--from", &usage]].concat(), b"");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        assert!(ran.out.contains(said), "{args:?}: {said}: {}", ran.out);
        assert!(ran.err.contains(hidden), "{args:?}: {}", ran.err);
    }
    // Ranks of all cannot be computed.
    let ran = fairtree(
        &["what-if", "--shares", "genomics=9", "--from", &usage],
        b"",
    );
    assert!(
        ran.code == 2 && ran.err.contains("PrivateData hides from you"),
        "{}",
        ran.err
    );
}

/// The capture of frank under `PrivateData=all`: no partitions and nodes, and sshare shows one row.
fn all_private(name: &str) -> String {
    let all = "accounts,events,jobs,nodes,partitions,reservations,usage,users";
    let from = private(name, all);
    let folder = std::path::Path::new(&from);
    let edit = |file: &str, keep: &dyn Fn(&str) -> Option<String>| {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).expect("the capture");
        let lines: Vec<String> = text.lines().filter_map(keep).collect();
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    };
    let own = |line: &str| {
        (line.starts_with("Account|") || line.contains("frank")).then(|| line.to_owned())
    };
    edit("sshare.txt", &own);
    edit("manifest.json", &|line| {
        let hidden = ["partitions.txt", "nodes.txt"]
            .iter()
            .find(|file| line.contains(*file));
        Some(match hidden {
            Some(file) => line.replace(&format!("\"{file}\""), "null"),
            None => line.to_owned(),
        })
    });
    std::fs::remove_file(folder.join("partitions.txt")).expect("removed");
    std::fs::remove_file(folder.join("nodes.txt")).expect("removed");
    from
}

#[test]
fn where_all_is_private_answers_say_what_is_hidden() {
    let from = all_private("explain-private-all");
    let hidden = "Slurm shows you no shares and usage of others, no jobs of others, no partitions, no nodes, so ";
    for (args, said) in [
        (&["explain", "309"][..], "Waits for: Priority"),
        (&["explain", "309"], "of those that you may see"),
        (
            &["explain", "309"],
            "  fairshare              factor 0.2500000            25000",
        ),
        (&["explain", "309", "--json"], "\"id\": 309"),
        (&["explain", "309", "--versus", "312"], "job 312"),
        (&["explain", "ft2-frank"], "genomics              ft2-frank"),
        (
            &["cost", "--job", "309"],
            "TRESBillingWeights of the partition are hidden from you",
        ),
        (&["what-if", "--nice", "309=-100000"], "-> 1"),
        (&["prio", "-j", "309"], "  309 main "),
        (&["prio", "--check"], "0 differences"),
        (&["forecast", "309"], "as slurmctld plans it"),
    ] {
        let ran = fairtree(&[args, &["--from", &from]].concat(), b"");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        let out = ran.out.replace("\":", "\": ").replace(":  ", ": ");
        assert!(out.contains(said), "{args:?}: {said}: {}", ran.out);
        assert!(ran.err.contains(hidden), "{args:?}: {}", ran.err);
    }
    for change in ["--partition 309=debug", "--set PriorityWeightPartition=9"] {
        let change: Vec<&str> = change.split(' ').collect();
        let ran = fairtree(
            &[&["what-if"], &change[..], &["--from", &from]].concat(),
            b"",
        );
        let says = "partitions and nodes, which PrivateData hides from you";
        assert!(
            ran.code == 2 && ran.err.contains(says),
            "{change:?}: {}",
            ran.err
        );
    }
}

// The points of what is hidden are those of sprio: the order is that of the whole capture.
#[test]
fn priorities_are_those_of_slurm_without_partitions_and_nodes() {
    let from = all_private("explain-private-sums");
    let priority = |from: &str| {
        let ran = fairtree(
            &["what-if", "--nice", "309=7", "--json", "--from", from],
            b"",
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        let found: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let jobs = found["jobs"].as_array().expect("jobs").clone();
        let own = jobs.into_iter().find(|job| job["job_id"] == 309);
        let own = own.expect("the job");
        [&own["before"], &own["after"]].map(|side| side["priority"].as_i64().expect("a priority"))
    };
    let (whole, part) = (priority(CLUSTER), priority(&from));
    for (whole, part) in whole.into_iter().zip(part) {
        // Printed points are whole numbers.
        assert!((whole - part).abs() <= 1, "{whole} {part}");
    }
}
