//! `fairtree explain` from the outside; what it says is worked by hand from fair_tree.shtml.

mod command;
#[path = "explain/hidden.rs"]
mod hidden;

use command::{CLUSTER, Ran, checkout, edited_capture, fairtree};

fn run(args: &[&str], input: &str) -> Ran {
    let mut all = vec!["explain"];
    all.extend(args);
    fairtree(&all, input.as_bytes())
}

fn stdout(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.clone()
}

/// Physics 60 shares and 9000 TRES-seconds, chemistry 40 and 3000; alice is in both.
const SITE: &str = "
[accounts.physics]
shares = 60
users.alice = { shares = 1, usage = 8000 }
users.anna = { shares = 1, usage = 1000 }
[accounts.chemistry]
shares = 40
users.bob = { shares = 1, usage = 3000 }
users.alice = { shares = 0 }
";

// 60/(9000 - 4501) is above 40/3000, and so is 121/9000.
#[test]
fn a_site_in_sentences() {
    let text = stdout(&run(&["alice@physics", "--versus", "bob"], SITE));
    assert!(
        text.starts_with("alice@physics (fair-share factor 0.250000, place 4 of 4) is behind bob@"),
        "{text}"
    );
    assert!(text.contains("had used 4501 TRES-seconds (1.3 TRES-hours) less than 8000"));
    assert!(text.contains("physics had 121 raw shares, not 60"));
}

#[test]
fn a_site_as_json() {
    let ran = run(&["anna", "--versus", "bob", "--json", "-"], SITE);
    let json: serde_json::Value = serde_json::from_str(&stdout(&ran)).expect("JSON");
    assert_eq!(json["schema"], "fairtree.explain/1");
    let answer = &json["answer"];
    assert_eq!(answer["ahead"], "second");
    assert_eq!(answer["parting"]["members"][0]["name"], "physics");
    // At 4500 the accounts tie; anna (4.5) is then before bob (1.0, 1.0 of his level).
    assert_eq!(answer["remedies"][1]["answer"]["least"], 4500);
}

#[test]
fn a_listing_of_sshare() {
    let path = "tests/sites/tie.sshare";
    let documented = stdout(&run(&["b1", "--versus", "a1", path], ""));
    assert!(
        documented.starts_with("b1@tb and a1@ta are equal"),
        "{documented}"
    );
    let stock = stdout(&run(
        &["b1", "--versus", "a1", path, "--compat", "slurm:22.05.8"],
        "",
    ));
    assert!(stock.contains("does not merge such accounts"), "{stock}");
}

#[test]
fn a_listing_that_lacks_rows() {
    let listing = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|LevelFS\n\
                   root|||0.000000|100|1.000000||\n \
                   a||1|0.500000|40|0.400000||1.250000\n  \
                   a|u|1|1.000000|40|1.000000|1.000000|1.000000\n";
    let ran = run(&["u", "--versus", "u"], listing);
    assert_eq!(ran.code, 2);
    let message = &ran.err;
    assert!(message.contains("is not known"), "{message}");
    assert!(
        message.contains("hint: all associations are needed: sshare -a"),
        "{message}"
    );
    assert_eq!(ran.out, "");
}

