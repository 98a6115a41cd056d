//! The linter on a corpus of good and bad files, on files of real sites, and on any text.
//!
//! Expected values: the first line of each bad file names rule and line of every finding, from
//! the manual page or documentation that the rule names; real files were read by hand.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "../../../tests/common/starts.rs"]
mod starts;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use common::data::data_text;
use fairtree::compat::Release;
use fairtree::config::Include;
use fairtree_lint::{Options, Report, Rule, Severity, run, run_with};
use fairtree_model::input::slurm::plugin::PluginFile;
use proptest::prelude::*;

/// Name and text of every file of a folder of the corpus, by name.
fn corpus(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let entries = fs::read_dir(&folder).expect("the corpus is there");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            let text = fs::read_to_string(&path).expect("the file can be read");
            (name.into_owned(), text)
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Text after `# word:` in one of the comments at the head of a file.
fn head<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut lines = text.lines().take_while(|line| line.starts_with('#'));
    lines.find_map(|line| line.strip_prefix(&format!("# {word}: ")))
}

fn options(text: &str) -> Options {
    let release = head(text, "release").map(|release| {
        let mut numbers = release.split('.').map(|n| n.parse().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        Release::new(next(), next(), next())
    });
    let mut options = Options::default();
    options.release = release;
    // A host with the folder /plugins/empty, and one with a plugin for 24.11.5.
    options.plugins = Some(|folders| {
        let built_for = Ok(Release::V24_11_5);
        let path = PathBuf::from("/plugins/24.11.5/priority_fairtree.so");
        match folders {
            folders if folders.contains("/plugins/24.11.5") => {
                Some(vec![PluginFile { path, built_for }])
            }
            folders if folders.contains("/plugins/empty") => Some(Vec::new()),
            _ => None,
        }
    });
    options.now = head(text, "now").map(|now| now.parse().expect("a date"));
    options.users = head(text, "users").map(|users| users.parse().expect("a number"));
    options.accounts = head(text, "accounts").map(|accounts| {
        let pairs = accounts.split_whitespace();
        let pair = |text: &str| {
            let (account, above) = text.split_once('<').expect("account<above");
            (account.to_owned(), above.to_owned())
        };
        pairs.map(pair).collect()
    });
    let shares = head(text, "shares").unwrap_or_default().split_whitespace();
    let pair = |text: &str| {
        let (account, shares) = text.split_once('=').expect("account=shares");
        (account.to_owned(), shares.parse().expect("a number"))
    };
    options.shares = shares.map(pair).collect();
    options
}

/// Included files are missing; policies of the corpus exist.
fn check(name: &str, text: &str) -> Report {
    let policies = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/policies");
    let mut fetch = |include: &Include| {
        let file = include.file.strip_prefix("/etc/slurm/");
        let file = file.filter(|file| file.ends_with(".toml"));
        let text = file.and_then(|file| fs::read_to_string(policies.join(file)).ok());
        text.ok_or_else(|| "no such file".to_string())
    };
    run_with(text, name, &options(text), &mut fetch)
}

/// `rule@line` of every finding, sorted.
fn findings(report: &Report) -> Vec<String> {
    let findings = report.findings.iter();
    let mut found: Vec<String> = findings
        .map(|finding| format!("{}@{}", finding.rule.id, finding.place.line))
        .collect();
    found.sort();
    found
}

#[test]
fn bad_files_have_the_findings_that_they_name() {
    let mut faults = String::new();
    for (name, text) in corpus("bad") {
        let expected = head(&text, "finds").expect("a first line that names the findings");
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        let report = check(&name, &text);
        let counts = [Severity::Error, Severity::Warning].map(|severity| report.count(severity));
        let code = u8::from(counts != [0, 0]);
        assert_eq!(report.exit_code(), code, "{name}");
        assert!(!report.findings.is_empty(), "{name}");
        if findings(&report) != expected {
            faults += &format!("{name}: expected {expected:?}\n{report}\n");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_rule_has_a_bad_file() {
    let mut left: BTreeSet<&str> = Rule::all().map(|rule| rule.id).collect();
    for (name, text) in corpus("bad") {
        for finding in check(&name, &text).findings {
            left.remove(finding.rule.id);
        }
    }
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn good_files_have_none() {
    for (name, text) in corpus("good") {
        let report = check(&name, &text);
        assert!(report.findings.is_empty(), "{name}\n{report}");
        assert_eq!(report.exit_code(), 0, "{name}");
    }
}

#[test]
fn findings_show_their_line_and_speak_in_sentences() {
    for (name, text) in corpus("bad") {
        for finding in check(&name, &text).findings {
            let line = text.lines().nth(finding.place.line - 1);
            assert_eq!(line, Some(finding.line.as_str()), "{name}");
            let columns = finding.line.chars().count();
            assert!(finding.place.column <= columns, "{name}: {finding}");
            for words in [&finding.reason, &finding.remedy] {
                assert!(words.len() > 3 && !words.ends_with('.'), "{name}: {words}");
                assert!(!words.contains("  "), "{name}: {words}");
            }
        }
    }
}

#[test]
fn a_rule_can_be_left_out() {
    let (name, text) = corpus("bad")
        .into_iter()
        .find(|(n, _)| n == "reset-now.conf")
        .unwrap();
    let mut options = options(&text);
    options.allow("reset-now").unwrap();
    let mut fetch = |_: &Include| Err(String::new());
    assert_eq!(run_with(&text, &name, &options, &mut fetch).exit_code(), 0);
}

#[test]
fn included_files_count_at_their_place() {
    let mut fetch = |include: &Include| match include.file.as_str() {
        "accounting.conf" => Ok("AccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageEnforce=limits\n\
             PriorityMaxAge=30\n"
            .to_string()),
        other => Err(format!("{other} is not there")),
    };
    let text = "PriorityType=priority/multifactor\n\
                PriorityWeightAge=1000\n\
                PriorityMaxAge=7-0\n\
                include accounting.conf\n";
    let report = run_with(text, "slurm.conf", &Options::default(), &mut fetch);
    let places: Vec<String> = report
        .findings
        .iter()
        .map(|f| f.place.to_string())
        .collect();
    assert_eq!(findings(&report), ["key-twice@3", "max-age-minutes@3"]);
    assert_eq!(places, ["slurm.conf:3:1", "accounting.conf:3:16"]);
    assert_eq!(report.files, ["slurm.conf", "accounting.conf"]);
}

// Expected: the table, with which the cluster check `bad_parameters_and_lines_are_those_of_lint` starts
// slurmctld.
#[test]
fn parameters_are_refused_as_slurmctld_refuses_them() {
    for start in starts::STARTS {
        let path = "/etc/slurm/policy.toml";
        let parameters = start.parameters.replace(starts::POLICY, path);
        let text = format!(
            "PriorityType=priority/fairtree\nPriorityFlags={}\nPriorityParameters={parameters}\n",
            if start.flags.is_empty() {
                "INCR_ONLY"
            } else {
                start.flags
            },
        );
        let mut options = Options::default();
        let accounts = ["left", "right"].map(|account| (account.into(), "root".into()));
        options.accounts = Some(accounts.into());
        let mut fetch = |_: &Include| {
            let policy = start.policy.map(str::to_owned);
            policy.ok_or_else(|| "no such file".to_owned())
        };
        let report = run_with(&text, "slurm.conf", &options, &mut fetch);
        let mut errors = report
            .findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Error);
        match start.refused {
            None => assert!(errors.next().is_none(), "{text}{report}"),
            Some((setting, value)) => {
                let value = value.replace(starts::POLICY, path);
                let says = format!("{setting} does not take \"{value}\"");
                assert!(
                    errors.any(|error| error.reason.contains(&says)),
                    "{text}{report}"
                );
            }
        }
    }
}

// Expected: the table, each line of which the same check gives to Slurm.
#[test]
fn lines_are_refused_as_slurm_refuses_them() {
    let head =
        "ClusterName=c\nSlurmctldHost=localhost\nNodeName=localhost\nPartitionName=p Nodes=ALL\n";
    let refused = starts::REFUSED_LINES.iter().map(|line| (true, line));
    let read = starts::READ_LINES.iter().map(|line| (false, line));
    for (refused, line) in refused.chain(read) {
        let errors = |main: &str, part: &str| {
            let mut fetch = |include: &Include| match include.file.as_str() {
                "part.conf" => Ok(part.to_owned()),
                _ => Ok("PriorityWeightQOS=3\n".to_owned()),
            };
            let report = run_with(main, "slurm.conf", &Options::default(), &mut fetch);
            let errors = report.findings.into_iter();
            let errors = errors.filter(|finding| finding.severity() == Severity::Error);
            errors.map(|finding| finding.place.file).collect::<Vec<_>>()
        };
        let found = errors(&format!("{head}{line}\n"), "");
        assert_eq!(!found.is_empty(), refused, "{line:?}: {found:?}");
        assert!(found.iter().all(|file| file == "slurm.conf"), "{line:?}");
        let found = errors(&format!("{head}include part.conf\n"), &format!("{line}\n"));
        assert_eq!(!found.is_empty(), refused, "{line:?}, included: {found:?}");
        assert!(found.iter().all(|file| file == "part.conf"), "{line:?}");
    }
}

#[test]
fn each_line_of_another_kind_of_file_is_an_error() {
    let passwd = "root:x:0:0:root:/root:/bin/bash\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n";
    assert_eq!(
        findings(&run(passwd, "passwd")),
        ["line-unparsed@1", "line-unparsed@2"]
    );
    let report = run(&passwd.repeat(500), "passwd");
    assert_eq!(report.findings.len(), 101);
    assert!(
        report.to_string().contains("and 899 further lines"),
        "{report}"
    );
}

/// The findings of a file of the collection of real data.
fn real(name: &str) -> Option<Vec<String>> {
    Some(findings(&run(&data_text(name)?, name)))
}

// By hand: PriorityMaxAge=7 is minutes; no PriorityJobFactor anywhere; nothing is enforced.
#[test]
fn taltech_ages_in_seven_minutes() {
    let Some(found) = real("slurm/conf/taltech-hpc2.conf") else {
        return;
    };
    let expected = [
        "max-age-minutes@70",
        "partition-weight-constant@75",
        "usage-tails-lost@73",
    ];
    assert_eq!(found, expected);
}

// By hand: five partitions without PriorityJobFactor; AccountingStorageEnforce is a comment.
#[test]
fn tara_weighs_partitions_that_do_not_differ() {
    let Some(found) = real("slurm/conf/nstda-tara.conf") else {
        return;
    };
    assert_eq!(
        found,
        ["partition-weight-constant@105", "usage-tails-lost@103"]
    );
}

// By hand: a week of waiting is 7 % of the 100 days; the limits are enforced.
// It also has CacheGroups, JobCheckpointDir, MemLimitEnforce and SchedulerPort, which Slurm 22.05 and
// later do not know (read_config.c).
#[test]
fn gearshift_ages_for_a_hundred_days() {
    let Some(found) = real("slurm/conf/umcg-gearshift.conf") else {
        return;
    };
    assert_eq!(
        found,
        [
            "max-age-long@83",
            "unknown-key@23",
            "unknown-key@46",
            "unknown-key@53",
            "unknown-key@64"
        ]
    );
}

// By hand: QOS weighs ten times fair share. The lines are a part of a file, so that accounting, which
// they do not name, is no matter.
#[test]
fn umcg_lines_are_a_part_of_a_file() {
    let Some(found) = real("slurm/conf/umcg-2024-priority-lines.conf") else {
        return;
    };
    assert_eq!(found, ["fairshare-drowned@5"]);
}

// By hand: three files are included, so nothing is said of what is absent. CacheGroups and
// JobCheckpointDir are keys of older releases.
#[test]
fn abacus_includes_what_is_not_here() {
    let Some(found) = real("slurm/conf/unsw-abacus.conf") else {
        return;
    };
    assert_eq!(
        found,
        [
            "include-unread@73",
            "include-unread@74",
            "include-unread@75",
            "unknown-key@15",
            "unknown-key@16"
        ]
    );
}

// By hand: dampening 5 without NO_FAIR_TREE; "2 weeks" above PriorityMaxAge=7-0; `Priority=` on
// two partitions; both have nodes with GPUs, and there are no billing weights.
#[test]
fn ubhpc_dampens_fair_tree_and_has_the_old_key() {
    let Some(found) = real("slurm/ubhpc/slurm.conf") else {
        return;
    };
    let expected = [
        "comment-disagrees@82",
        "dampening-with-fair-tree@63",
        "partition-priority-old@169",
        "partition-priority-old@170",
        "resource-not-charged@169",
        "resource-not-charged@170",
    ];
    assert_eq!(found, expected);
}

// By hand: the weight of 1000000 is on two partitions of the same factor; g1 of the first has GPUs, and
// there are no billing weights. CacheGroups, CheckpointType and DefaultStoragePort are keys of older
// releases.
#[test]
fn micro_gives_its_largest_weight_to_nothing() {
    let Some(found) = real("slurm/micro/slurm.conf") else {
        return;
    };
    assert_eq!(
        found,
        [
            "dampening-with-fair-tree@64",
            "partition-weight-constant@73",
            "resource-not-charged@106",
            "unknown-key@12",
            "unknown-key@40",
            "unknown-key@96"
        ]
    );
}

/// Lines that rules look at, with values of any kind.
fn any_line() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "PriorityType",
        "PriorityFlags",
        "PriorityMaxAge",
        "PriorityDecayHalfLife",
        "PriorityUsageResetPeriod",
        "PriorityCalcPeriod",
        "PriorityParameters",
        "PriorityWeightAge",
        "PriorityWeightFairshare",
        "PriorityWeightPartition",
        "PriorityWeightQOS",
        "PriorityWeightTRES",
        "FairShareDampeningFactor",
        "AccountingStorageType",
        "PartitionName=a TRESBillingWeights",
        "PartitionName=DEFAULT PriorityJobFactor",
        "include",
        "PriorityXyz",
    ]);
    let values = prop_oneof![
        "\\PC{0,12}",
        "[0-9]{0,12}k?",
        "[0-9]{0,6}[-:][0-9:]{0,6}",
        "[A-Z_,]{0,30}",
        Just("priority/multifactor".to_string()),
        Just("priority/fairtree".to_string()),
        Just("accounting_storage/slurmdbd".to_string()),
        Just("NO_NORMAL_ALL,INCR_ONLY,DEPTH_OBLIVIOUS,FAIR_TREE".to_string()),
        Just("\"cpu=1, mem=1e300,gres/gpu=-5".to_string()),
        Just("4294967295".to_string()),
        Just("NOW".to_string()),
    ];
    (keys, "[+*/-]?=? ?", values, " ?\\\\?").prop_map(|(k, e, v, end)| format!("{k}{e}{v}{end}"))
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        let report = run(&text, "any");
        prop_assert!(!report.to_string().is_empty());
    }

    #[test]
    fn any_settings_are_answered(lines in prop::collection::vec(any_line(), 0..12), users: u32) {
        let text = lines.join("\n");
        let mut options = Options::default();
        options.users = Some(users);
        let mut fetch = |_: &Include| Ok(text.clone());
        let report = run_with(&text, "any", &options, &mut fetch);
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        let count = json["findings"].as_array().unwrap().len();
        prop_assert_eq!(count, report.findings.len());
        prop_assert!(report.to_string().lines().count() > count);
    }
}
