use super::*;

fn of(text: &str) -> Result<Machine, InputError> {
    let document = Document::read(text, "slurm.conf", &mut |_| Err("none".to_owned()));
    read(&document, "slurm.conf")
}

// Source: slurm.conf(5), NODE CONFIGURATION and PARTITION CONFIGURATION.
#[test]
fn defaults_hold_for_the_lines_after_them() {
    let machine = of(
        "NodeName=DEFAULT RealMemory=1000 Sockets=2 CoresPerSocket=4 \
         ThreadsPerCore=2 Feature=a,b\nNodeName=n[1-2]\nNodeName=g1 Gres=gpu:a100:2,gpu:1 \
         Weight=5\nPartitionName=DEFAULT MaxTime=1-0 Nodes=n[1-2]\nPartitionName=p \
         Default=YES PriorityTier=3\nPartitionName=q Nodes=ALL MaxTime=5:30 MaxNodes=2\n\
         SchedulerParameters==bf_interval=15,bf_window=240,bf_continue\n",
    )
    .unwrap();
    assert_eq!(machine.nodes.len(), 3);
    assert_eq!((machine.nodes[0].cores, machine.nodes[0].threads), (8, 2));
    assert_eq!(machine.nodes[2].gres[0].kind, "a100");
    assert_eq!(machine.nodes[2].gres[1].count, 1);
    assert_eq!(machine.nodes[1].features, ["a", "b"]);
    let [p, q] = &machine.partitions[..] else {
        panic!("{machine:?}")
    };
    assert_eq!((p.max_time_mins, p.priority_tier), (Some(1440), 3));
    assert_eq!((q.max_time_mins, q.max_nodes), (Some(6), Some(2)));
    assert_eq!(q.nodes, [0, 1, 2]);
    let scheduling = &machine.scheduling;
    assert_eq!((scheduling.interval, scheduling.window), (15, 14_400));
    assert_eq!((scheduling.max_time, scheduling.max_slots), (15, 500));
}

#[test]
fn scheduler_settings_are_changed_one_by_one() {
    let mut own = Scheduling {
        kill_wait: 7,
        ..Scheduling::default()
    };
    set_scheduling(
        &mut own,
        "SchedulerParameters",
        "bf_interval=60,bf_continue",
    )
    .unwrap();
    assert_eq!((own.interval, own.max_time, own.kill_wait), (60, 60, 7));
    set_scheduling(&mut own, "schedulerparameters", "bf_window=60").unwrap();
    assert_eq!((own.interval, own.window), (30, 3600));
    set_scheduling(&mut own, "SchedulerType", "sched/builtin").unwrap();
    assert!(!own.has_backfill);
    for (key, value, words) in [
        (
            "SchedulerParameters",
            "bf_intervall=3",
            "bf_intervall is not",
        ),
        (
            "SchedulerParameters",
            "bf_window=60,bf_interval=abc",
            "found \"bf_interval=abc\", allowed is a whole number from 0",
        ),
        ("SchedulerType", "sched/magic", "allowed is sched/backfill"),
        ("KillWait", "3", "allowed is one of"),
    ] {
        let error = set_scheduling(&mut own, key, value).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn parameters_that_no_simulation_follows_are_named() {
    let read = of(
        "SchedulerParameters=bf_interval=abc,bf_hetjob_prio=min,bf_continue\nNodeName=n1\nPartitionName=p Nodes=n1\n",
    );
    let machine = read.unwrap();
    assert_eq!(machine.scheduling.interval, 30);
    assert_eq!(
        machine.not_modelled,
        [
            "SchedulerParameters=bf_hetjob_prio",
            "SchedulerParameters=bf_interval=abc (no whole number from 0: its default counts)",
        ]
    );
}

#[test]
fn errors_have_places() {
    for (text, line) in [
        ("A=1\nNodeName=n[1- CPUs=1\n", 2),
        ("NodeName=n1 CPUs=many\n", 1),
        ("NodeName=n1\nPartitionName=p Nodes=n2\n", 2),
        ("NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=soon\n", 2),
    ] {
        assert_eq!(of(text).unwrap_err().line, Some(line), "{text}");
    }
    assert!(of("A=1\n").is_err());
}
