//! `fairtree what-if` from outside. Expected values: hand calculation, on top of what Slurm 22.05.8
//! printed (`tests/captures`).

mod command;

use command::{CLUSTER, Ran, edited_capture, fairtree, folder};
use serde_json::Value;

fn run(args: &[&str]) -> Ran {
    let mut all = vec!["what-if", "--from", CLUSTER];
    all.extend(args);
    fairtree(&all, b"")
}

fn json(args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.push("--json");
    let ran = run(&all);
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

/// The row of a list whose field has a value.
fn find<'a>(rows: &'a Value, field: &str, value: &Value) -> &'a Value {
    let mut rows = rows.as_array().expect("a list").iter();
    rows.find(|row| row[field] == *value).expect("a row")
}

fn named<'a>(rows: &'a Value, name: &str) -> &'a Value {
    find(rows, "name", &name.into())
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() <= 1e-9 * expected.abs(),
        "{value} is not {expected}"
    );
}

// genomics (1 share, 2310) hangs below science (2701) with biology (1) and physics (2): physics is
// due 2 of 4 and used 1670 of 5011. medicine keeps 2600 of 7612, and 40 of 101 shares.
/// Job 322 has a priority of an administrator: a nice value moves nothing, and it is shown nevertheless. 305 is
/// among those that move less far than others.
#[test]
fn what_was_named_is_shown() {
    for (option, job) in [("--nice", "322=1"), ("--nice", "305=10")] {
        let (id, _) = job.split_once('=').expect("a job");
        let ran = fairtree(
            &[
                "what-if",
                option,
                job,
                "--shares",
                "physics=1",
                "--top",
                "1",
                "--from",
                CLUSTER,
            ],
            b"",
        );
        let rows = ran
            .out
            .lines()
            .filter(|line| line.split_whitespace().next() == Some(id));
        assert!(rows.count() >= 1, "{job}: {}", ran.out);
        let shown = ran
            .out
            .lines()
            .any(|line| line.split_whitespace().next() == Some("physics"));
        assert!(shown, "{}", ran.out);
    }
}

#[test]
fn an_account_moves() {
    let json = json(&["--parent", "genomics=science"]);
    assert_eq!(json["schema"], "fairtree.what-if/1");
    assert_eq!(json["changes"][0], "genomics moves below science");
    let accounts = &json["accounts"];
    let physics = named(accounts, "physics");
    assert_eq!(physics["after"]["norm_shares"], 0.5);
    close(&physics["after"]["effective_usage"], 1670.0 / 5011.0);
    let medicine = named(accounts, "medicine");
    assert_eq!(
        (&medicine["move"], &medicine["after"]["place"]),
        (&"up".into(), &1.into())
    );
    close(
        &medicine["after"]["level_fs"],
        40.0 / 101.0 / (2600.0 / 7612.0),
    );
    let genomics = named(accounts, "genomics");
    assert_eq!(genomics["move"], "moved");
    assert_eq!(genomics["after"]["parent"], "science");
    // medicine comes first now, so its one user is behind the unused root only.
    let erin = named(&json["users"], "ft2-erin@imaging");
    assert_eq!(
        (&erin["before"]["place"], &erin["after"]["place"]),
        (&6.into(), &2.into())
    );
    assert_eq!(erin["after"]["fs_factor"], 0.875);
    // 12500 points a rank; the priority before is what sprio printed.
    let job = find(&json["jobs"], "job_id", &301.into());
    assert_eq!(
        (&job["before"]["priority"], &job["after"]["priority"]),
        (&88687.into(), &76187.into())
    );
}

// Half the weight takes half of the points that sprio printed: 87500/2 and 75000/2.
#[test]
fn another_weight() {
    let json = json(&["--set", "PriorityWeightFairshare=50000"]);
    for (id, partition, priority) in [(301, "main", 88687 - 43750), (305, "debug", 82405 - 37500)] {
        let jobs = json["jobs"].as_array().expect("a list").iter();
        let mut jobs = jobs.filter(|job| job["job_id"] == id && job["partition"] == partition);
        let job = jobs.next().expect("a job");
        assert_eq!(job["after"]["priority"], priority, "{id}");
        close(
            &job["after"]["points"]["fairshare"],
            job["before"]["points"]["fairshare"]
                .as_f64()
                .expect("points")
                / 2.0,
        );
    }
}

