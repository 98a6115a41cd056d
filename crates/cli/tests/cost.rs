//! `fairtree cost` from outside. Expected values: slurm.conf(5) and hand calculation, on top of what
//! Slurm 22.05.8 printed (`tests/captures`).

mod command;

use command::{CLUSTER, edited_capture, fairtree};
use serde_json::Value;

fn cost(args: &[&str]) -> Value {
    let mut all = vec!["cost", "--json"];
    all.extend(args);
    let ran = fairtree(&all, b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() <= 1e-9 * expected.abs(),
        "{value} is not {expected}"
    );
}

// The example of slurm.conf(5), "TRESBillingWeights": 1 CPU and 8 GB are billed 3.0, and with
// MAX_TRES 2.0.
#[test]
fn the_example_of_the_manual() {
    let conf = "[accounts.lab]\nusers.anna = {}\n[settings]\nPriorityFlags = \"MAX_TRES\"\n";
    let args = [
        "cost",
        "--json",
        "--tres",
        "cpu=1,mem=8G",
        "-t",
        "60",
        "-u",
        "anna",
        "--weights",
        "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/licA=1.5",
    ];
    for (site, rule, billing) in [(&conf[..31], "sum", 3.0), (conf, "max_tres", 2.0)] {
        let ran = fairtree(&args, site.as_bytes());
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(json["schema"], "fairtree.cost/1");
        assert_eq!(
            (&json["bill"]["rule"], &json["bill"]["billing"]),
            (&rule.into(), &billing.into())
        );
        let counts: Vec<&Value> = json["bill"]["lines"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|line| &line["counts"])
            .collect();
        assert_eq!(
            counts,
            [&Value::from(rule == "sum"), &true.into(), &false.into()]
        );
    }
}

/// 8 CPUs for an hour, the half-life: 8 * 3600 / (2 ln 2) are left. physics used 1670/2 besides and
/// science 2701/2, bob 654/2; medicine 4910/2, and the running jobs, of which three with 2 CPUs end
/// after 377, 377 and 380 s, and two with 5 CPUs go on.
#[test]
fn a_job_of_a_capture() {
    let json = cost(&[
        "--from",
        CLUSTER,
        "--compat",
        "documented",
        "--tres",
        "cpu=8,mem=1G",
        "--qos",
        "urgent",
        "-t",
        "1:00:00",
        "-u",
        "ft2-bob",
        "-A",
        "physics",
    ]);
    let left = 8.0 * 3600.0 / (2.0 * std::f64::consts::LN_2);
    close(&json["left_at_end"], left);
    assert_eq!(json["charged"], 28800.0);
    assert_eq!(json["partition"], "main");
    let effects = json["effects"].as_array().expect("a list");
    let names: Vec<&Value> = effects.iter().map(|effect| &effect["name"]).collect();
    assert_eq!(names, ["ft2-bob@physics", "physics", "science"]);
    close(
        &effects[0]["with"]["effective_usage"],
        (left + 327.0) / (left + 835.0),
    );
    close(
        &effects[1]["with"]["effective_usage"],
        (left + 835.0) / (left + 1350.5),
    );
    let hour: f64 = 3600.0;
    let decayed = |secs: f64| hour / std::f64::consts::LN_2 * (((secs - hour) / hour).exp2() - 0.5);
    let running = 2.0 * (2.0 * decayed(377.0) + decayed(380.0)) + 10.0 * decayed(3600.0);
    close(
        &effects[2]["without"]["effective_usage"],
        1350.5 / (7612.0 / 2.0 + running),
    );
    // physics falls behind biology, which has two users; bob before alice as it was.
    assert_eq!(
        (&effects[0]["now"]["place"], &effects[0]["with"]["place"]),
        (&2.into(), &5.into())
    );
    close(&json["fairshare_points"], -37500.0);
    let decay = &json["decay"];
    assert_eq!(decay["left"][0]["secs"], 3600);
    // log2(10) half-lives.
    assert_eq!(decay["left"][1]["secs"], 11959);
    assert!(decay["reset"].is_null());
}

