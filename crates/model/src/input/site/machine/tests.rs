use super::super::{Site, read};
use super::*;

fn site(text: &str) -> Result<Site, InputError> {
    read("f", text.as_bytes())
}

const NODES: &str = "[[nodes]]\nname = 'n[1-2]'\ncpus = 8\nthreads_per_core = 2\n\
    [[nodes]]\nname = 'g1'\nsockets = 2\ncores_per_socket = 4\nreal_memory = '2G'\n\
    gres = 'gpu:a100:2'\nfeatures = 'fast, big'\nweight = 3\nstate = 'drain'\n\
    [partitions.main]\nnodes = 'ALL'\nmax_time = '1-0'\ndef_mem_per_cpu = 500\n\
    [partitions.gpu]\nnodes = 'g1'\nmax_nodes = 1\nover_subscribe = 'exclusive'\npriority_tier = 4\n";

// By hand, from slurm.conf(5): CPUs=8 ThreadsPerCore=2 are four cores of two threads.
#[test]
fn nodes_and_partitions() {
    let text = format!("settings.SchedulerParameters = 'bf_interval=60'\n{NODES}");
    let site = site(&text).unwrap();
    let machine = site.machine.unwrap();
    let names: Vec<&str> = machine.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["n1", "n2", "g1"]);
    assert_eq!((machine.nodes[0].cores, machine.nodes[0].threads), (4, 2));
    let last = &machine.nodes[2];
    assert_eq!((last.cpus(), last.memory_mb, last.weight), (8, 2048, 3));
    assert_eq!(
        (last.gres[0].kind.as_str(), last.gres[0].count),
        ("a100", 2)
    );
    assert_eq!(last.features, ["fast", "big"]);
    assert!(machine.nodes[0].is_up && !last.is_up);
    assert!(machine.scheduling.has_memory);
    assert_eq!(machine.scheduling.interval, 60);
    // In the order of their names, as the rows of the site have them.
    let [gpu, main] = &machine.partitions[..] else {
        panic!("{machine:?}")
    };
    assert_eq!((gpu.nodes.as_slice(), gpu.max_nodes), (&[2][..], Some(1)));
    assert!(gpu.is_exclusive && gpu.priority_tier == 4 && !gpu.is_default);
    assert_eq!(main.nodes, [0, 1, 2]);
    assert_eq!(main.max_time_mins, Some(1440));
    assert_eq!(main.default_memory, Some(Memory::Cpu(500)));
    let queued = site.queued.unwrap();
    assert_eq!((queued.nodes.nodes, queued.nodes.cpus), (3, 24));
    let tres = queued.partitions[0].tres.as_ref().unwrap();
    assert!(tres.contains(&("cpu".to_owned(), 8)), "{tres:?}");
}

#[test]
fn requests_of_jobs() {
    let text = format!(
        "now = 2026-03-08T12:00:00Z\n{NODES}[accounts.a]\nusers.ann = {{}}\n[[jobs]]\nid = 7\n\
         user = 'ann'\naccount = 'a'\npartition = 'main'\nstate = 'RUNNING'\nnode_list = 'n[1-2]'\n\
         submit_time = 2026-03-08T11:00:00Z\nstart_time = 2026-03-08T11:30:00Z\n\
         tres = 'cpu=10,mem=3000M,node=2'\n"
    );
    let site = site(&text).unwrap();
    let job = &site.requests[0];
    assert_eq!(job.nodes, ["n1", "n2"]);
    assert_eq!((job.allocated_cpus, job.request.nodes), (10, Some((2, 2))));
    // 3000 MB on two nodes.
    assert_eq!(job.request.memory, Some(Memory::Node(1500)));
    assert_eq!(job.start_ms, Some(1_772_969_400_000));
}

/// A site with jobs that run on the nodes.
fn running(jobs: &[&str]) -> Result<Site, InputError> {
    let mut text = format!(
        "now = 2026-03-08T12:00:00Z\n\
         settings.AccountingStorageTRES = 'gres/gpu,gres/gpu:a100,gres/gpu:h100'\n\
         {NODES}[accounts.a]\nusers.ann = {{}}\n"
    );
    for (at, job) in jobs.iter().enumerate() {
        text += &format!(
            "[[jobs]]\nid = {}\nuser = 'ann'\naccount = 'a'\npartition = 'main'\n\
             start_time = 2026-03-08T11:30:00Z\n{}{job}\n",
            at + 1,
            if job.contains("state = ") {
                ""
            } else {
                "state = 'RUNNING'\n"
            }
        );
    }
    site(&text)
}