/// The half-life is an hour. Of 1516 TRES-seconds half are left; the three running jobs with 2 CPUs
/// each end 377, 377 and 380 s after the last pass, and their use counts 2 times the integral of
/// 2^(-(3600 - t)/3600) over that time.
#[test]
fn an_hour_passes() {
    let json = json(&[
        "--after",
        "1:00:00",
        "--no-starts",
        "--compat",
        "documented",
    ]);
    assert_eq!(json["meanwhile"], Value::Null);
    let times = json["now"].as_array().expect("two moments");
    assert_eq!(
        times[1].as_i64().unwrap() - times[0].as_i64().unwrap(),
        3600
    );
    let running = |secs: f64| {
        let hour: f64 = 3600.0;
        2.0 * hour / std::f64::consts::LN_2 * (((secs - hour) / hour).exp2() - 0.5)
    };
    let expected = 1516.0 / 2.0 + 2.0 * running(377.0) + running(380.0);
    let alice = named(&json["users"], "ft2-alice@genomics");
    close(&alice["after"]["raw_usage"], expected);
    // An age of 223 s before, the maximum of an hour after; nothing else of bob's changes.
    let job = find(&json["jobs"], "job_id", &305.into());
    assert_eq!(job["after"]["points"]["age"], 1000.0);
}