#[test]
fn the_partition_the_qos_and_a_reset_count() {
    let capture = edited_capture(
        "cost-edited",
        &[
            (
                "partitions.txt",
                " PriorityJobFactor=100",
                " TRESBillingWeights=CPU=2.0,Mem=1G PriorityJobFactor=100",
            ),
            ("qos.txt", "urgent|100|1.000000", "urgent|100|0.500000"),
            (
                "config.txt",
                "PriorityUsageResetPeriod = NONE",
                "PriorityUsageResetPeriod = DAILY",
            ),
            (
                "config.txt",
                "PriorityDecayHalfLife   = 01:00:00",
                "PriorityDecayHalfLife   = 00:00:00",
            ),
        ],
    );
    // Job 307 asks for 3 CPUs and 1000 MB in debug for 15 minutes.
    let json = cost(&["--from", &capture, "--job", "307"]);
    close(&json["bill"]["billing"], 3.0 * 2.0 + 1000.0 / 1024.0);
    assert_eq!(
        (&json["bill"]["usage_factor"], &json["secs"]),
        (&0.5.into(), &900.into())
    );
    close(&json["charged"], (6.0 + 1000.0 / 1024.0) * 0.5 * 900.0);
    assert_eq!(json["left_at_end"], json["charged"]);
    // The midnight after 2026-11-21T10:55:14Z.
    assert_eq!(json["decay"]["reset"], 1_795_305_600);
    assert!(json["decay"]["half_life_secs"].is_null());
    let ran = fairtree(
        &["cost", "--from", &capture, "--job", "307", "--time", "1-0"],
        b"",
    );
    assert!(
        ran.out
            .contains("This does not decay: PriorityDecayHalfLife is 0.\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("PriorityUsageResetPeriod clears it 2026-11-23T00:00:00Z."),
        "{}",
        ran.out
    );
}

#[test]
fn in_sentences() {
    let ran = fairtree(
        &[
            "cost",
            "--tres",
            "cpu=16,gres/gpu:a100=4",
            "-t",
            "1-0",
            "-u",
            "anna",
            "--weights",
            "CPU=2.0,GRES/gpu=4",
            "--usage-factor",
            "0.5",
            "examples/site.toml",
        ],
        b"",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "A job of anna@physics for 1-00:00:00:\n",
        "  gres/gpu           4       4      16\n",
        "Billing 48 x UsageFactor 0.5 x 24.00 hours = 576.0 TRES-hours (2073600 TRES-seconds)\n",
        "  50%                7-00:00:00 ",
        "The jobs of anna@physics keep their fair-share points.\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(ran.err.contains("node=1, as none is given"), "{}", ran.err);
}

#[test]
fn what_cannot_be_billed_is_an_error() {
    let whole = ["--tres", "cpu=1", "-t", "1", "-u", "ft2-bob"];
    for (args, message) in [
        (
            &["--tres", "cpu", "-t", "1", "-u", "ft2-bob"][..],
            "--tres: found \"cpu\", allowed is resources",
        ),
        (
            &["--tres", "gres/gpu=1", "-t", "1", "-u", "ft2-bob"],
            "--tres: found \"gres/gpu\", allowed is what",
        ),
        (
            &["--tres", "cpu=1", "-t", "0", "-u", "ft2-bob"],
            "--time: found \"0\", allowed is a time above 0",
        ),
        (
            &["--tres", "cpu=1", "-t", "1", "-u", "nobody"],
            "found no user nobody",
        ),
        (
            &["--tres", "cpu=1", "-t", "1", "-u", "ft2-alice"],
            "ft2-alice has 2 associations",
        ),
        (
            &["--tres", "cpu=1", "-t", "1", "-u", "physics"],
            "physics is an account; allowed are users",
        ),
        (&["--job", "x"], "--job: found \"x\", allowed is the number"),
        (&["--job", "9"], "found no job 9"),
        (
            &[&whole[..], &["--weights", "CPU"]].concat(),
            "--weights: found \"CPU\", allowed is TRES=weight",
        ),
        (
            &[&whole[..], &["--usage-factor=-1"]].concat(),
            "--usage-factor: found \"-1\", allowed is",
        ),
        (
            &[&whole[..], &["-p", "x"]].concat(),
            "found no partition x; allowed is main, debug",
        ),
        (
            &[&whole[..], &["--qos", "x"]].concat(),
            "found no QOS x; allowed is normal, urgent",
        ),
    ] {
        let mut all = vec!["cost", "--from", CLUSTER];
        all.extend(args);
        let ran = fairtree(&all, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

/// At one's own site the job is one's own; a file has nobody who asks.
#[test]
fn without_a_user_it_is_ones_own_job() {
    let asked = ["cost", "--tres", "cpu=1", "-t", "1"];
    let file = fairtree(&[&asked[..], &["examples/queue.toml"]].concat(), b"");
    assert_eq!(file.code, 2);
    assert!(file.err.contains("no user is named"), "{}", file.err);
    let own = fairtree(&[&asked[..], &["--from", CLUSTER]].concat(), b"");
    let name = nix_user();
    // Tests run as root in most places, who has an association there.
    match name == "root" {
        true => assert!(
            own.out.starts_with("A job of root@root for 00:01:00"),
            "{}",
            own.err
        ),
        false => assert!(
            own.err.contains(&format!("found no user {name}")),
            "{}",
            own.err
        ),
    }
}

/// The login name of the user who runs the tests.
fn nix_user() -> String {
    let ran = std::process::Command::new("id")
        .arg("-un")
        .output()
        .expect("id");
    String::from_utf8(ran.stdout)
        .expect("UTF-8")
        .trim()
        .to_owned()
}

/// What an hour of 8 CPUs costs bob, who used 1000, under a policy.
fn under(policy: &str, time: &str) -> command::Ran {
    let site = format!(
        "now = 2026-03-08T00:00:00Z\n[settings]\nPriorityParameters = '{policy}'\n\
         PriorityDecayHalfLife = '1:00:00'\nPriorityWeightFairshare = 1000\n\
         [accounts.b]\nusers.bob = {{ usage = 1000 }}\n[accounts.a]\nusers.ann = {{ usage = 1000 }}\n"
    );
    let args = [
        "cost", "--json", "--tres", "cpu=8", "-t", time, "-u", "bob", "-",
    ];
    fairtree(&args, site.as_bytes())
}

fn answer(ran: &command::Ran) -> Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

/// Whatever PriorityDecayHalfLife says: 8 * 3600 are left at the end, begin to leave a window of two hours
/// an hour later, and half has left after one and a half.
#[test]
fn in_a_window_use_leaves_when_it_is_old() {
    let json = answer(&under("usage=window:2:00:00", "1:00:00"));
    assert_eq!(json["left_at_end"], 28800.0);
    let decay = &json["decay"];
    assert_eq!(decay["usage"], "window:0-02:00:00");
    assert_eq!(
        (&decay["window_secs"], &decay["half_life_secs"]),
        (&7200.into(), &Value::Null)
    );
    let left = decay["left"].as_array().expect("a list");
    let moments: Vec<&Value> = left.iter().map(|left| &left["secs"]).collect();
    // 7200 - 0.1 x 3600, 7200 - 0.01 x 3600.
    assert_eq!(moments, [3600, 5400, 6840, 7164]);
    assert_eq!(decay["gone_secs"], 7200);
    // What ann and bob used stays, as it is not known when that was.
    assert_eq!(json["effects"][0]["without"]["raw_usage"], 1000.0);
    assert_eq!(json["effects"][0]["with"]["raw_usage"], 29800.0);
    let said = json["assumptions"].to_string();
    assert!(
        said.contains("it is not known here when it was used"),
        "{said}"
    );
}

/// Of three hours the last two are in the window, and nothing of what was used before.
#[test]
fn a_job_longer_than_the_window_fills_it() {
    let json = answer(&under("usage=window:2:00:00", "3:00:00"));
    assert_eq!(json["charged"], 8.0 * 3.0 * 3600.0);
    assert_eq!(json["left_at_end"], 8.0 * 7200.0);
    assert_eq!(json["effects"][0]["without"]["raw_usage"], 0.0);
    assert_eq!(json["decay"]["left"][0]["secs"], 0);
    assert_eq!(json["decay"]["gone_secs"], 7200);
}

#[test]
fn a_total_stays_and_an_order_counts_no_points() {
    let policy = "usage=total:2026-01-01,ranking=least_used:leaf,order=strict";
    let json = answer(&under(policy, "1:00:00"));
    assert_eq!(json["left_at_end"], 28800.0);
    assert_eq!(json["decay"]["gone_secs"], Value::Null);
    assert_eq!(json["decay"]["left"], Value::Array(Vec::new()));
    assert_eq!(json["order"], "strict");
    // Two halves: bob has 29800 of 15400 due and is the second of two.
    assert_eq!(json["effects"][0]["with"]["place"], 2);
}