#[test]
fn names_that_do_not_fit() {
    for (who, message) in [
        ("alice", "alice has 2 associations; name one: "),
        (
            "carol",
            "found no user carol; allowed is USER, USER@ACCOUNT",
        ),
        ("physics", "physics is an account; allowed are users"),
        ("bob", "bob@chemistry cannot be compared with itself"),
    ] {
        let ran = run(&[who, "--versus", "bob"], SITE);
        assert_eq!(ran.code, 2, "{who}");
        assert!(ran.err.contains(message), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
    assert_eq!(run(&["alice"], SITE).code, 2);
}

// anna has 1 of 2 shares and 1000 of 9000: level fairshare 4.5 below physics, which has 60 of 100
// shares and 9000 of 12000 (0.8) against chemistry's 40 and 3000 (1.6). alice has no shares there.
#[test]
fn without_another_whoever_comes_right_before() {
    let text = stdout(&run(&["anna"], SITE));
    assert!(
        text.contains(" is behind alice@chemistry (fair-share factor 0.750000"),
        "{text}"
    );
    let first = stdout(&run(&["bob", "-"], SITE));
    assert!(first.starts_with("alice@chemistry ("), "{first}");
    assert!(first.contains(" is behind bob@chemistry ("), "{first}");
}

/// The priorities are those that sprio of Slurm 22.05.8 printed beside the capture.
#[test]
fn a_job_of_a_capture() {
    let text = stdout(&run(&["305", "--from", CLUSTER], ""));
    let first = "job 305 of ft2-alice@physics (partition main, QOS normal) has priority 77905.\n";
    assert!(text.contains(first), "{text}");
    let waits = "Waits for: Priority (jobs with a higher priority start first). Place 8 of 17 in main. \
                 Place 3 of 6 in debug.\nAhead of it: 7 of physics.\n\n";
    assert!(text.starts_with(waits), "{text}");
    assert!(text.contains("ft2-alice@physics: place 3 of 8\n"), "{text}");
    assert!(
        text.contains("  partition debug: priority 82405 ("),
        "{text}"
    );
    let held = stdout(&run(&["310", "--from", CLUSTER], ""));
    assert!(
        held.starts_with("Waits for: JobHeldUser (its user holds it).\n"),
        "{held}"
    );
    assert!(held.contains(" is held: its priority is 0"), "{held}");
    assert!(
        held.contains("  - its release: scontrol release 310\n"),
        "{held}"
    );
    let by_hand = stdout(&run(&["322", "--from", CLUSTER], ""));
    assert!(
        by_hand.contains(" has priority 4242, set by an administrator;"),
        "{by_hand}"
    );
    let runs = run(&["306", "--from", CLUSTER], "");
    assert!(
        runs.err.contains(
            "job 306 is RUNNING: these are the points that it would have if it still waited"
        ),
        "{}",
        runs.err
    );
    assert!(stdout(&runs).contains(" runs, with the priority 75887 that it had;"));
}

/// Each reason of squeue(1) with the numbers that the capture has: three jobs of erin run with 5 CPUs each,
/// of which two are of imaging.
#[test]
fn reasons_with_their_numbers() {
    let running = |account: &str| {
        let jobs = std::fs::read_to_string(checkout().join(CLUSTER).join("jobs.txt"));
        let jobs = jobs.expect("a capture");
        let is = |line: &&str| line.contains("JobState=RUNNING") && line.contains(account);
        let cpus = |line: &str| -> u64 {
            let after = line.split(" NumCPUs=").nth(1).expect("CPUs");
            after
                .split(' ')
                .next()
                .expect("a word")
                .parse()
                .expect("a number")
        };
        let found: Vec<u64> = jobs.lines().filter(is).map(cpus).collect();
        (found.len(), found.iter().sum::<u64>())
    };
    let (jobs, cpus) = running("Account=genomics ");
    assert!(jobs > 0, "the capture has running jobs of genomics");
    let limits = "Cluster|Account|User|Partition|Share|Priority|ParentName|GrpJobs|GrpTRES";
    let reason = "Account=genomics QOS=normal JobState=PENDING Reason=Priority Dependency=(null)";
    for (word, begins) in [
        (
            "Dependency Dependency=afterok:306(unfulfilled)",
            "Waits for: Dependency (job 306, RUNNING, which must end without an error). Place 12 of 17 in main.\n".to_owned(),
        ),
        (
            "DependencyNeverSatisfied Dependency=afterok:306(failed)",
            "Waits for: Dependency (job 306, RUNNING, which must end without an error): this can no longer \
             happen, so it never starts. Place 12".to_owned(),
        ),
        (
            "AssocGrpCpuLimit Dependency=(null)",
            format!(
                "Waits for: AssocGrpCpuLimit (GrpTRES of cpu of genomics allows {}, {cpus} in use, this job \
                 asks for 2). Place 12", cpus
            ),
        ),
        (
            "AssocGrpJobsLimit Dependency=(null)",
            format!("Waits for: AssocGrpJobsLimit (GrpJobs of genomics allows {}, {} in use). Place 12",
                many(jobs), many(jobs)),
        ),
        (
            "Licenses Dependency=(null)",
            "Waits for: Licenses (the licences that it asks for are in use). Place 12".to_owned(),
        ),
    ] {
        let capture = edited_capture(
            "explain-reasons",
            &[
                ("jobs.txt", reason, &reason.replace("Priority Dependency=(null)", word)),
                ("assocs.txt", "Cluster|Account|User|Partition|Share|Priority|ParentName", limits),
            ],
        );
        let path = std::path::Path::new(&capture).join("assocs.txt");
        let text = std::fs::read_to_string(&path).expect("the edited capture");
        let rows: Vec<String> = text.lines().enumerate().map(|(at, line)| match at {
            0 => line.to_owned(),
            _ if line.contains("|genomics|||") => format!("{line}|{jobs}|cpu={cpus}"),
            _ => format!("{line}||"),
        }).collect();
        std::fs::write(&path, rows.join("\n") + "\n").expect("written");
        let text = stdout(&run(&["309", "--from", &capture], ""));
        assert!(text.starts_with(&begins), "{begins}\n{text}");
    }
}

fn many(jobs: usize) -> String {
    match jobs {
        1 => "1 job".to_owned(),
        jobs => format!("{jobs} jobs"),
    }
}

/// Partition main has 4 nodes and 16 CPUs.
#[test]
fn what_never_starts() {
    let capture = edited_capture(
        "explain-never",
        &[(
            "jobs.txt",
            "Account=genomics QOS=normal JobState=PENDING Reason=Priority",
            "Account=genomics QOS=normal JobState=PENDING Reason=PartitionConfig",
        )],
    );
    let path = std::path::Path::new(&capture).join("jobs.txt");
    let text = std::fs::read_to_string(&path).expect("the edited capture");
    let edit = |line: &str| match line.starts_with("JobId=309 ") {
        true => line
            .replace("node=2", "node=9")
            .replace("NumNodes=2", "NumNodes=9"),
        false => line.to_owned(),
    };
    let lines: Vec<String> = text.lines().map(edit).collect();
    std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    let text = stdout(&run(&["309", "--from", &capture], ""));
    let begins = "Waits for: nothing, it never starts as it was submitted: it asks for 9 nodes, and \
                  partition main has 4.";
    assert!(text.starts_with(begins), "{text}");
    assert!(
        text.contains("  - at most 4 nodes, which partition main has"),
        "{text}"
    );
}

#[test]
fn short_mistakes_have_a_way_out() {
    for (args, says) in [
        (&["302", "303"][..], "fairtree explain 302 --versus 303"),
        (&["ft2-alise", "--from", CLUSTER], "did you mean ft2-alice?"),
        (&["99999", "--from", CLUSTER], "sacct -j shows it"),
        (
            &["99999999999", "--from", CLUSTER],
            "the number of a job up to 4294967295",
        ),
        (
            &["301", "--versus", "9999999999_1", "--from", CLUSTER],
            "--versus: found",
        ),
    ] {
        let ran = run(args, "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    let prio = fairtree(&["prio", "302"], b"");
    assert!(
        prio.err
            .contains("fairtree prio --jobs 302 shows a job's row"),
        "{}",
        prio.err
    );
}

/// By hand: alice has 1 share and 1016, bob 2 and 654. 1/(1016 - 689) = 2/654 ties, and a tie
/// gives her bob's rank and 12500 points more, of which she lacks 10782. Of n/1016 the first above
/// 2/654 is n = 4.
#[test]
fn two_jobs_of_a_capture() {
    let text = stdout(&run(&["305", "--versus", "301", "--from", CLUSTER], ""));
    let first = "job 305 (priority 77905) is behind job 301 (priority 88687) by 10782.\n";
    assert!(text.starts_with(first), "{text}");
    for line in [
        "What decides: fairshare.\n",
        "  - a nice value of -10783, not 0 (users may only raise it)\n",
        "  - ft2-alice@physics had used 689 TRES-seconds (11.5 TRES-minutes) less than 1016\n",
        "  - ft2-alice@physics had 4 raw shares, not 1\n",
        "  - decay alone does not help: it shrinks everyone's usage alike\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ran = run(&["305", "--versus", "301", "--json", "--from", CLUSTER], "");
    let json: serde_json::Value = serde_json::from_str(&stdout(&ran)).expect("JSON");
    assert_eq!(json["question"], "jobs");
    let answer = &json["answer"];
    assert_eq!(answer["jobs"][1]["priority"], 88687);
    assert_eq!(answer["users"]["parting"]["below"][0], "physics");
    assert_eq!(answer["remedies"][2]["answer"]["least"], 689);
}

/// Two jobs of erin run with 5 CPUs each, three of alice with 2: in the long run genomics has used 6
/// of 16, and with a quarter of the shares it stays behind.
#[test]
fn what_runs_now_counts_for_users_of_a_capture() {
    let text = stdout(&run(
        &["ft2-frank", "--versus", "ft2-erin", "--from", CLUSTER],
        "",
    ));
    assert!(
        text.contains("  - the running jobs alone do not change it, even in 87660 hours\n"),
        "{text}"
    );
}

#[test]
fn tasks_of_an_array_and_several_qos() {
    // Slurm sorts the list of QOS by priority: urgent comes first.
    let capture = edited_capture(
        "explain-array",
        &[
            (
                "jobs.txt",
                "JobId=309 JobName",
                "JobId=309 ArrayJobId=299 ArrayTaskId=4-9:2%1 JobName",
            ),
            (
                "jobs.txt",
                "Account=genomics QOS=normal JobState=PENDING",
                "Account=genomics QOS=normal,urgent JobState=PENDING",
            ),
            (
                "jobs.txt",
                "QOS=normal JobState=RUNNING",
                "QOS=normal JobState=COMPLETED",
            ),
        ],
    );
    let task = stdout(&run(
        &["299_6", "--compat", "slurm:24.11.5", "--from", &capture],
        "",
    ));
    assert!(task.contains("job 309 of ft2-frank@genomics (partition main, QOS urgent) has"));
    assert!(
        task.contains("\n  partition main, QOS urgent: priority 36249 ("),
        "{task}"
    );
    let missing = run(&["299_5", "--from", &capture], "");
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(
        missing.err.contains("found no job 299_5; allowed is"),
        "{}",
        missing.err
    );
    let ended = run(&["306", "--from", &capture], "");
    assert_eq!(ended.code, 2);
    assert!(
        ended
            .err
            .contains("job 306 is COMPLETED: it has no priority any more")
    );
}

#[test]
fn jobs_that_do_not_fit() {
    for (args, message) in [
        (
            &["305", "--versus", "305"][..],
            "job 305 cannot be compared with itself",
        ),
        (
            &["305", "--versus", "ft2-bob"],
            "--versus: found \"ft2-bob\", allowed is the number",
        ),
        (
            &["4", "--versus", "305"],
            "found no job 4; allowed is the number of a job",
        ),
    ] {
        let mut all = args.to_vec();
        all.extend(["--from", CLUSTER]);
        let ran = run(&all, "");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(message), "{}", ran.err);
    }
    let ran = run(&["305"], SITE);
    assert!(
        ran.err
            .contains("knows of no jobs, so job 305 cannot be found"),
        "{}",
        ran.err
    );
}

/// Jobs that a site in TOML describes. By hand: 12 of 168 hours waited, place 3 of 3, half of a tenth
/// of the nodes and a tenth of the CPUs, priority 10 of 20 and 10 of 100.
#[test]
fn jobs_of_a_described_site() {
    let job = stdout(&run(&["101", "examples/queue.toml"], ""));
    for line in [
        "job 101 of anna@physics (partition main, QOS normal) has priority 4154.",
        "age              0.0714286 x       1000 =          71.43  waited 12:00:00 of",
        "fairshare        0.3333333 x      10000 =        3333.33  anna@physics: place 3 of 3",
        "job_size         0.1000000 x        500 =             50  1 of 10 nodes, 64 of 640 CPUs",
        "partition        0.5000000 x       1000 =            500",
        "qos              0.1000000 x       2000 =            200",
    ] {
        assert!(job.contains(line), "{line}: {job}");
    }
    let ran = run(&["101", "--versus", "102", "examples/queue.toml"], "");
    let both = stdout(&ran);
    assert!(both.contains("job 101 (priority 4154) is behind job 102 (priority 10743) by 6589."));
    assert!(both.contains("What decides: fairshare."), "{both}");
    // The file tells the moment; there is no last pass to speak of.
    assert_eq!(ran.err, "");
    let debug = stdout(&run(&["103", "examples/queue.toml"], ""));
    assert!(
        debug.contains("partition debug: priority 9709 (partition 1000,"),
        "{debug}"
    );
    let running = stdout(&run(&["99", "examples/queue.toml"], ""));
    assert!(running.starts_with("job 99 of carl@biology"), "{running}");
    let missing = run(&["7", "examples/queue.toml"], "");
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(
        missing.err.contains("found no job 7; allowed is"),
        "{}",
        missing.err
    );
}

/// Expected: what sprio 22.05.8 printed.
#[test]
fn jobs_as_sprio_printed_them() {
    let listing = std::fs::read_to_string(checkout().join("tests/sprio/long.txt")).expect("text");
    let ran = run(&["4", "--versus", "5"], &listing);
    let text = stdout(&ran);
    assert!(text.starts_with("job 4 (priority 63206) is behind job 5 (priority 88237) by 25031."));
    let terms = "fairshare                   62500            87500         -25000  decides";
    assert!(text.contains(terms), "{text}");
    assert!(
        ran.err.contains("no more than points and factors"),
        "{}",
        ran.err
    );
    let json = stdout(&run(&["4", "--versus", "5", "--json"], &listing));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["answer"]["jobs"][0]["priority"], 63206);
    // With the factors and the weights beside it.
    let read = |file: &str| {
        std::fs::read_to_string(checkout().join(format!("tests/sprio/{file}"))).expect("text")
    };
    let all = format!("{}{}{listing}", read("norm-long.txt"), read("weights.txt"));
    let job = stdout(&run(&["4"], &all));
    assert!(
        job.contains("age              0.0500000 x       1000 =             50"),
        "{job}"
    );
    for (args, message) in [
        (
            &["99"][..],
            "found no job 99 with its factors among the 8 rows",
        ),
        (&["4", "--versus", "4"], "cannot be compared with itself"),
        (&["4_1"], "found \"4_1\", allowed is the number of a job"),
        (
            &["ft2-alic"],
            "is the output of sprio, which tells no shares",
        ),
    ] {
        let ran = run(args, &listing);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}
