//! Files that are damaged, old or cannot be written.

use super::*;

#[test]
fn where_our_state_is_damaged_the_one_before_counts() {
    let folder = Folder::new("before");
    let [before, _] = two_passes(&folder);
    folder.write(OWN_FILE, b"FAIRTREE");
    // The dump is older than both, as after a crash.
    write_dump(&folder, 1_500);
    let found = load(&folder.0, true);
    assert_eq!(
        (found.last_ran, found.usage_as_of),
        (Some(1_690), Some(1_700))
    );
    assert_eq!(found.saved, Some(before));
    assert_eq!(found.complaints.len(), 1);
    assert!(found.complaints[0].contains("priority_fairtree_state.old"));

    // As after an orderly stop: our state has everything that the dump has.
    folder.write(OWN_FILE, b"FAIRTREE");
    write_dump(&folder, 2_050);
    let found = load(&folder.0, true);
    assert_eq!((found.last_ran, found.saved), (Some(1_990), None));
}

#[test]
fn a_dump_is_not_younger_than_its_file() {
    let folder = Folder::new("dump-damaged");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let state = State {
        written_at: i64::try_from(now).unwrap() + 1_000,
        ..state()
    };
    store(&folder.0, &state).unwrap();
    write_dump(&folder, i64::MAX - 7);
    assert_eq!(load(&folder.0, true).saved, Some(state));
}

#[test]
fn a_damaged_dump_does_not_count_however_new() {
    let folder = Folder::new("dump-broken");
    store(&folder.0, &state()).unwrap();
    write_dump(&folder, 2_001);
    folder.write("qos_usage", b"\x26\0\0");
    let found = load(&folder.0, true);
    assert_eq!(found.saved, Some(state()));
    assert_eq!(found.usage_as_of, Some(2_000));
    assert_eq!(
        found.complaints,
        ["qos_usage is damaged (bad version); using priority_fairtree_state"]
    );
    fs::remove_file(folder.0.join(OWN_FILE)).unwrap();
    let found = load(&folder.0, true);
    assert_eq!((found.saved, found.usage_as_of), (None, None));
    assert!(found.complaints[0].ends_with("; using the usage that slurmctld could read"));
    // The stock plugin reports nothing.
    assert!(load(&folder.0, false).complaints.is_empty());
}

#[test]
fn a_crash_between_the_two_files_loses_nothing() {
    let folder = Folder::new("between");
    store(&folder.0, &state()).unwrap();
    let before = Times {
        last_ran: 1_690,
        last_reset: 7,
    };
    folder.write(SLURM_FILE, &before.encode());
    let found = load(&folder.0, true);
    assert_eq!(found.last_ran, Some(1_990));
    assert_eq!(found.saved, Some(state()));
}

#[test]
fn a_damaged_state_is_set_aside() {
    let folder = Folder::new("damaged");
    store(&folder.0, &state()).unwrap();
    folder.write(OWN_FILE, b"FAIRTREEgarbage");
    let found = load(&folder.0, true);
    assert_eq!(found.saved, None);
    assert_eq!(found.usage_as_of, None);
    assert_eq!(found.last_ran, Some(1_990));
    assert_eq!(found.complaints.len(), 1);
    assert!(
        found.complaints[0].contains("damaged"),
        "{:?}",
        found.complaints
    );
    assert!(!folder.0.join(OWN_FILE).exists());
    assert!(folder.0.join("priority_fairtree_state.damaged").exists());
    assert!(load(&folder.0, true).complaints.is_empty());
}

#[test]
fn a_short_file_of_slurms_gives_way_to_the_one_before() {
    let folder = Folder::new("short");
    folder.write(SLURM_FILE, &[0; 9]);
    assert_eq!(load(&folder.0, true).last_ran, None);
    let before = Times {
        last_ran: 1_690,
        last_reset: 0,
    };
    folder.write("priority_last_decay_ran.old", &before.encode());
    let found = load(&folder.0, true);
    assert_eq!((found.last_ran, found.last_reset), (Some(1_690), None));
    assert!(found.complaints[0].contains("9 bytes"));
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = Folder::new("failed");
    store(&folder.0, &state()).unwrap();
    // A folder in place of the new file can be neither written nor replaced.
    fs::create_dir(folder.0.join("priority_fairtree_state.new")).unwrap();
    let later = State {
        last_ran: 3_000,
        ..state()
    };
    assert!(store(&folder.0, &later).unwrap_err().contains(OWN_FILE));
    assert_eq!(load(&folder.0, true).last_ran, Some(1_990));
    assert!(store(Path::new("/dev/null"), &state()).is_err());
}

