//! Names and comments of users in an old capture: the text as scontrol and squeue print it. The
//! other job is read with any text, and no control character is left.
#![no_main]

use fairtree_model::input::LeftOut;
use fairtree_model::input::slurm::job;
use libfuzzer_sys::fuzz_target;

/// As scontrol 22.05.8 prints it.
fn record(id: u32, user: &str, name: &str, comment: &str) -> String {
    format!(
        "JobId={id} JobName={name} UserId={user}(1) GroupId=g(1) MCS_label=N/A Priority=9 Nice=0 \
         Account=a QOS=normal JobState=PENDING Reason=Priority Dependency=(null) RunTime=00:00:00 \
         TimeLimit=00:05:00 TimeMin=N/A SubmitTime=2026-11-21T10:04:14 \
         EligibleTime=2026-11-21T10:04:14 AccrueTime=2026-11-21T10:04:14 StartTime=Unknown \
         Partition=main NumNodes=1-1 NumCPUs=1 NumTasks=1 TRES=cpu=1,mem=1G,node=1 Socks/Node=* \
         Command=/x WorkDir=/home Comment={comment} StdErr=/dev/null Power= \n"
    )
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (name, comment) = text.split_once('\0').unwrap_or((&text, ""));
    // A text with the other job's id is suspicious, and both jobs are left out.
    if text.contains("JobId=5") || text.contains("5|") {
        return;
    }
    let names = job::read_names(&format!("4|{name}\n5|b\n"));
    let jobs = record(4, "mallory", name, comment) + &record(5, "bob", "b", "");
    let mut left = LeftOut::default();
    let rows = job::read("f", &jobs, &names, &mut left).expect("an answer");
    let bob: Vec<_> = rows.iter().filter(|row| &*row.user == "bob").collect();
    assert_eq!(bob.len(), 1, "{jobs:?}");
    assert_eq!((bob[0].id, bob[0].cpus, &*bob[0].state), (5, 1, "PENDING"));
    for row in rows.iter().filter(|row| row.id == 4) {
        assert_eq!((&*row.user, row.cpus), ("mallory", 1), "{jobs:?}");
        assert_eq!(
            (row.array.as_ref(), &*row.state),
            (None, "PENDING"),
            "{jobs:?}"
        );
    }
});