// As in anonymised captures of earlier versions, which do not say which nodes a partition has.
#[test]
fn without_machines_nothing_starts() {
    let from = edited_capture("what-if-no-nodes", &[]);
    let path = format!("{from}/partitions.txt");
    let text = std::fs::read_to_string(&path).expect("text");
    std::fs::write(&path, text.replace(" Nodes=n[0-3]", "")).expect("written");
    let args = [
        "what-if",
        "--after",
        "1:00:00",
        "--compat",
        "documented",
        "--json",
    ];
    let ran = fairtree(&[&args[..], &["--from", &from]].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in ["the time is not simulated: ", "no job starts"] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let exact = json(&[
        "--after",
        "1:00:00",
        "--no-starts",
        "--compat",
        "documented",
    ]);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(found["users"], exact["users"]);
}

#[test]
fn associations_and_jobs_come_and_go() {
    let json = json(&[
        "--add-account",
        "lab@medicine=4",
        "--add-user",
        "zoe@lab=2",
        "--remove",
        "imaging",
        "--release",
        "310",
        "--hold",
        "301",
        "--cancel",
        "302",
        "--qos",
        "309=urgent",
        "--nice",
        "303=-7",
        "--priority",
        "304=12",
        "--charge",
        "ft2-bob@physics=2h",
        "--shares",
        "ft2-dave@biology=3",
        "--assoc-priority",
        "ft2-bob@physics=14",
    ]);
    let accounts = &json["accounts"];
    assert_eq!(named(accounts, "lab")["move"], "new");
    // Of medicine's shares lab has 4 and genomics 1.
    assert_eq!(named(accounts, "lab")["after"]["norm_shares"], 0.8);
    assert_eq!(named(accounts, "imaging")["move"], "gone");
    // What a removed account used stays with the account above.
    assert_eq!(
        named(accounts, "medicine")["after"]["raw_usage"],
        4909.0 + 1.0
    );
    let users = &json["users"];
    assert_eq!(named(users, "zoe@lab")["after"]["raw_usage"], 0.0);
    assert_eq!(
        named(users, "ft2-bob@physics")["after"]["raw_usage"],
        654.0 + 7200.0
    );
    assert_eq!(
        named(users, "ft2-dave@biology")["before"]["raw_shares"],
        "parent"
    );
    assert_eq!(named(users, "ft2-dave@biology")["after"]["raw_shares"], 3);
    let jobs = &json["jobs"];
    let after = |id: u32| &find(jobs, "job_id", &id.into())["after"];
    let place = |id: u32| after(id)["place"].as_u64();
    assert!(place(310).is_some() && place(301).is_none());
    assert!(after(302).is_null());
    assert_eq!(
        (&after(301)["priority"], &after(304)["priority"]),
        (&0.into(), &12.into())
    );
    assert_eq!(
        (&after(309)["points"]["qos"], &after(303)["points"]["nice"]),
        (&10000.0.into(), &(-7).into())
    );
    // The largest priority of an association is 14 now, and physics' alice has 7.
    assert_eq!(after(305)["points"]["assoc"], 1000.0);
    // Jobs of removed users leave the queue.
    assert_eq!(find(jobs, "job_id", &322.into())["move"], "gone");
}

#[test]
fn another_slurm_conf_and_the_plugin() {
    let folder = folder("what-if-conf");
    let conf = folder.join("slurm.conf");
    std::fs::write(folder.join("weights.conf"), "PriorityWeightPartition=500\n").expect("written");
    let text = "PriorityType=priority/fairtree\nInclude weights.conf\nPartitionName=DEFAULT \
                PriorityJobFactor=50\nPartitionName=main\nPartitionName=debug\nPartitionName=new\n";
    std::fs::write(&conf, text).expect("written");
    let json = json(&[
        "--slurm-conf",
        &conf.display().to_string(),
        "--set",
        "PriorityMaxAge=1",
    ]);
    let said = json["changes"][0].as_str().expect("a sentence");
    assert!(said.contains("what the documentation states"), "{said}");
    // Both partitions have the largest factor; nothing else has a weight.
    let job = find(&json["jobs"], "job_id", &301.into());
    assert_eq!(job["after"]["priority"], 500);
    assert_eq!(json["changes"].as_array().expect("a list").len(), 3);
}

#[test]
fn a_table_of_those_that_move() {
    let ran = run(&[
        "--set",
        "PriorityWeightFairshare=0",
        "--set",
        "PriorityWeightAge=0",
        "--top",
        "3",
    ]);
    let text = &ran.out;
    assert!(text.starts_with("What if:\n  - PriorityWeightFairshare=0; PriorityWeightAge=0\n"));
    assert!(
        text.contains("\nAccounts: 6 stay\n\nUsers: 8 stay\n\nJobs: "),
        "{text}"
    );
    assert!(
        text.contains(" more that move less far (--top 0 shows all)\n"),
        "{text}"
    );
    let all = run(&["--set", "PriorityWeightAge=1000", "-a", "--top", "0"]);
    assert!(all.out.contains("held"), "{}", all.out);
    assert_eq!(
        all.out
            .lines()
            .filter(|line| line.contains("  ft2-"))
            .count(),
        7 + 26
    );
    assert!(!all.out.contains(" -> "), "{}", all.out);
}

#[test]
fn a_page_of_its_own() {
    let page = folder("what-if-page").join("page.html");
    let ran = run(&[
        "--parent",
        "genomics=science",
        "--html",
        &page.display().to_string(),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let html = std::fs::read_to_string(page).expect("a page");
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    assert!(html.contains("<title>ft2-erin@imaging: 6 (0.375000) -&gt; 2 (0.875000)</title>"));
    for outside in ["http:", "https:", "<script", "src="] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn files_without_jobs() {
    let ran = fairtree(
        &[
            "what-if",
            "examples/site.toml",
            "--after",
            "7-0",
            "--shares",
            "physics=80",
        ],
        b"",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    // 80 of 120 shares and 36000 of 39600: decay does not change the parts.
    assert!(
        ran.out
            .contains("0.660000 -> 0.733333  60 -> 80  60.00% -> 66.67%"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("Jobs"), "{}", ran.out);
    assert!(
        ran.err.contains("nothing runs while time passes"),
        "{}",
        ran.err
    );
}

// A user with an association per partition, printed without the column `Partition`.
#[test]
fn associations_that_look_alike_stay() {
    let file = folder("what-if-alike").join("sshare.txt");
    let text = "Account|User|RawShares|RawUsage\nroot|||60\n a||1|30\n  a|ann|1|10\n  \
                a|ann|1|20\n b||1|30\n  b|bob|1|30\n";
    std::fs::write(&file, text).expect("written");
    let file = file.display().to_string();
    let args = ["what-if", "--shares", "b=3", "--json", &file];
    let ran = fairtree(&args, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let users = json["users"].as_array().expect("users");
    let shown: Vec<_> = users
        .iter()
        .map(|user| (&user["name"], &user["before"]["usage"], &user["move"]))
        .collect();
    assert_eq!(users.len(), 3, "{shown:?}");
    let there = |user: &Value| !user["before"].is_null() && !user["after"].is_null();
    assert!(users.iter().all(there), "{shown:?}");
}

#[test]
fn what_cannot_be_changed_is_an_error() {
    for (args, message) in [
        (&[][..], "nothing is changed"),
        (
            &["--set", "PriorityWeightAge"],
            "--set: found \"PriorityWeightAge\", allowed is KEY=VALUE",
        ),
        (
            &["--set", "Frob=1"],
            "--set: setting: found \"Frob\", allowed is one of FairShare",
        ),
        (
            &["--set", "PriorityMaxAge=7x"],
            "--set: PriorityMaxAge: found \"7x\", allowed",
        ),
        (
            &["--set", "PriorityWeightTRES=gres/gpu=1"],
            "PriorityWeightTRES: found \"gres/gpu\"",
        ),
        (
            &["--shares", "physics=-1"],
            "--shares: found \"physics=-1\", allowed is WHO=SHARES",
        ),
        (
            &["--shares", "nobody=1"],
            "found no account or user nobody; allowed is ACCOUNT",
        ),
        (
            &["--shares", "ft2-alice=1"],
            "ft2-alice has 2 associations; name one:",
        ),
        (
            &["--charge", "physics=1h"],
            "usage is charged to users: name one as USER@ACCOUNT",
        ),
        (
            &["--charge", "ft2-bob=1"],
            "--charge: found \"ft2-bob=1\", allowed is USER=AMOUNT",
        ),
        (
            &["--parent", "science=physics"],
            "science moves below physics: association",
        ),
        (
            &["--parent", "root=physics"],
            "root moves below physics: association",
        ),
        (&["--remove", "root"], "root is removed: the root stays"),
        (
            &["--add-account", "physics@root=1"],
            "there is an account of that name",
        ),
        (&["--add-user", "ft2-bob@physics=1"], "it is there already"),
        (
            &["--qos", "301=none"],
            "found no QOS none; allowed is normal, urgent, scavenger",
        ),
        (
            &["--partition", "301=x"],
            "found no partition x; allowed is main, debug",
        ),
        (
            &["--nice", "x=1"],
            "--nice: found \"x\", allowed is the number of a job",
        ),
        (
            &["--hold", "306"],
            "job 306 is held: it is running; only a waiting job can change that",
        ),
        (&["--hold", "9"], "found no job 9"),
        (
            &["--after", "INFINITE"],
            "--after: found \"INFINITE\", allowed is a time",
        ),
        (
            &["--slurm-conf", "no-such-file", "--hold", "301"],
            "no-such-file: No such file",
        ),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

/// By hand: 3600000 TRES-seconds are 3103102.16 after 1.5 days of a half-life of 7, and a job of 128
/// CPUs and 512 GiB at a quarter each, so 256 per second, goes on for 18 of the 24 hours: 256 times
/// the integral of 2^(-t / 7 d) from 6 h to 24 h ago is 15596857.10.
#[test]
fn jobs_of_a_described_site_run_on() {
    let ran = fairtree(
        &["what-if", "--after", "1-0", "--json", "examples/queue.toml"],
        b"",
    );
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let users = json["users"].as_array().expect("users");
    let carl = users
        .iter()
        .find(|user| user["name"] == "carl@biology")
        .expect("carl");
    let used = carl["after"]["raw_usage"].as_f64().expect("a number");
    assert!((used - 18_699_959.25).abs() < 0.01, "{used}");
    assert_eq!(json["jobs"].as_array().map(Vec::len), Some(4));
}
