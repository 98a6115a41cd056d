//! A capture of a site whose nodes are full and whose jobs wait, with its past month: what a queue in which
//! small jobs pass large ones has done for five weeks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use xtask::project;

/// The moment of the capture from which configuration and forms of records are, seconds since 1970.
const NOW: i64 = 1_795_257_618;
/// CPUs of a node.
const CPUS: u32 = 80;
const ACCOUNTS: u32 = 20;
const USERS: u32 = 200;
/// Time limits, minutes.
const LIMITS: [i64; 4] = [720, 1440, 2880, 4320];
/// Jobs that do not fit before no other is tried.
const TRIES: u32 = 8;
const DAY: i64 = 86_400;

/// Size of the site.
#[derive(Clone, Copy, Debug)]
pub struct BusySite {
    /// Nodes of 80 CPUs; each runs about four jobs.
    pub nodes: u32,
    /// Jobs that wait.
    pub waiting: u32,
}

impl BusySite {
    /// Writes the capture into a new folder; the number of a job that waits.
    ///
    /// # Errors
    /// Fails with errors of the file system, and if the recorded capture of the tests is not there.
    pub fn write(&self, folder: &Path) -> Result<u32> {
        fs::create_dir_all(folder)?;
        let recorded = project::root().join("tests/captures/cluster");
        let read = |file: &str| {
            let path = recorded.join(file);
            fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let put = |file: &str, text: &str| fs::write(folder.join(file), text);
        let first = |file: &str| -> Result<String> {
            let text = read(file)?;
            let line = text.lines().next().context("an empty file")?;
            Ok(line.to_owned())
        };
        for file in ["config.txt", "qos.txt"] {
            put(file, &read(file)?)?;
        }
        put("sshare.txt", &shares(&first("sshare.txt")?))?;
        put("assocs.txt", &assocs())?;
        put("sprio.txt", &(first("sprio.txt")? + "\n"))?;
        put("nodes.txt", &self.nodes(&first("nodes.txt")?))?;
        put("partitions.txt", &self.partition(&first("partitions.txt")?))?;
        let past = Past::of(self);
        let jobs = past.jobs();
        let ids = jobs
            .lines()
            .filter_map(|line| line.split([' ', '=']).nth(1));
        let names: String = ids.map(|id| format!("{id}|wrap\n")).collect();
        put("names.txt", &names)?;
        put("jobs.txt", &jobs)?;
        put("history.txt", &past.history())?;
        let mut manifest: Value = serde_json::from_str(&read("manifest.json")?)?;
        manifest["user"] = json!("root");
        let answers = manifest["answers"].as_array_mut().context("answers")?;
        let sacct =
            json!({"command": ["sacct"], "file": "history.txt", "secs": 0.1, "error": null});
        answers.push(sacct);
        put("manifest.json", &manifest.to_string())?;
        past.waiting
            .back()
            .map(|job| job.id)
            .context("no job waits")
    }

    /// Nodes like a recorded one of four CPUs.
    fn nodes(&self, node: &str) -> String {
        let like = node
            .replace("CPUTot=4", &format!("CPUTot={CPUS}"))
            .replace("CPUEfctv=4", &format!("CPUEfctv={CPUS}"))
            .replace("Sockets=4", &format!("Sockets={CPUS}"))
            .replace("RealMemory=1000", "RealMemory=256000")
            .replace("Partitions=main,debug", "Partitions=main")
            .replace(
                "cpu=4,mem=1000M,billing=4",
                &format!("cpu={CPUS},mem=256000M,billing={CPUS}"),
            );
        let named = (0..self.nodes).map(|at| {
            let name = format!("NodeName=n{at}");
            like.replace("NodeName=n0", &name) + "\n"
        });
        named.collect()
    }

    /// The partition of all nodes, like a recorded one of four.
    fn partition(&self, partition: &str) -> String {
        let (nodes, cpus) = (self.nodes, self.nodes * CPUS);
        let of_all = format!(
            "cpu={cpus},mem={}M,node={nodes},billing={cpus}",
            nodes * 256_000
        );
        let totals = format!("TotalCPUs={cpus} TotalNodes={nodes}");
        let own = partition
            .replace("Nodes=n[0-3]", &format!("Nodes=n[0-{}]", nodes - 1))
            .replace("TotalCPUs=16 TotalNodes=4", &totals)
            .replace("cpu=16,mem=4000M,node=4,billing=16", &of_all);
        own + "\n"
    }
}

/// The fates of jobs until now.
struct Past {
    /// Jobs that ended, with their starts and ends.
    ended: Vec<(Job, i64, i64)>,
    running: BTreeMap<u32, (Job, i64)>,
    waiting: VecDeque<Job>,
}

impl Past {
    fn of(site: &BusySite) -> Past {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut past = Past {
            ended: Vec::new(),
            running: BTreeMap::new(),
            waiting: VecDeque::new(),
        };
        let mut free = vec![CPUS; site.nodes as usize];
        let mut ends: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
        let (mut now, mut id) = (NOW - 35 * DAY, 100);
        while now < NOW {
            while past.waiting.len() < site.waiting as usize {
                id += 1;
                past.waiting.push_back(Job::random(id, now, &mut random));
            }
            let mut failed = 0;
            past.waiting.retain(|job| {
                if failed > TRIES {
                    return true;
                }
                let fits = free
                    .iter()
                    .enumerate()
                    .filter(|(_, free)| **free >= job.cpus);
                let nodes: Vec<usize> = fits.map(|(at, _)| at).take(job.count as usize).collect();
                if nodes.len() < job.count as usize {
                    failed += 1;
                    return true;
                }
                nodes.iter().for_each(|at| free[*at] -= job.cpus);
                // Most end long before their limit.
                let part = random.random::<f64>().powi(2);
                let run = (job.limit as f64 * 60.0 * part) as i64 + 10;
                ends.push(Reverse((now + run, job.id)));
                past.running.insert(
                    job.id,
                    (
                        Job {
                            nodes,
                            ..job.clone()
                        },
                        now,
                    ),
                );
                false
            });
            let Some(Reverse((end, id))) = ends.pop() else {
                break;
            };
            now = end;
            if now < NOW {
                if let Some((job, start)) = past.running.remove(&id) {
                    job.nodes.iter().for_each(|at| free[*at] += job.cpus);
                    past.ended.push((job, start, now));
                }
            }
        }
        past
    }