/// slurmctld's disk during passes, as a crash after each step finds it.
#[test]
fn a_dump_of_a_pass_that_did_not_get_to_the_disk_does_not_count() {
    let folder = Folder::new("dump-late");
    // A dump between the pass at 1,990 and the announced next pass is of the pass at 1,990.
    store(&folder.0, &state()).unwrap();
    for dumped_at in [2_001, 2_289] {
        write_dump(&folder, dumped_at);
        let found = load(&folder.0, true);
        assert_eq!((found.last_ran, found.saved), (Some(1_990), None));
        assert_eq!(found.usage_as_of, Some(dumped_at));
    }
    // A later dump may have usage of the next pass, which is not on disk: charging it again from
    // 1,990 on would count it twice.
    for dumped_at in [2_290, 2_300, 9_000] {
        write_dump(&folder, dumped_at);
        let found = load(&folder.0, true);
        assert_eq!((found.last_ran, found.saved), (Some(1_990), Some(state())));
        assert_eq!(found.usage_as_of, Some(2_000));
    }
    // The next pass gets to the disk: the dump is of that pass.
    let next = State {
        written_at: 2_295,
        last_ran: 2_290,
        previous_ran: 1_990,
        next_pass: 2_590,
        ..state()
    };
    store(&folder.0, &next).unwrap();
    write_dump(&folder, 2_300);
    let found = load(&folder.0, true);
    assert_eq!((found.last_ran, found.saved), (Some(2_290), None));
    assert_eq!(found.usage_as_of, Some(2_300));
    // A dump that waited for the disk longer than the pass after it.
    write_dump(&folder, 2_600);
    assert_eq!(load(&folder.0, true).saved, Some(next));
}

#[test]
fn a_pass_that_comes_early_is_written_down_first() {
    let folder = Folder::new("early");
    let always = || true;
    // There is no file to change.
    advance_next_pass(&folder.0, 2_100, &always).unwrap();
    assert!(!folder.0.join(OWN_FILE).exists());
    two_passes(&folder);
    let before = fs::read(folder.0.join("priority_fairtree_state.old")).unwrap();
    // A dump before the early pass is still of the last pass, a later dump is not.
    advance_next_pass(&folder.0, 2_100, &always).unwrap();
    write_dump(&folder, 2_099);
    let found = load(&folder.0, true);
    assert_eq!(
        (found.last_ran, found.next_pass),
        (Some(1_990), Some(2_100))
    );
    assert_eq!(found.saved, None);
    write_dump(&folder, 2_100);
    let early = State {
        next_pass: 2_100,
        ..state()
    };
    assert_eq!(load(&folder.0, true).saved, Some(early.clone()));
    // It is never raised again, and all else stays.
    advance_next_pass(&folder.0, 2_200, &always).unwrap();
    assert_eq!(load(&folder.0, true).saved, Some(early));
    let old = fs::read(folder.0.join("priority_fairtree_state.old")).unwrap();
    assert_eq!(old, before);
    folder.write(OWN_FILE, b"FAIRTREEgarbage");
    advance_next_pass(&folder.0, 2_050, &always).unwrap();
    assert_eq!(
        fs::read(folder.0.join(OWN_FILE)).unwrap(),
        b"FAIRTREEgarbage"
    );
}

#[test]
fn what_nobody_wants_any_more_is_not_replaced() {
    let folder = Folder::new("unwanted");
    store(&folder.0, &state()).unwrap();
    let later = State {
        last_ran: 3_000,
        ..state()
    };
    let refused = with_image(&later, |image| {
        super::super::store(&folder.0, image, &|| false)
    });
    assert!(refused.is_err());
    assert_eq!(load(&folder.0, true).saved, Some(state()));
    let mut names: Vec<_> = fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, [OWN_FILE, SLURM_FILE]);
}

#[test]
fn a_link_in_place_of_a_new_file_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("link");
    folder.write("precious", b"precious");
    for name in [OWN_FILE, SLURM_FILE] {
        let new = folder.0.join(format!("{name}.new"));
        symlink(folder.0.join("precious"), new).unwrap();
    }
    store(&folder.0, &state()).unwrap();
    assert_eq!(fs::read(folder.0.join("precious")).unwrap(), b"precious");
    for name in [OWN_FILE, SLURM_FILE] {
        let data = fs::symlink_metadata(folder.0.join(name)).unwrap();
        assert!(data.is_file());
        assert_eq!(data.permissions().mode() & 0o777, 0o600);
    }
}
