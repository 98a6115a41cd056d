//! Files as people have them: pasted with a prompt, cut by a narrow column, written by other tools,
//! printed by other releases. Expected values: hand calculation, the documentation of Slurm, and
//! what the same data say in a plain form.

#[path = "real_files/charges.rs"]
mod charges;
mod command;

use command::{Ran, fairtree, folder};

fn ran(args: &[&str]) -> Ran {
    let ran = fairtree(args, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran
}

/// Rows of `share -P -n -o COLUMNS FILE`, without the blanks that draw the tree.
fn rows(columns: &str, file: &str) -> Vec<String> {
    let ran = ran(&[
        "share",
        "-P",
        "-n",
        "-o",
        columns,
        &format!("tests/files/{file}"),
    ]);
    ran.out.lines().map(|line| line.trim().to_owned()).collect()
}

fn refused(args: &[&str]) -> String {
    let ran = fairtree(args, b"");
    assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
    ran.err
}

// Slurm 25.11 and later print the QOS before the cluster. By hand: root's user 1 of 1 + 100 + 300,
// and 1 of 1 + 3 + 1.
#[test]
fn dumps_begin_with_their_qos() {
    let columns = "Account,User,RawShares,NormShares";
    assert_eq!(
        rows(columns, "dump-qos-lines/plain.cfg"),
        [
            "root|||0.000000",
            "root|root|1|0.002494",
            "dept||100|0.249377",
            "lab||10|1.000000",
            "lab|alice|1|1.000000",
            "lab|bob|parent|1.000000",
            "other||300|0.748130",
            "other|carol|1|1.000000",
        ]
    );
    let rows = rows(columns, "dump-qos-lines/with-comments.cfg");
    for row in ["root|root|1|0.200000", "a1||3|0.600000", "a2||1|0.200000"] {
        assert!(rows.iter().any(|found| found == row), "{row} in {rows:?}");
    }
}

// Each form that sacctmgr load takes.
#[test]
fn dumps_are_read_as_load_reads_them() {
    for (file, due) in [
        ("trailing-colon", &["a1||0.750000", "a2||0.250000"][..]),
        (
            "account-root",
            &["a1||1.000000", "a1|u1|0.500000", "a1|u2|0.500000"],
        ),
        ("short-keys", &["a1|u1|0.250000", "a1|u2|0.750000"]),
    ] {
        let found = rows(
            "Account,User,NormShares",
            &format!("dump-load-forms/{file}.cfg"),
        );
        for row in due {
            assert!(found.iter().any(|found| found == row), "{row} in {found:?}");
        }
    }
    let found = rows("Account,User,RawShares", "dump-load-forms/continued.cfg");
    assert_eq!(found, ["root||", "a1||10", "a1|u1|2"]);
    let error = refused(&["share", "tests/files/dump-load-forms/two-clusters.cfg"]);
    assert!(
        error.contains("two-clusters.cfg:6:1") && error.contains("one cluster"),
        "{error}"
    );
}

// 1264 = 0 + 70 + 0 + 5 + 17 + 1000 + 0 + TRES - 0, so TRES is 172, of which 13 + 22 are printed;
// 1317 = 70 + 60 + 17 + 1000 + 13 + 20 + 137.
#[test]
fn resources_that_a_column_cut_follow_from_the_sum() {
    let file = "tests/files/sprio-tres-cut/l.txt";
    let listed = ran(&["prio", "-l", file]);
    let text = std::fs::read_to_string(command::checkout().join(file)).expect("text");
    let same = |text: &str| -> Vec<Vec<String>> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        text.lines().map(words).collect()
    };
    assert_eq!(same(&listed.out), same(&text));
    assert_eq!(listed.err.matches("%.60T").count(), 1, "{}", listed.err);
    let checked = ran(&["prio", "--check", file]);
    assert!(
        checked
            .out
            .starts_with("compared 1 PRIORITY: 0 differences; 2 "),
        "{}",
        checked.out
    );
    for (job, due) in [
        (
            "4001",
            &["tres/cpu 13", "tres/mem 22", "other TRES 137", "sum 1264"][..],
        ),
        ("4002", &["tres/cpu 7", "tres/mem 11", "sum 1205"]),
        (
            "4003",
            &["tres/cpu 13", "tres/mem 20", "other TRES 137", "sum 1317"],
        ),
    ] {
        let out = ran(&["explain", job, file]).out;
        let lines: Vec<String> = out
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for line in due {
            assert!(
                lines.iter().any(|found| found.starts_with(line)),
                "{line} in {out}"
            );
        }
    }
    let json = ran(&["prio", "--json", file]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["rows"][0]["tres_cut"]["points"], 137.0);
    assert_eq!(json["rows"][0]["points"]["tres"], 172.0);
    // The same listing, uncut.
    let whole = "tests/files/sprio-tres-cut/whole.txt";
    assert_eq!(ran(&["prio", "-l", whole]).out, listed.out);
    let first = ran(&["prio", whole]).out;
    let again = fairtree(&["prio", "-q", "-"], first.as_bytes());
    assert_eq!((again.code, again.out), (0, first));
    // Normalised factors alone.
    let out = ran(&["prio", "tests/files/sprio-tres-cut/n.txt"]).out;
    for word in [
        "0.0700661",
        "0.0005269",
        "0.0173378",
        "cpu=0.01,mem=0.01,gr",
    ] {
        assert!(out.contains(word), "{word} in {out}");
    }
}

