//! Broken input, a dozen ways: an error with its place, or at least a note, never an answer that
//! looks whole.

use std::fs;

use crate::sandbox::Sandbox;

/// Replaces the first `from` in a line of a text, from 1.
fn in_line(text: &str, line: usize, from: &str, to: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(
        lines[line - 1].contains(from),
        "{from}: {}",
        lines[line - 1]
    );
    lines[line - 1] = lines[line - 1].replacen(from, to, 1);
    lines.join("\n") + "\n"
}

/// What is broken, and what the message says: the place, the value, what is allowed.
type Case = (String, &'static [&'static str]);

fn refuse(sandbox: &Sandbox, command: &str, file: &str, cases: &[Case]) {
    for (text, words) in cases {
        fs::write(sandbox.path(file), text).expect("written");
        let ran = sandbox.run(command, &[]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {said}");
        assert!(ran.stdout.is_empty(), "{words:?}");
        for word in *words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}

/// One cell or row is broken: a note names it, and the rest is read.
fn note(sandbox: &Sandbox, command: &str, file: &str, cases: &[Case]) {
    for (text, words) in cases {
        fs::write(sandbox.path(file), text).expect("written");
        let ran = sandbox.run(command, &[]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{words:?}: {said}");
        assert!(!ran.stdout.is_empty(), "{words:?}");
        let noted = said
            .lines()
            .any(|line| words.iter().all(|word| line.contains(word)));
        assert!(noted, "{words:?}: {said}");
    }
}

#[test]
fn the_output_of_sshare() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(sandbox.path("recorded/sshare.txt")).expect("text");
    refuse(
        &sandbox,
        "fairtree share -l x",
        "x",
        &[
            (String::new(), &["x: is empty"]),
            (
                text.replace('|', ";"),
                &["x:1: is of no known format", "hint: known are"],
            ),
            (text.replace("RawShares", "RawShores"), &["x:1: "]),
            (
                in_line(&text, 5, "genomics", "geno\0mics"),
                &["x:5:7: is no plain text: it has a NUL byte", "iconv"],
            ),
        ],
    );
    note(
        &sandbox,
        "fairtree share -l x",
        "x",
        &[
            (
                in_line(&text, 5, "|1|", "|99999999999999999999|"),
                &[
                    "x:5:16: RawShares",
                    "2147483646",
                    "this cell counts as blank",
                ],
            ),
            (
                in_line(&text, 6, "|1516|", "|-1516|"),
                &["x:6:", "RawUsage \"-1516\"", "a whole number"],
            ),
            (
                in_line(&text, 6, "|1516|", "|15e|"),
                &["x:6:", "RawUsage \"15e\""],
            ),
            (
                in_line(&text, 6, "|1516|", "|"),
                &["x:6:", "fewer cells", "this record is left out"],
            ),
        ],
    );
    // Cut off within a line, a row may still look like one.
    fs::write(sandbox.path("x"), text.trim_end().trim_end_matches('0')).expect("written");
    let ran = sandbox.run("fairtree share -l x", &[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("x ends within a line: if it is cut off"),
        "{said}"
    );
}

#[test]
fn the_output_of_sprio() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(sandbox.path("earlier.sprio")).expect("text");
    refuse(
        &sandbox,
        "fairtree prio x",
        "x",
        &[
            (
                String::new(),
                &["x: is empty", "hint: give the output of sprio -l"],
            ),
            (
                text.lines().skip(1).collect::<Vec<_>>().join("\n"),
                &["x:1: a row without a header"],
            ),
            (text.replace("AGE", "AGF"), &["x:1: a row without a header"]),
            (in_line(&text, 3, "main", "ma\0n"), &["x:3:", "NUL byte"]),
            (
                text.split_whitespace().collect::<Vec<_>>().join(";"),
                &["x:1"],
            ),
        ],
    );
    note(
        &sandbox,
        "fairtree prio x",
        "x",
        &[
            (
                in_line(&text, 3, "  50 ", "  5x "),
                &[
                    "x:3:",
                    "AGE \"5x\"",
                    "a number from 0 up",
                    "this cell counts as blank",
                ],
            ),
            (
                in_line(&text, 3, "88237", "99999999999999999999999"),
                &["x:3:", "this record is left out"],
            ),
        ],
    );
    fs::write(sandbox.path("x"), &text[..700]).expect("written");
    let ran = sandbox.run("fairtree prio x", &[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("x ends within a line: if it is cut off"),
        "{said}"
    );
}

/// What breaks one record and no other.
const LEFT_OUT: [&str; 10] = [
    "Nice=many",
    "NumCPUs=-4",
    "JobId=99999999999",
    "JobId=301",
    "Priority=",
    "|-100|",
    "PriorityJobFactor=70000 ",
    "PartitionName=else",
    "CPUTot=x",
    "|8x687|",
];

/// The broken record is left out and told, and the rows of other jobs are there.
fn leave_out(sandbox: &Sandbox, file: &str, text: &str, words: &[&str]) {
    fs::write(sandbox.path(file), text).expect("written");
    let ran = sandbox.run("fairtree prio --json --from monday", &[]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{words:?}: {said}");
    for word in words {
        assert!(said.contains(&word.replace('"', "\\\"")), "{word}: {said}");
    }
    // Job 4712 waits in another partition.
    assert!(said.contains("4712"), "{words:?}: {said}");
}

/// Each answer of a capture, broken in the capture.
#[test]
fn captures() {
    let cases: [(&str, &str, &str, &[&str]); 19] = [
        (
            "jobs.txt",
            "Nice=0",
            "Nice=many",
            &["monday/jobs.txt:1:", "Nice \"many\"", "a whole number"],
        ),
        (
            "jobs.txt",
            "NumCPUs=4",
            "NumCPUs=-4",
            &["monday/jobs.txt:", "NumCPUs \"-4\"", "two as 2-8"],
        ),
        (
            "jobs.txt",
            "JobId=303",
            "JobId=99999999999",
            &["monday/jobs.txt:", "JobId"],
        ),
        (
            "jobs.txt",
            "JobId=303",
            "JobId=301",
            &["JobId=301 stands here twice"],
        ),
        (
            "jobs.txt",
            "Priority=88687",
            "Priority=",
            &["monday/jobs.txt:", "Priority"],
        ),
        (
            "qos.txt",
            "high|",
            "normal|",
            &["monday/qos.txt:3: QOS normal stands here twice"],
        ),
        (
            "qos.txt",
            "Name|",
            "Nome|",
            &["monday/qos.txt:1: the column Name is not there"],
        ),
        (
            "qos.txt",
            "|100|",
            "|-100|",
            &["monday/qos.txt:3:", "\"-100\""],
        ),
        (
            "partitions.txt",
            "PartitionName=gpu",
            "PartitionName=main",
            &["stands here twice"],
        ),
        (
            "partitions.txt",
            "PriorityJobFactor=10 ",
            "PriorityJobFactor=70000 ",
            &["0 to 65533"],
        ),
        (
            "partitions.txt",
            "PartitionName=main",
            "PartitionName=else",
            &["the partition main of job"],
        ),
        (
            "nodes.txt",
            "CPUTot=4",
            "CPUTot=x",
            &["monday/nodes.txt:1:", "CPUTot \"x\""],
        ),
        (
            "config.txt",
            "PriorityWeightTRES",
            "PriorityWeightTREZ",
            &[
                "monday/config.txt",
                "PriorityWeightTRES is not there",
                "is the answer cut off?",
            ],
        ),
        (
            "config.txt",
            "PriorityWeightAge       = 1000",
            "PriorityWeightAge       = 1x00",
            &["monday/config.txt:", "PriorityWeightAge \"1x00\""],
        ),
        (
            "config.txt",
            "PriorityMaxAge ",
            "PriorityMinAge ",
            &["monday/config.txt", "PriorityMaxAge is not there"],
        ),
        (
            "sshare.txt",
            "  biology|",
            "  bio|logy|",
            &["monday/sshare.txt:", "more cells than the header"],
        ),
        (
            "sprio.txt",
            "|88687|",
            "|8x687|",
            &["monday/sprio.txt:2:", "PRIORITY \"8x687\""],
        ),
        (
            "sshare.txt",
            "|1516|",
            "|15x6|",
            &["monday/sshare.txt:6:", "RawUsage \"15x6\""],
        ),
        (
            "manifest.json",
            "fairtree.capture/1",
            "fairtree.capture/9",
            &["fairtree.capture/9", "another version"],
        ),
    ];
    let sandbox = Sandbox::new();
    for (file, from, to, words) in cases {
        let path = sandbox.path(&format!("monday/{file}"));
        let whole = fs::read_to_string(&path).expect("text");
        assert!(whole.contains(from), "{file}: {from}");
        let broken = whole.replacen(from, to, 1);
        let name = format!("monday/{file}");
        if LEFT_OUT.contains(&to) {
            leave_out(&sandbox, &name, &broken, words);
        } else {
            let command = "fairtree prio --from monday";
            refuse(&sandbox, command, &name, &[(broken, words)]);
        }
        if file.ends_with(".txt") {
            let cut = whole[..whole.len() - 2].to_owned();
            let says: &[&str] = &[
                "ends within a line: the file is cut off",
                "hint: copy the capture again",
            ];
            refuse(
                &sandbox,
                "fairtree prio --from monday",
                &format!("monday/{file}"),
                &[(cut, says)],
            );
        }
        fs::write(&path, whole).expect("written");
    }
    let ran = sandbox.run("fairtree prio --from monday", &[]);
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn logs_dumps_and_sites() {
    let sandbox = Sandbox::new();
    let sacct = fs::read_to_string(sandbox.path("sacct.txt")).expect("text");
    let swf = |job: &str| format!("; UnixStartTime: 0\n{job}\n");
    let site = |text: &str| text.to_owned();
    // Of sacct's four jobs the broken one is left out, and told; the others count.
    let left_out: [Case; 3] = [
        (
            in_line(&sacct, 3, "2026", "20x6"),
            &[
                "x:3:",
                "Start \"20x6-",
                "Unknown",
                "is left out",
                "3 jobs used",
            ],
        ),
        (
            in_line(&sacct, 3, "cpu=", "cpu=-"),
            &["x:3:", "AllocTRES", "is left out", "3 jobs used"],
        ),
        (
            sacct[..400].to_owned(),
            &[
                "x:5: 3 cells between |, where the header has 10",
                "is left out",
                "if it is cut off",
                "2 jobs used",
            ],
        ),
    ];
    for (text, words) in left_out {
        fs::write(sandbox.path("x"), text).expect("written");
        let ran = sandbox.run("fairtree share x", &[]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{words:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
    refuse(
        &sandbox,
        "fairtree share x",
        "x",
        &[
            (
                sacct.replace("Start", "Strat"),
                &["x:1: the column Start is not there", "hint: "],
            ),
            (sacct.replace('|', ";"), &["x:1: is of no known format"]),
            (
                swf("1 0 0 60 1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1"),
                &["x:2: 17 numbers, where a job has 18"],
            ),
            (
                swf("1 0 0 6x 1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1"),
                &["x:2:7: run time \"6x\""],
            ),
            (
                swf("1 0 0 9999999999999999 1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1"),
                &["x:2:7: run time"],
            ),
            (
                site("Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a'\nParent - 'b'\n"),
                &["x:4:", "b"],
            ),
            (
                site("[accounts.a]\nparent = 'b'\n[accounts.b]\nparent = 'a'\n"),
                &["x:2:10: account \"a\"", "circle"],
            ),
            (
                site("[accounts.a]\nparent = 'c'\n"),
                &["x:2:10: parent \"c\"", "hint: describe it: [accounts.c]"],
            ),
            (
                site("[accounts.a]\nshares = -1\n"),
                &["x:2:10: shares \"-1\"", "2147483646"],
            ),
            (site("[accounts.a]\n[accounts.a]\n"), &["x:2:"]),
            (site("[accounts.a\n"), &["x:1:"]),
            (
                site("[accounts.a.users.u]\nusage = 1e30\n"),
                &["x:2:9: usage \"1e30\"", "1e18"],
            ),
        ],
    );
    fs::write(sandbox.path("x"), b"[accounts.a]\nname = '\xe9t\xe9'\n").expect("written");
    let ran = sandbox.run("fairtree share x", &[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("x:2:9: is not UTF-8, as TOML must be"),
        "{said}"
    );
    // The start of a gzip file, and no more of it.
    fs::write(sandbox.path("x"), b"\x1f\x8b\x08\0\0").expect("written");
    let ran = sandbox.run("fairtree share x", &[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.code() == Some(2) && said.contains("gzip"),
        "{said}"
    );
}
