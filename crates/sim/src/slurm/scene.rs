//! A site with the jobs of a log, ready to run.

use std::collections::HashSet;

use fairtree::compat::Release;
use fairtree_model::input::recorded::{Recorded, RecordedJob};
use fairtree_model::input::slurm::conf::Conf;
use fairtree_model::input::slurm::script::Accounting;
use fairtree_model::machine::{Machine, Node};

use super::ask::Ask;
use super::free::{self, FairStarts, Jobs, Observer, Phases, Ran};
use super::life::{Life, lives};
use super::site::{Site, Unpriced, add_unknown};
use super::timeline::{ask, unknown_notes};

/// The settings, machine and accounts of a site.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The release of Slurm; `None`: not known.
    pub release: Option<Release>,
    /// Priority settings and partitions.
    pub conf: Conf,
    /// Nodes, partitions, scheduler settings.
    pub machine: Machine,
    /// Accounts, users, QOS.
    pub accounting: Accounting,
    /// Accounts and users of jobs that the site did not have, and that were added.
    pub added: usize,
}

impl Setup {
    /// The site of a recorded run. Users that the accounting does not know are added with one share,
    /// below their account, which is added, too.
    pub fn of(recorded: &Recorded) -> Setup {
        let mut accounting = recorded.accounting.clone();
        let owners: HashSet<(&str, &str)> = recorded.jobs.iter().map(owner).collect();
        let mut owners: Vec<(&str, &str)> = owners.into_iter().collect();
        owners.sort_unstable();
        let owners = owners.into_iter();
        let owners = owners.map(|(account, user)| (account.to_owned(), user.to_owned()));
        let known = accounting.assocs.len();
        add_unknown(&mut accounting.assocs, owners);
        // Without any, every account has one share.
        let added = match known {
            0 => 0,
            _ => accounting.assocs.len() - known,
        };
        Setup {
            release: recorded.release,
            conf: recorded.conf.clone(),
            machine: recorded.machine.clone(),
            accounting,
            added,
        }
    }

    /// Gives a partition `count` nodes. New ones are like its last node, in all partitions of that
    /// node; the last ones are taken away, from all partitions.
    ///
    /// # Errors
    /// A sentence: a partition that the site does not have, or one without nodes; a count of 0.
    pub fn set_nodes(&mut self, partition: &str, count: u32) -> Result<(), String> {
        let machine = &mut self.machine;
        let Some(at) = machine.partition(partition) else {
            let names = machine.partitions.iter().map(|one| one.name.as_str());
            let names: Vec<&str> = names.collect();
            return Err(format!(
                "found no partition {partition}; allowed is {}",
                names.join(", ")
            ));
        };
        let own = &machine.partitions[at].nodes;
        let Some(last) = own.last().copied().filter(|_| count > 0) else {
            return Err(format!("partition {partition} keeps at least one node"));
        };
        let count = count as usize;
        let most = Machine::MOST_NODES;
        if count > most {
            return Err(format!("partition {partition} has up to {most} nodes"));
        }
        if count < own.len() {
            let gone = own[count..].to_vec();
            remove(machine, &gone);
            return Ok(());
        }
        for number in 1..=count - own.len() {
            let node = Node {
                name: format!("{}+{number}", machine.nodes[last].name),
                ..machine.nodes[last].clone()
            };
            let place = machine.nodes.len();
            machine.nodes.push(node);
            for partition in &mut machine.partitions {
                if partition.nodes.contains(&last) {
                    partition.nodes.push(place);
                }
            }
        }
        machine.excess().map_or(Ok(()), Err)
    }
}

/// Takes nodes away, in ascending order, from all partitions.
fn remove(machine: &mut Machine, gone: &[usize]) {
    let place = |node: &usize| {
        let before = gone.partition_point(|one| one < node);
        (gone.get(before) != Some(node)).then(|| node - before)
    };
    for partition in &mut machine.partitions {
        partition.nodes = partition.nodes.iter().filter_map(place).collect();
    }
    for outage in &mut machine.outages {
        outage.nodes = outage.nodes.iter().filter_map(place).collect();
    }
    let mut at = 0..;
    machine
        .nodes
        .retain(|_| at.next().is_some_and(|at| gone.binary_search(&at).is_err()));
}

/// Account and user of a job.
fn owner(job: &RecordedJob) -> (&str, &str) {
    let request = &job.request;
    (
        request.account.as_deref().unwrap_or(""),
        request.user.as_deref().unwrap_or(""),
    )
}

/// The jobs of a log on a site: requests with names resolved, and lives.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The site.
    pub setup: Setup,
    /// The jobs as the schedulers see them.
    pub asks: Vec<Ask>,
    /// Their lives, one each.
    pub lives: Vec<Life>,
    /// The place of each among the recorded jobs.
    pub places: Vec<usize>,
    /// Jobs that were left out, one sentence for each reason.
    pub notes: Vec<String>,
    /// Accounts and settings before the first job.
    site: Site,
}