// A number that may lack digits: 13 + 22 + 137 are cut to 13 + 22 + 13 where the column ends.
#[test]
fn a_number_at_the_edge_of_its_column_may_be_cut() {
    let listing = |priority: u32| {
        format!(
            "          JOBID PARTITION   PRIORITY       SITE        AGE        NICE                 TRES\n\
             {:>15} gpu       {priority:>10}          0         70           0 cpu=13,mem=22,gpu=13\n",
            7
        )
    };
    for (priority, compared, differences) in [(118, 1, 0), (242, 0, 0), (100, 1, 1)] {
        let ran = fairtree(&["prio", "--check"], listing(priority).as_bytes());
        let due = format!("compared {compared} PRIORITY: {differences} differences");
        assert!(ran.out.contains(&due), "{priority}: {}", ran.out);
    }
    let out = fairtree(&["explain", "7", "-"], listing(242).as_bytes()).out;
    assert!(out.contains("other TRES") && out.contains(" 137 "), "{out}");
}

// Slurm 23.11 prints infinite level fairshare as a bare word.
#[test]
fn json_with_bare_words_is_read() {
    let tables = ["null", "inf", "Infinity"].map(|name| {
        let file = format!("tests/files/json-infinity/{name}.json");
        ran(&["share", "-P", "-o", "Account,User,FairShare,LevelFS", &file]).out
    });
    assert_eq!(
        tables[0],
        "Account|User|FairShare|LevelFS\nroot|||\n lab|||1.000000\n  lab|ann|0.500000|0.500000\n  \
         lab|bob|1.000000|inf\n"
    );
    assert_eq!(tables[1], tables[0]);
    assert_eq!(tables[2], tables[0]);
}

// The prompt of root under bash looks like a table of TOML.
#[test]
fn roots_prompt_is_no_table() {
    let folder = "tests/files/root-prompt";
    let prio = ran(&["prio", &format!("{folder}/sprio.txt")]).out;
    assert!(
        prio.lines()
            .nth(1)
            .is_some_and(|line| line.split_whitespace().eq(["7", "p", "5", "0", "2", "3"]))
    );
    let checked = ran(&["prio", "--check", &format!("{folder}/sprio.txt")]).out;
    assert_eq!(checked, "compared 1 PRIORITY: 0 differences\n");
    let explained = ran(&["explain", "7", &format!("{folder}/sprio.txt")]).out;
    assert!(explained.contains("has priority 5"), "{explained}");
    let found = rows("Account,User,NormShares", "root-prompt/sacctmgr-dump.txt");
    assert!(found.contains(&"a1||0.750000".into()) && found.contains(&"a2||0.250000".into()));
    let found = rows("Account,User,FairShare", "root-prompt/sshare.txt");
    assert_eq!(found[2..], ["lab|ann|0.500000", "lab|bob|1.000000"]);
    let path = command::checkout().join(folder).join("sacct.txt");
    let text = std::fs::read_to_string(path).expect("text");
    let without = text.split_once('\n').expect("a line").1;
    let [with, without] = [&text, without].map(|text| fairtree(&["share"], text.as_bytes()));
    assert_eq!(
        (with.code, &with.out, &with.err),
        (0, &without.out, &without.err)
    );
    // What is of no known format is a guess, and says so.
    let error = refused(&["share", &format!("{folder}/conf.txt")]);
    assert!(error.contains("--input-format"), "{error}");
}