    /// Records of `scontrol show job`.
    fn jobs(&self) -> String {
        let mut text = String::new();
        for (job, start) in self.running.values() {
            job.write(&mut text, Some(*start));
        }
        for job in &self.waiting {
            job.write(&mut text, None);
        }
        text
    }

    /// Records of sacct for the last 30 days.
    fn history(&self) -> String {
        let mut text = "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|\
            ElapsedRaw|TimelimitRaw|ReqCPUS|ReqTRES|AllocCPUS|AllocTRES|NodeList\n"
            .to_owned();
        for (job, start, end) in &self.ended {
            if *end < NOW - 30 * DAY {
                continue;
            }
            let Job {
                id, owner, limit, ..
            } = job;
            let (all, account, nodes) = (job.count * job.cpus, owner % ACCOUNTS, job.node_list());
            let (submit, run) = (utc_text(job.submit), end - start);
            let (start, end) = (utc_text(*start), utc_text(*end));
            let tres = format!("billing={all},cpu={all},mem=1000M,node={}", job.count);
            let _ = writeln!(
                text,
                "{id}|{id}|u{owner}|a{account}|main|normal|COMPLETED|{submit}|{submit}|{start}|{end}|{run}|\
                 {limit}|{all}|{tres}|{all}|{tres}|{nodes}"
            );
        }
        text
    }
}

/// A job.
#[derive(Clone)]
struct Job {
    id: u32,
    owner: u32,
    /// Nodes, and CPUs on each.
    count: u32,
    cpus: u32,
    /// Minutes.
    limit: i64,
    submit: i64,
    priority: u32,
    /// Its nodes; empty: it waits.
    nodes: Vec<usize>,
}

impl Job {
    /// Most jobs are small.
    fn random(id: u32, submit: i64, random: &mut ChaCha8Rng) -> Job {
        let (count, cpus) = match random.random_range(0..100) {
            0..80 => (1, 1 << random.random_range(0..5)),
            80..97 => (1, 16 << random.random_range(0..3)),
            _ => (2 << random.random_range(0..3), 64),
        };
        Job {
            id,
            owner: random.random_range(0..USERS),
            count,
            cpus,
            limit: LIMITS[random.random_range(0..LIMITS.len())],
            submit,
            priority: random.random_range(1..100_000),
            nodes: Vec::new(),
        }
    }