// By hand: n1, n2 and g1 have eight CPUs each, 24 in all. Of 10 CPUs on two nodes of 8 each has at least 2.
#[test]
fn running_jobs_fit_on_their_nodes() {
    for taken in [
        &["cpus = 8\nnode_list = 'n1'", "cpus = 8\nnode_list = 'n2'"][..],
        &[
            "cpus = 10\nnode_list = 'n[1-2]'",
            "cpus = 6\nnode_list = 'n1'",
        ],
        &["cpus = 24"],
    ] {
        running(taken).unwrap_or_else(|error| panic!("{taken:?}: {error}"));
    }
    for (jobs, words) in [
        (
            &["cpus = 9\nnode_list = 'n1'"][..],
            "cpus \"9\" is not allowed: allowed is up to 8, the CPUs of n1",
        ),
        (
            &["tres = 'cpu=17'\nnode_list = 'n[1-2]'"],
            "allowed is up to 16, the CPUs of n[1-2]",
        ),
        (&["cpus = 25"], "allowed is up to 24, the CPUs of all nodes"),
        (
            &["nodes = 3\nnode_list = 'n[1-2]'"],
            "nodes \"3\" is not allowed: allowed is up to 2, the nodes of n[1-2]",
        ),
        (
            &["cpus = 5\nnode_list = 'n1'", "cpus = 4\nnode_list = 'n1'"],
            "job 2 does not fit: jobs that run on n1 have 9 CPUs or more there, allowed is up to 8",
        ),
        (
            &[
                "cpus = 10\nnode_list = 'n[1-2]'",
                "cpus = 7\nnode_list = 'n1'",
            ],
            "jobs that run on n1 have 9 CPUs or more there, allowed is up to 8",
        ),
    ] {
        let error = running(jobs).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

// By hand: g1 has 2048 MB and two a100, n1 and n2 have no GPU, and no memory is given for them. Of 3 GPUs on n1 and g1
// one is on n1. Suspended jobs keep their memory and their GPUs, and jobs that share CPUs share neither.
#[test]
fn memory_and_gres_of_running_jobs_fit() {
    let job = |tres: &str, nodes: &str| format!("tres = '{tres}'\nnode_list = '{nodes}'");
    let suspended = |job: String| job + "\nstate = 'SUSPENDED'";
    let on = |jobs: &[String]| {
        let text: Vec<&str> = jobs.iter().map(String::as_str).collect();
        running(&text)
    };
    for taken in [
        [job("cpu=1,mem=1G", "g1"), job("cpu=1,mem=1024M", "g1")],
        // 1 GB on each of two nodes.
        [
            job("cpu=2,mem=2G,node=2", "n1,g1"),
            job("cpu=1,mem=1G", "g1"),
        ],
        [job("cpu=2,mem=2G", "n1,g1"), job("cpu=1,mem=1G", "g1")],
        [job("cpu=1,mem=900G", "n1"), job("cpu=1,mem=900G", "n1")],
        [
            job("cpu=1,gres/gpu=1", "g1"),
            job("cpu=1,gres/gpu:a100=1", "g1"),
        ],
        [
            job("cpu=1,gres/gpu=2,gres/gpu:a100=2", "g1"),
            job("cpu=1", "g1"),
        ],
    ] {
        on(&taken).unwrap_or_else(|error| panic!("{taken:?}: {error}"));
    }
    for (jobs, words) in [
        (
            [job("cpu=1,mem=1G", "g1"), job("cpu=1,mem=1025M", "g1")],
            "job 2 does not fit: jobs that run on g1 have 2049 MB of memory or more there, allowed is up to 2048",
        ),
        (
            [
                job("cpu=2,mem=4G,node=2", "n1,g1"),
                job("cpu=1,mem=1", "g1"),
            ],
            "job 2 does not fit: jobs that run on g1 have 2049 MB of memory or more there",
        ),
        (
            [
                job("cpu=1,gres/gpu=1", "g1"),
                job("cpu=1,gres/gpu:a100=2", "g1"),
            ],
            "job 2 does not fit: jobs that run on g1 have 3 gres/gpu or more there, allowed is up to 2",
        ),
        (
            [job("cpu=2,gres/gpu=3,node=2", "n1,g1"), job("cpu=1", "n2")],
            "job 1 does not fit: jobs that run on n1 have 1 gres/gpu or more there, allowed is up to 0",
        ),
        (
            [job("cpu=1,gres/gpu:h100=1", "g1"), job("cpu=1", "n2")],
            "job 1 does not fit: jobs that run on g1 have 1 gres/gpu:h100 or more there, allowed is up to 0",
        ),
        (
            [
                suspended(job("cpu=8,mem=1G,gres/gpu=2", "g1")),
                job("cpu=8,gres/gpu=1", "g1"),
            ],
            "job 2 does not fit: jobs that run on g1 have 3 gres/gpu or more there",
        ),
    ] {
        let error = on(&jobs).unwrap_err();
        assert!(error.to_string().contains(words), "{jobs:?}: {error}");
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn errors_name_place_value_and_what_is_allowed() {
    let with = |edit: (&str, &str)| {
        assert!(NODES.contains(edit.0), "{}", edit.0);
        site(&NODES.replace(edit.0, edit.1)).unwrap_err()
    };
    for (from, to, words, line) in [
        (
            "cpus = 8",
            "cpus = 0",
            "cpus \"0\" is not allowed: allowed is a whole number",
            3,
        ),
        ("'n[1-2]'", "'n[1-'", "allowed is names of nodes", 2),
        ("name = 'g1'", "name = 'n2'", "node n2 is listed twice", 6),
        (
            "'2G'",
            "'lots'",
            "\"lots\" is not allowed: allowed is memory above 0",
            9,
        ),
        ("'gpu:a100:2'", "'gpu:a:b:c:d'", "allowed is gpu:2", 10),
        (
            "'drain'",
            "'gone'",
            "\"gone\" is not allowed: allowed is one of UP",
            13,
        ),
        ("'ALL'", "'n[1-3]'", "n3 is not there", 15),
        ("nodes = 'g1'\n", "", "does not say which nodes", 18),
        ("'exclusive'", "'maybe'", "allowed is one of NO", 21),
        (
            "max_nodes = 1",
            "max_nodes = -1",
            "allowed is a whole number",
            20,
        ),
        ("weight = 3", "weigth = 3", "weigth", 12),
        // By hand: two sockets of four cores are eight CPUs.
        (
            "sockets = 2",
            "cpus = 9\nsockets = 2",
            "cpus \"9\" is not allowed: allowed is 8,",
            7,
        ),
        // By hand: two sockets of whole cores of two threads have four CPUs, or eight, or twelve.
        (
            "cpus = 8",
            "cpus = 9\nsockets = 2",
            "cpus \"9\" is not allowed: allowed is a multiple of 4,",
            3,
        ),
        (
            "max_time = '1-0'",
            "max_time = '1-0'\ndefault_time = 'UNLIMITED'",
            "is not allowed: allowed is up to max_time, 1440 minutes",
            17,
        ),
        (
            "max_nodes = 1",
            "min_nodes = 2\nmax_nodes = 1",
            "min_nodes \"2\" is not allowed: allowed is up to max_nodes, 1",
            20,
        ),
        (
            "max_time = '1-0'",
            "max_time = '1-0'\ndefault_time = '2-0'",
            "is not allowed: allowed is up to max_time, 1440 minutes",
            17,
        ),
        ("'n[1-2]'", "'n 1'", "allowed is names of nodes", 2),
        ("'n[1-2]'", "'n1]'", "allowed is names of nodes", 2),
        ("'n[1-2]'", "' '", "allowed is names of nodes", 2),
    ] {
        let error = with((from, to));
        let text = error.to_string();
        assert!(text.contains(words), "{from}: {text}");
        assert_eq!(error.line, Some(line), "{text}");
    }
    for (text, words) in [
        ("[partitions.p]\nnodes = 'n1'\n", "the file has none"),
        ("[[nodes]]\nname = 'n1'\n", "no partition has them"),
        (
            "[[nodes]]\nname = 'n1'\nsockets = 65535\ncores_per_socket = 65535\n\
             threads_per_core = 65535\n[partitions.p]\nnodes = 'n1'\n",
            "node n1 has more than 65535 CPUs",
        ),
        (
            "[[nodes]]\nname = 'n[1-65538]'\ncpus = 65535\n[partitions.p]\nnodes = 'n1'\n",
            "all nodes have 4295032830 CPUs; allowed are up to 4294967295",
        ),
        (
            "settings.SchedulerType = 'sched/magic'\n[[nodes]]\nname = 'n1'\n",
            "sched/backfill or sched/builtin",
        ),
    ] {
        let error = site(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
