//! Jobs of sites in TOML. Expected: the rules of `docs/site-format.md`.

use super::{Site, read};
use fairtree::priority::TimeLimit;

const SITE: &str = "\
now = 2026-03-08T12:00:00Z
nodes = 10
cpus = 640
[settings]
AccountingStorageTRES = 'gres/gpu'
PriorityWeightAge = 1000
[partitions.main]
default = true
priority_job_factor = 10
max_time = '7-0'
tres = 'cpu=640,mem=2T,node=10'
tres_billing_weights = 'CPU=1.0,Mem=0.25G'
[partitions.debug]
[qos.normal]
[qos.high]
priority = 100
usage_factor = 2.5
[accounts.physics]
priority = 3
[accounts.physics.users.anna]
priority = 7
partitions.debug = { priority = 9 }
";

const JOB: &str = "[[jobs]]\nid = 7\nuser = 'anna'\naccount = 'physics'\n\
                   submit_time = 2026-03-08T00:00:00Z\n";

fn site(more: &str) -> Site {
    let text = format!("{SITE}{more}");
    read("site.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.explained()))
}

#[test]
fn what_is_not_said_has_slurms_default() {
    let queued = site(JOB).queued.expect("jobs");
    let job = &queued.jobs[0];
    assert_eq!((job.id, &*job.state, job.priority), (7, "PENDING", 1));
    assert_eq!(*job.partitions, ["main".into()]);
    assert_eq!(*job.qos, ["normal".into()]);
    assert_eq!((job.cpus, job.nodes, job.nice), (1, 1, 0));
    assert_eq!(job.time_limit, TimeLimit::Unset);
    // date -u -d 2026-03-08 +%s
    assert_eq!(
        (job.submit_time, job.accrue_time),
        (1_772_928_000, 1_772_928_000)
    );
    assert_eq!(queued.pass, Some(1_772_971_200));
    assert_eq!((queued.nodes.nodes, queued.nodes.cpus), (10, 640));
    // slurm.conf(5), AccountingStorageTRES: what is always tracked, and what is added.
    assert_eq!(queued.settings.tres.len(), 9);
    assert_eq!(queued.settings.tres[8], "gres/gpu");
    let debug = queued.partitions.iter().find(|row| row.name == "debug");
    let debug = debug.expect("described");
    assert_eq!((debug.priority_job_factor, debug.max_time_mins), (1, None));
    assert_eq!(queued.qos[1].usage_factor, 1.0);
    let priorities: Vec<u32> = queued.assocs.iter().map(|row| row.priority).collect();
    assert_eq!(priorities, [3, 7, 9]);
}

#[test]
fn a_job_as_it_is_described() {
    let more = "partition = 'debug, main'\nqos = 'high'\nheld = true\nnice = -50\nsite_factor = 4\n\
                tres = 'cpu=64,mem=256G,node=2,gres/gpu=8'\ntime_limit = '1-12:00:00'\n\
                accrue_time = 2026-03-08T06:00:00Z\n";
    let queued = site(&format!("{JOB}{more}")).queued.expect("jobs");
    let job = &queued.jobs[0];
    assert_eq!(*job.partitions, ["debug".into(), "main".into()]);
    assert_eq!(
        (job.priority, job.nice, job.cpus, job.nodes),
        (0, -50, 64, 2)
    );
    assert_eq!(job.time_limit, TimeLimit::Minutes(2160));
    assert_eq!(job.accrue_time - job.submit_time, 6 * 3600);
    let tres = job.tres.as_deref().expect("given");
    assert!(tres.contains(&("mem".to_owned(), 262_144)), "{tres:?}");
    // sprio lists no job that is held.
    assert!(queued.queue.listings[0].rows.is_empty());
}

#[test]
fn sprio_lists_a_job_once_for_each_partition_and_qos() {
    let queued = site(&format!(
        "{JOB}partition = 'main,debug'\nqos = 'normal,high'\n"
    ));
    assert_eq!(queued.queued.expect("jobs").queue.listings[0].rows.len(), 4);
}

#[test]
fn a_site_without_anything_about_jobs_has_no_queue() {
    let text = "[accounts.physics]\nusers.anna = { priority = 5 }\n";
    assert!(read("f", text.as_bytes()).unwrap().queued.is_none());
}

/// The text that follows, the place of the error (line and column after [`SITE`] and [`JOB`]), and
/// words of the message.
#[test]
fn refused_with_place_value_and_what_is_allowed() {
    let lines = SITE.lines().count();
    for (job, line, column, words) in [
        ("id = 'x'", 2, 6, "a whole number from 1 to 67108863"),
        ("id = 0", 2, 6, "id \"0\" is not allowed"),
        ("user = 'eve'", 3, 8, "a user of the account"),
        ("account = 'chem'", 3, 8, "[accounts.chem.users.anna]"),
        ("partition = 'gpu'", 6, 13, "describes: debug, main"),
        ("qos = 'low'", 6, 7, "[qos.low]"),
        ("state = 'COMPLETED'", 6, 9, "PENDING, RUNNING or SUSPENDED"),
        (
            "state = 'RUNNING'",
            2,
            6,
            "a job that is RUNNING has a start_time",
        ),
        (
            "start_time = 2026-03-09T00:00:00Z",
            6,
            14,
            "a time up to now",
        ),
        ("time_limit = '0'", 6, 14, "a time above 0"),
        ("time_limit = 'soon'", 6, 14, "a time above 0"),
        ("cpus = -4", 6, 8, "cpus \"-4\" is not allowed"),
        ("nodes = 1.5", 6, 9, "a whole number"),
        ("nice = 3000000000", 6, 8, "from -2147483645 to 2147483645"),
        ("priority = 0", 6, 12, "a whole number from 1"),
        ("tres = 'cpu'", 6, 8, "as cpu=64,mem=256G"),
        (
            "tres = 'license/x=1'",
            6,
            8,
            "settings.AccountingStorageTRES",
        ),
        ("colour = 'red'", 6, 1, "unknown field"),
    ] {
        let key = job.split(' ').next().expect("a key");
        let known = JOB
            .lines()
            .any(|line| line.starts_with(&format!("{key} =")));
        let own: Vec<&str> = JOB
            .lines()
            .map(|line| {
                if line.starts_with(&format!("{key} =")) {
                    job
                } else {
                    line
                }
            })
            .collect();
        let mut text = format!("{SITE}{}\n", own.join("\n"));
        if !known {
            text.push_str(&format!("{job}\n"));
        }
        let error = read("site.toml", text.as_bytes()).unwrap_err();
        let explained = error.explained();
        assert!(explained.contains(words), "{job}: {explained}");
        assert_eq!(error.line, Some(lines + line), "{job}: {explained}");
        assert_eq!(error.column, Some(column), "{job}: {explained}");
    }
}

#[test]
fn what_a_weight_needs_is_named_where_it_is_missing() {
    let bare = "now = 2026-03-08T12:00:00Z\n[accounts.a.users.u]\n[[jobs]]\nid = 1\nuser = 'u'\n\
                account = 'a'\n";
    for (settings, words) in [
        ("PriorityWeightAge = 1", "the job has no submit_time"),
        ("PriorityWeightPartition = 1", "the job has no partition"),
        ("PriorityWeightQOS = 1", "the job has no qos"),
        (
            "PriorityWeightJobSize = 1",
            "the size of the cluster is not given",
        ),
        (
            "PriorityWeightTRES = 'cpu=1'\n[partitions.main]",
            "partition main has no tres",
        ),
    ] {
        let text = bare.replacen("[acc", &format!("[settings]\n{settings}\n[acc"), 1);
        let error = read("f", text.as_bytes()).unwrap_err().explained();
        assert!(error.contains(words) && error.contains("hint: "), "{error}");
    }
    assert!(read("f", bare.as_bytes()).is_ok());
    let timeless = bare.replacen("now", "#", 1);
    let error = read("f", timeless.as_bytes()).unwrap_err().explained();
    assert!(error.contains("give now, or usage_time"), "{error}");
    let twice = format!("{bare}{}", &bare[bare.find("[[jobs").unwrap()..]);
    let error = read("f", twice.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("stands here twice"), "{error}");
    let two = format!("{bare}[partitions.a]\ndefault=true\n[partitions.b]\ndefault=true\n");
    let error = read("f", two.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("both default"), "{error}");
}