impl Scene {
    /// The jobs, sorted by submission, on a site.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn new(setup: Setup, jobs: &[RecordedJob]) -> Result<Scene, Unpriced> {
        let mut site = Site::new(
            &setup.conf,
            setup.release,
            &setup.machine,
            &setup.accounting,
            std::iter::empty(),
        )?;
        let (mut asks, mut places) = (Vec::new(), Vec::new());
        let (mut unknown, mut homeless) = (Vec::new(), 0_u64);
        for (place, job) in jobs.iter().enumerate() {
            match ask(&setup.machine, &mut site, job) {
                Ok(ask) if ask.assoc.is_none() && !owner(job).0.is_empty() => homeless += 1,
                Ok(ask) => {
                    asks.push(ask);
                    places.push(place);
                }
                Err(name) => unknown.push(name),
            }
        }
        let mut notes = unknown_notes(unknown);
        if homeless > 0 {
            notes.push(format!(
                "{homeless} jobs left out: their users are not in their accounts"
            ));
        }
        if setup.added > 0 {
            notes.push(format!(
                "{} accounts and users of the jobs are not in the site: each was added with one share",
                setup.added
            ));
        }
        let kept: Vec<&RecordedJob> = places.iter().map(|place| &jobs[*place]).collect();
        Ok(Scene {
            lives: lives(&kept),
            setup,
            asks,
            places,
            notes,
            site,
        })
    }

    /// Accounts and settings before the first job.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The jobs.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs {
            asks: &self.asks,
            lives: &self.lives,
        }
    }

    /// The recorded jobs of the run.
    pub fn recorded<'j>(&self, jobs: &'j [RecordedJob]) -> Vec<&'j RecordedJob> {
        self.places.iter().map(|place| &jobs[*place]).collect()
    }

    /// Runs the jobs under Slurm's rules, in phases of a seed.
    ///
    /// # Errors
    /// Rows that cannot be priced.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Result<Ran, Unpriced> {
        self.run_with(seed, &[], observer).map(|(ran, _)| ran)
    }

    /// As [`Scene::run`], with the fair starts of the jobs `wanted`, ascending.
    ///
    /// # Errors
    /// Rows that cannot be priced.
    pub fn run_with(
        &self,
        seed: u64,
        wanted: &[usize],
        observer: &mut dyn Observer,
    ) -> Result<(Ran, FairStarts), Unpriced> {
        let machine = &self.setup.machine;
        let phases = Phases::random(machine, &self.site, seed);
        let site = self.site.clone();
        free::run_with(machine, site, self.jobs(), phases, wanted, observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_model::machine::Partition;

    fn machine() -> Machine {
        let node = |name: &str| Node {
            name: name.to_owned(),
            ..Node::default()
        };
        let partition = |name: &str, nodes: &[usize]| Partition {
            name: name.to_owned(),
            nodes: nodes.to_vec(),
            ..Partition::default()
        };
        Machine {
            nodes: ["a", "b", "c", "d"].map(node).to_vec(),
            partitions: vec![partition("left", &[0, 1]), partition("all", &[0, 1, 2, 3])],
            ..Machine::default()
        }
    }

    fn changed(partition: &str, count: u32) -> Result<Machine, String> {
        let mut setup = Setup {
            release: None,
            conf: Conf {
                priority_type: None,
                config: fairtree::config::Config::default(),
                partitions: Vec::new(),
            },
            machine: machine(),
            accounting: Accounting::default(),
            added: 0,
        };
        setup.set_nodes(partition, count)?;
        Ok(setup.machine)
    }

    // By hand.
    #[test]
    fn a_partition_gets_nodes_and_loses_them() {
        let names = |machine: &Machine| -> Vec<String> {
            machine.nodes.iter().map(|node| node.name.clone()).collect()
        };
        let more = changed("left", 4).expect("nodes");
        assert_eq!(names(&more), ["a", "b", "c", "d", "b+1", "b+2"]);
        assert_eq!(more.partitions[0].nodes, [0, 1, 4, 5]);
        assert_eq!(more.partitions[1].nodes, [0, 1, 2, 3, 4, 5]);
        let less = changed("left", 1).expect("nodes");
        assert_eq!(names(&less), ["a", "c", "d"]);
        assert_eq!(less.partitions[0].nodes, [0]);
        assert_eq!(less.partitions[1].nodes, [0, 1, 2]);
        assert_eq!(changed("all", 4).expect("nodes"), machine());
        assert!(changed("left", 0).is_err() && changed("right", 1).is_err());
        assert!(changed("left", 99_999_999).is_err());
    }
}
