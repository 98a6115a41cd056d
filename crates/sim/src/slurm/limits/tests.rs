use super::super::node_set::NodeSet;
use super::super::usage::Part;
use super::*;
use fairtree_model::machine::Node;

fn ask() -> Ask {
    Ask {
        id: 1,
        task: None,
        array_running: None,
        submit: 0,
        partitions: vec![0],
        user: 0,
        assoc: Some(AssocIndex::new(0)),
        qos: Some(0),
        least_nodes: 1,
        most_nodes: None,
        cpus: 4,
        tasks: 4,
        cpus_per_task: 1,
        tasks_per_node: 0,
        memory: None,
        limit_secs: Some(3600),
        least_secs: None,
        gres: Vec::new(),
        usable: NodeSet::all(2),
        same: Vec::new(),
        required: None,
        exclusive: false,
        contiguous: false,
        nice: 0,
        fixed: None,
    }
}

fn running() -> Running {
    let part = |node: usize, cpus: u32| Part {
        node,
        cpus,
        cores: cpus,
        memory_mb: 0,
        gres: Vec::new(),
    };
    Running {
        job: 0,
        partition: 0,
        start: 1000,
        limit_end: 4600,
        allocation: Allocation {
            parts: vec![part(0, 3), part(1, 1)],
            whole: false,
        },
    }
}

fn counters(assoc: Limits, qos: Limits, flags: &[&str]) -> Counters {
    Counters::new(SiteLimits {
        enforced: true,
        assocs: vec![assoc],
        qos: vec![QosLimits {
            all: qos,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..QosLimits::default()
        }],
        partition_qos: vec![None],
        parents: vec![None],
        accounts: vec![0],
    })
}

fn machine() -> Machine {
    Machine {
        nodes: vec![Node::default(), Node::default()],
        ..Machine::default()
    }
}

fn cpu(count: u64) -> Tres {
    Tres(vec![("cpu".to_owned(), count)])
}

// By hand: four CPUs for 300 s are 20 CPU-minutes, and 5 minutes.
#[test]
fn minutes_that_were_used_are_limited_and_decay() {
    let (machine, asks) = (machine(), [ask()]);
    let of_cpus = Limits {
        group_mins: cpu(20),
        ..Limits::default()
    };
    let of_wall = Limits {
        group_wall_mins: Some(5),
        ..Limits::default()
    };
    for (assoc, qos, words) in [
        (
            of_cpus.clone(),
            Limits::default(),
            "GrpTRESMins of the association",
        ),
        (Limits::default(), of_cpus, "GrpTRESMins of the QOS"),
        (
            of_wall.clone(),
            Limits::default(),
            "GrpWall of the association",
        ),
        (Limits::default(), of_wall, "GrpWall of the QOS"),
    ] {
        for flags in [&[][..], &["NoDecay"]] {
            let mut counters = counters(assoc.clone(), qos.clone(), flags);
            counters.pass(&machine, &asks, &[], 1000, 1.0);
            counters.pass(&machine, &asks, &[running()], 1200, 1.0);
            assert_eq!(counters.before(&asks[0], 0), None);
            counters.use_until(&machine, &asks, &running(), 1300);
            assert_eq!(counters.before(&asks[0], 0), Some(words));
            counters.pass(&machine, &asks, &[], 1500, 0.5);
            let stays = !flags.is_empty() && words.ends_with("QOS");
            assert_eq!(counters.before(&asks[0], 0), stays.then_some(words));
        }
    }
}

#[test]
fn resources_on_a_node_are_limited() {
    let (machine, asks) = (machine(), [ask()]);
    for (most, words) in [(3, None), (2, Some("MaxTRESPerNode of the QOS"))] {
        let limits = Limits {
            node_tres: cpu(most),
            ..Limits::default()
        };
        let counters = counters(Limits::default(), limits, &[]);
        assert_eq!(counters.after(&machine, &asks[0], &running()), words);
    }
}
