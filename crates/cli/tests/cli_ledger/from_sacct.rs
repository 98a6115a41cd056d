//! Times without a record, filled in from sacct.

use super::*;

/// The plugin starts from its file of the pass before where that alone is left: its times are not
/// filled in.
#[test]
fn what_the_file_of_the_pass_before_covers_is_not_filled_in() {
    let dir = folder("ledger-before");
    plugin(&dir, &[(6, 10)]);
    fs::rename(dir.join(OWN_FILE), dir.join(format!("{OWN_FILE}.old"))).expect("renamed");
    let at = |hour: i64| DAY + hour * HOUR;
    let text = [
        record("hpc", 1, "ann", "COMPLETED", at(1), at(3), 2 * HOUR),
        record("hpc", 2, "ann", "COMPLETED", at(7), at(8), HOUR),
    ]
    .concat();
    from_text(&dir, "fill", &text);
    let sums = sums(&dir);
    assert_eq!(sums[OWN], 4 * HOUR as u64);
    assert_eq!(sums["priority_fairtree_ledger.old"], 0);
    well(ledger(&dir, &["check", "--files"], ""));
}

#[test]
fn without_knowing_what_is_covered_nothing_is_filled_in() {
    let dir = folder("ledger-refused");
    fs::write(dir.join(OWN_FILE), "FTLEDGER").expect("written");
    let text = record("hpc", 1, "ann", "COMPLETED", DAY, DAY + HOUR, HOUR);
    let args = ["fill", "--since", "2024-11-20", "--from", "-"];
    let ran = ledger(&dir, &args, &text);
    assert!(
        ran.code == 2 && ran.err.contains("what it covers is not known"),
        "{}",
        ran.err
    );
    assert!(!dir.join(OWN).exists());
    plugin(&dir, &[(0, 1)]);
    let place = dir.display().to_string();
    let other = [
        "ledger",
        "fill",
        "--dir",
        &place,
        "--cluster",
        "gpu",
        "--since",
        "2024-11-20",
        "--from",
        "-",
    ];
    let ran = fairtree(&other, text.as_bytes());
    assert!(
        ran.code == 2 && ran.err.contains("holds use of cluster \"hpc\""),
        "{}",
        ran.err
    );
    for (args, words) in [
        (&["fill", "--from", "-"][..], "--since"),
        (
            &["fill", "--since", "today", "--from", "-"],
            "--since: found \"today\"",
        ),
        (
            &[
                "fill",
                "--since",
                "2024-11-20",
                "--until",
                "2024-11-19",
                "--from",
                "-",
            ],
            "a time after --since",
        ),
        (&["show", "--now", "noon"], "--now: found \"noon\""),
    ] {
        let ran = ledger(&dir, args, &text);
        assert!(
            ran.code == 2 && ran.err.contains(words),
            "{words}: {}",
            ran.err
        );
    }
}

#[test]
fn sacct_is_asked_in_slices_for_what_the_policy_needs() {
    let site = Site::new("ledger-live");
    let start = now() - 10 * HOUR;
    // Each answer has all, as if every run were in every slice.
    let text = [
        record("hpc", 1, "ann", "COMPLETED", start, start + 100, 100),
        record("hpc", 2, "bob", "RUNNING", start, 0, 10 * HOUR),
        record("gpu", 1, "ann", "COMPLETED", start, start + 100, 100),
        record("gpu", 2, "bob", "RUNNING", start, 0, 10 * HOUR),
    ]
    .concat();
    fs::write(&site.records, text).expect("written");
    let (code, out, err) = site.run("fill");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let asked = fs::read_to_string(&site.asked).expect("questions");
    let first = asked.lines().next().expect("a question");
    assert!(
        first.starts_with("-a -X -D -P -n -M hpc -S 20") && first.contains(" -E 20"),
        "{first}"
    );
    assert!(
        first.ends_with(
            " --format=cluster,jobidraw,account,user,state,exitcode,submit,start,end,elapsedraw,\
             suspended,timelimitraw,alloctres"
        ),
        "{first}"
    );
    // Two days: 6, 12, 24 and the rest; from a whole hour on.
    assert_eq!(asked.lines().count(), 4, "{asked}");
    assert!(first.contains(":00:00 -E"), "{first}");
    // What runs is the plugin's to charge.
    assert_eq!((site.used(OWN, "ann"), site.used(OWN, "bob")), (200.0, 0.0));
    let (code, out, err) = site.run("sync");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let asked = fs::read_to_string(&site.asked).expect("questions");
    assert!(
        asked
            .lines()
            .last()
            .expect("a question")
            .contains("-n -L -S"),
        "{asked}"
    );
    // The limit is an hour.
    assert_eq!(
        (site.used(GPU, "ann"), site.used(GPU, "bob")),
        (200.0, 7200.0)
    );
    assert_eq!(site.history(GPU).open_runs(), 1);
    let (code, out, _) = site.run("check");
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_cluster_that_does_not_answer_keeps_what_is_known() {
    let site = Site::new("ledger-silent");
    let start = now() - 20 * HOUR;
    let gpu = |end: i64| {
        let running =
            record("gpu", 2, "bob", "RUNNING", start, 0, 20 * HOUR).replace("|60|", "|UNLIMITED|");
        running + &record("gpu", 1, "ann", "COMPLETED", start, end, end - start)
    };
    fs::write(&site.records, gpu(start + 2 * HOUR)).expect("written");
    fs::write(&site.clusters, "hpc|10.0.0.1\ngpu|\n").expect("written");
    let (code, out, err) = site.run("sync");
    assert!(
        code == 0 && err.contains("gpu is not connected"),
        "{out}{err}"
    );
    // Its last word is the end of job 1.
    assert_eq!(site.used(GPU, "bob"), 2.0 * 2.0 * HOUR as f64);
    assert_eq!(site.history(GPU).sources()[0].as_of, start + 2 * HOUR);
    // The database answers nobody: all is as before.
    let before = fs::read(site.dir.join(GPU)).expect("a file");
    let sacct = "#!/bin/sh\necho 'sacct: error: failed to open persistent connection to \
                 host:localhost:6819: Connection refused' >&2; exit 1\n";
    let working = fs::read(site.bin.join("sacct")).expect("a script");
    fs::write(site.bin.join("sacct"), sacct).expect("written");
    for action in ["sync", "fill", "check"] {
        let (code, out, err) = site.run(action);
        assert!(
            code == 2 && out.is_empty() && err.contains("slurmdbd cannot be reached"),
            "{action}: {out}{err}"
        );
    }
    assert_eq!(fs::read(site.dir.join(GPU)).expect("a file"), before);
    assert!(!site.dir.join(OWN).exists());
    // It is back, and had gone on.
    fs::write(site.bin.join("sacct"), working).expect("written");
    fs::write(&site.clusters, "hpc|10.0.0.1\ngpu|10.0.0.2\n").expect("written");
    let (code, out, err) = site.run("sync");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(site.used(GPU, "bob"), 2.0 * 20.0 * HOUR as f64);
    // The last word stays known, also where records say less.
    fs::write(&site.clusters, "hpc|10.0.0.1\ngpu|\n").expect("written");
    let as_of = site.history(GPU).sources()[0].as_of;
    site.run("sync");
    assert_eq!(site.history(GPU).sources()[0].as_of, as_of);
    // A cluster that is no more keeps its file.
    fs::write(&site.clusters, "hpc|10.0.0.1\n").expect("written");
    let (code, out, err) = site.run("sync");
    assert!(
        code == 0 && err.contains("the file stays as it is"),
        "{out}{err}"
    );
    assert!(site.dir.join(GPU).exists());
}