// `sshare -n -P -o account,fairshare`, as an exporter of metrics runs it.
#[test]
fn accounts_keep_the_fair_share_that_is_printed() {
    let due = [
        "root|0.500000",
        "north|0.999998",
        "opt|0.999998",
        "fluid|1.000000",
        "fluid-a|1.000000",
        "south|0.481723",
        "bio|0.858038",
        "bio-x|0.961831",
    ];
    for file in ["header", "under-command"] {
        let file = format!("accounts-fairshare/{file}.txt");
        assert_eq!(rows("Account,FairShare", &file), due);
        let path = format!("tests/files/{file}");
        for ranking in ["classic", "fair-tree"] {
            let out = ran(&[
                "share",
                "-P",
                "-n",
                "-o",
                "Account,FairShare",
                "--ranking",
                ranking,
                &path,
            ]);
            assert!(out.out.lines().map(str::trim).eq(due), "{}", out.out);
            assert!(out.err.contains("FairShare of root"), "{}", out.err);
        }
        // Nothing to compare by.
        let checked = ran(&["share", "--check", &path]).out;
        assert_eq!(
            checked,
            "compared nothing that could be compared: 0 differences\n"
        );
    }
    assert_eq!(
        rows("Account,User,FairShare", "accounts-fairshare/classic.txt"),
        [
            "root||0.500000",
            "a||0.629961",
            "a|u|0.629961",
            "b||0.396850",
            "b|v|0.396850"
        ]
    );
}

// What sacctmgr -p show assoc prints, with the account above and without.
#[test]
fn associations_are_read_or_the_way_is_told() {
    let table = "Cluster|Account|User|Partition|Share|Priority|ParentName|\n\
                 c|root||||1|||\nc|a|||3||root|\nc|b|||1||root|\nc|a|u||1|||\n";
    let table = table.replace("c|root||||1|||", "c|root|||1|||");
    let args = ["share", "-P", "-n", "-o", "Account,User,NormShares"];
    let ran = fairtree(
        &args,
        format!("[root@h ~]# sacctmgr -p show assoc\n{table}").as_bytes(),
    );
    assert_eq!(
        ran.out, "root||0.000000\n a||0.750000\n  a|u|1.000000\n b||0.250000\n",
        "{}",
        ran.err
    );
    let without: String = table
        .lines()
        .map(|line| line.rsplitn(3, '|').last().unwrap_or("").to_owned() + "|\n")
        .collect();
    let ran = fairtree(&args, without.as_bytes());
    assert!(
        ran.err.contains("format=Cluster,Account,User"),
        "{}",
        ran.err
    );
}

/// Options that a message names, each with the command that it is of: the one that printed the
/// message, or the one named before it.
fn options<'m>(message: &'m str, own: &'m str) -> Vec<(&'m str, &'m str)> {
    let mut found = Vec::new();
    let mut of = own;
    let trim = |word: &'m str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let words: Vec<&str> = message.split_whitespace().map(trim).collect();
    for (at, word) in words.iter().enumerate() {
        match *word {
            "fairtree" => of = words.get(at + 1).copied().unwrap_or(own),
            "sshare" | "sprio" | "sacct" | "sacctmgr" | "gunzip" | "iconv" => of = "",
            // A prompt or a sentence later the command is the own one again.
            _ if message.contains(&format!("{word};")) => of = own,
            _ => {}
        }
        if let Some(option) = word.strip_prefix("--").filter(|_| !of.is_empty()) {
            found.push((of, option.split('=').next().unwrap_or(option)));
        }
    }
    found
}