    fn node_list(&self) -> String {
        let names: Vec<String> = self.nodes.iter().map(usize::to_string).collect();
        format!("n[{}]", names.join(","))
    }

    /// Appends its record; `started`: it runs since then.
    fn write(&self, text: &mut String, started: Option<i64>) {
        let Job {
            id,
            owner,
            count,
            priority,
            ..
        } = self;
        let (account, cpus) = (owner % ACCOUNTS, count * self.cpus);
        let (days, hours) = (self.limit / 1440, self.limit % 1440 / 60);
        let submit = utc_text(self.submit);
        let (state, start, nodes) = match started {
            Some(start) => ("RUNNING", utc_text(start), self.node_list()),
            None => ("PENDING", "Unknown".to_owned(), String::new()),
        };
        let _ = writeln!(
            text,
            "JobId={id} JobName=wrap UserId=u{owner}(1006) GroupId=u{owner}(1006) MCS_label=N/A \
             Priority={priority} Nice=0 Account=a{account} QOS=normal JobState={state} Reason=None \
             Dependency=(null) Requeue=1 RunTime=00:00:00 TimeLimit={days}-{hours:02}:00:00 TimeMin=N/A \
             SubmitTime={submit} EligibleTime={submit} AccrueTime={submit} StartTime={start} EndTime=Unknown \
             Partition=main ReqNodeList=(null) ExcNodeList=(null) NodeList={nodes} NumNodes={count} \
             NumCPUs={cpus} NumTasks={cpus} CPUs/Task=1 ReqB:S:C:T=0:0:*:* \
             TRES=cpu={cpus},mem=1000M,node={count},billing={cpus} Socks/Node=* NtasksPerN:B:S:C=0:0:*:* \
             CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) \
             DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command=(null) \
             WorkDir=/"
        );
    }
}

/// sshare's listing, with equal shares. FairShare is left blank, because the command computes it.
fn shares(header: &str) -> String {
    const TRES: &str = "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0";
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let usage: Vec<u64> = (0..USERS)
        .map(|_| random.random_range(1..10_000_000))
        .collect();
    let whole: u64 = usage.iter().sum();
    let mut text = format!("{header}\nroot|||1||0.000000|{whole}||1.000000||||{TRES}|{TRES}\n");
    let mut id = 1;
    for account in 0..ACCOUNTS {
        let own = (account..USERS).step_by(ACCOUNTS as usize);
        let used: u64 = own.clone().map(|user| usage[user as usize]).sum();
        let (part, share) = (used as f64 / whole as f64, 1.0 / f64::from(ACCOUNTS));
        id += 1;
        let _ = writeln!(
            text,
            " a{account}|||{id}|1|{share:.6}|{used}|{part:.6}|{part:.6}||{:.6}||{TRES}|{TRES}",
            share / part
        );
        for user in own {
            let raw = usage[user as usize];
            let (of_all, of_account) = (raw as f64 / whole as f64, raw as f64 / used as f64);
            let share = f64::from(ACCOUNTS) / f64::from(USERS);
            id += 1;
            let _ = writeln!(
                text,
                "  a{account}|u{user}||{id}|1|{share:.6}|{raw}|{of_all:.6}|{of_account:.6}||{:.6}||{TRES}|{TRES}",
                share / of_account
            );
        }
    }
    text
}

/// sacctmgr's listing.
fn assocs() -> String {
    let mut text =
        "Cluster|Account|User|Partition|Share|Priority|ParentName\nfairtree|root|||1||\n"
            .to_owned();
    for account in 0..ACCOUNTS {
        let _ = writeln!(text, "fairtree|a{account}|||1||root");
        for user in (account..USERS).step_by(ACCOUNTS as usize) {
            let _ = writeln!(text, "fairtree|a{account}|u{user}||1||");
        }
    }
    text
}

/// A moment as Slurm's commands print it under `TZ=UTC`.
fn utc_text(secs: i64) -> String {
    let time = jiff::Timestamp::from_second(secs).expect("a time of this century");
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}