#[test]
fn a_message_names_options_that_are_there() {
    let log = "tests/files/note-of-absent-option/log.txt";
    let noted = ran(&["share", log]).err;
    assert!(noted.contains("`fairtree chart --site FILE`"), "{noted}");
    ran(&[
        "chart",
        "--site",
        "tests/files/root-prompt/sacctmgr-dump.txt",
        "-f",
        "json",
        log,
    ]);
    let two = "JobID|User|Cluster|Start|End|NCPUS\n1|u|c|2026-01-01|2026-01-02|1\n2|u|d|2026-01-01|2026-01-02|1\n";
    let listing = "Account|User|RawShares|FairShare\na|u|1|0.5\n";
    for args in [
        &["share", "-"][..],
        &["share", "--check", "-"],
        &["chart", "-f", "json", "-"],
        &["explain", "u", "-"],
        &[
            "cost", "--user", "u", "--tres", "cpu=1", "--time", "60", "-",
        ],
        &["what-if", "--shares", "a=2", "-"],
        &["prio", "-"],
        &["bill", "-p", "examples/prices.toml", "-"],
    ] {
        for input in [
            std::fs::read_to_string(command::checkout().join(log)).expect("text"),
            two.into(),
            listing.into(),
            "a = \n".into(),
            "x y\n".into(),
            "1|2026-01-01T00:00:00\n".into(),
        ] {
            let ran = fairtree(args, input.as_bytes());
            for line in ran.err.lines() {
                let line = line.trim_start_matches("fairtree: ");
                for (command, option) in options(line, args[0]) {
                    let help = fairtree(&[command, "--help"], b"").out;
                    let there = help.contains(&format!("--{option}"));
                    assert!(
                        there,
                        "{args:?}: fairtree {command} has no --{option}: {line}"
                    );
                }
            }
        }
    }
}

// By hand: 5 + 1 = 6 points of job 7; of job 8 AGE is not known, of job 9 there is a word too many.
#[test]
fn one_odd_cell_refuses_itself_alone() {
    let queue = "JOBID|PRIORITY|SITE|AGE|QOS|NICE\n7|6|0|5|1|0\n8|9|0|many|2|0\n9|6|0|5|1|0|x\n";
    let ran = |args: &[&str], input: &str| fairtree(args, input.as_bytes());
    let listed = ran(&["prio", "-o", "%i|%A|%Q", "-"], queue);
    assert_eq!(listed.out, "JOBID|AGE|QOS\n7|5|1\n8||2\n");
    for args in [
        &["prio", "-"][..],
        &["prio", "--check", "-"],
        &["explain", "7", "-"],
    ] {
        let ran = ran(args, queue);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        for note in [
            "standard input:3:7: AGE \"many\"",
            "standard input:4:1: 7 cells",
        ] {
            assert!(ran.err.contains(note), "{args:?}: {}", ran.err);
        }
    }
    let checked = ran(&["prio", "--check", "-"], queue).out;
    assert_eq!(
        checked,
        "compared 1 PRIORITY: 0 differences; 1 without the columns to compare\n"
    );
    let shares = "Account|User|RawShares|RawUsage\nroot|||30\n a||1|10\n  a|u|1|ten\n b||3|20\n";
    let listed = ran(
        &[
            "share",
            "-P",
            "-n",
            "-o",
            "Account,User,NormShares,RawUsage",
        ],
        shares,
    );
    assert_eq!(
        listed.out, "root||0.000000|30\n a||0.250000|10\n  a|u|1.000000|\n b||0.750000|20\n",
        "{}",
        listed.err
    );
    assert!(
        listed.err.contains("standard input:4:9: RawUsage \"ten\""),
        "{}",
        listed.err
    );
    let same = folder("odd").join("shares");
    std::fs::write(&same, shares).expect("written");
    let compared = ran(&["compare", "-", &same.display().to_string()], shares);
    assert!(
        compared.err.contains("RawUsage \"ten\""),
        "{}",
        compared.err
    );
}
