//! The jobs of a description, and what they are measured by: partitions, QOS, the cluster's size.

use std::sync::Arc;

use toml::{Spanned, Value};

use super::described::Users;
use super::file::File;
use super::jobs::{Reader, sprio_rows};
use super::machine::resources;
use super::place::Text;
use super::requests::request;
use super::sums::check_sums;
use super::value::PRIORITIES;
use super::{settings, value};
use crate::input::error::{InputError, Problem};
use crate::input::recorded::RecordedJob;
use crate::input::slurm::admission::Admission;
use crate::input::slurm::assoc::AssocRow;
use crate::input::slurm::config::Settings;
use crate::input::slurm::job::JobRow;
use crate::input::slurm::partition::PartitionRow;
use crate::input::slurm::qos::QosRow;
use crate::input::slurm::snapshot::{Hidden, Queued};
use crate::input::sprio::{self, Queue};
use crate::machine::Machine;
use fairtree::config::Config;
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree::priority::TimeLimit;
use fairtree::tree::Shares;

/// A site without its jobs.
pub(super) struct Known<'a> {
    /// Its settings.
    pub config: &'a Config,
    /// Its nodes, where they are listed.
    pub machine: Option<&'a Machine>,
    /// Those who may have jobs.
    pub users: &'a Users,
}

/// Jobs of a file, and where it lists its nodes their requests; `None` if it has no entries about jobs.
/// `now` is the moment of the report.
pub(super) fn read(
    text: &Text<'_>,
    file: &File,
    known: &Known<'_>,
    now: Option<i64>,
) -> Result<(Option<Queued>, Vec<RecordedJob>), InputError> {
    let Known {
        config,
        machine,
        users,
    } = *known;
    let tres = settings::tres(text, &file.settings)?;
    let assocs = priorities(text, file)?;
    let described = !file.jobs.is_empty()
        || !file.partitions.is_empty()
        || !file.qos.is_empty()
        || file.nodes.is_some()
        || file.cpus.is_some();
    if !described {
        return Ok((None, Vec::new()));
    }
    let reader = Reader {
        text,
        file,
        config,
        users,
        tres: &tres,
        partitions: partitions(text, file, machine, &tres)?,
        machine,
        qos: qos(text, file)?,
    };
    let jobs = reader.jobs(now)?;
    let rows = sprio_rows(&jobs);
    let jobs: Vec<JobRow> = jobs.into_iter().map(|job| job.row).collect();
    let nodes = reader.nodes(&jobs)?;
    let requests = machine.map(|machine| {
        let both = file.jobs.iter().zip(&jobs);
        both.map(|(job, row)| request(text, machine, job, row))
            .collect()
    });
    let requests: Vec<RecordedJob> = requests.transpose()?.unwrap_or_default();
    if let Some(machine) = machine {
        check_sums(text, machine, file, &requests)?;
    }
    let Reader {
        partitions, qos, ..
    } = reader;
    let queued = Queued {
        name: text.file.to_owned(),
        settings: Settings {
            cluster: file.cluster.as_ref().map(|name| name.get_ref().clone()),
            release: None,
            priority_type: None,
            tres,
            time: now,
            private_data: Vec::new(),
            config: config.clone(),
        },
        pass: now,
        queue: Queue {
            notes: Vec::new(),
            file: text.file.to_owned(),
            listings: vec![sprio::Listing {
                line: 0,
                columns: Vec::new(),
                weights: None,
                rows: Arc::new(rows),
            }],
        },
        jobs: Arc::new(jobs),
        partitions,
        nodes,
        assocs: Arc::new(assocs),
        qos,
        left_out: Vec::new(),
        hidden: Hidden::default(),
    };
    Ok((Some(queued), requests))
}

/// The priorities of associations.
fn priorities(text: &Text<'_>, file: &File) -> Result<Vec<AssocRow>, InputError> {
    let mut rows = Vec::new();
    let mut add = |account: &str,
                   user: Option<&str>,
                   partition: Option<&str>,
                   priority: &Option<Spanned<Value>>| {
        let Some(priority) = priority else {
            return Ok(());
        };
        rows.push(AssocRow {
            account: account.to_owned(),
            user: user.map(str::to_owned),
            partition: partition.map(str::to_owned),
            parent: None,
            shares: Shares::Raw(1),
            priority: value::whole(text, priority, "priority", PRIORITIES)?,
            qos: Arc::default(),
            limits: None,
        });
        Ok(())
    };
    for (account, about) in &file.accounts {
        let account = account.get_ref();
        add(account, None, None, &about.priority)?;
        for (user, about) in &about.users {
            let user = user.get_ref();
            add(account, Some(user), None, &about.priority)?;
            for (partition, about) in &about.partitions {
                let partition = partition.get_ref();
                add(account, Some(user), Some(partition), &about.priority)?;
            }
        }
    }
    Ok(rows)
}

fn partitions(
    text: &Text<'_>,
    file: &File,
    machine: Option<&Machine>,
    tres: &[String],
) -> Result<Vec<PartitionRow>, InputError> {
    let mut default: Option<&str> = None;
    let mut rows = Vec::with_capacity(file.partitions.len());
    for (at, (name, about)) in file.partitions.iter().enumerate() {
        value::name(text, name, "partition")?;
        if about.default {
            if let Some(other) = default.replace(name.get_ref()) {
                let why = format!("partitions {other} and {} are both default", name.get_ref());
                return Err(text.error(name.span().start, Problem::Structure(why)));
            }
        }
        let weights = about.tres_billing_weights.as_ref();
        if let Some(weights) = weights {
            parse_tres_weights(weights.get_ref()).map_err(|error| {
                text.value(&weights.span(), "tres_billing_weights", error.allowed)
            })?;
        }
        let factor = about.priority_job_factor.as_ref();
        let limit = about.max_time.as_ref();
        rows.push(PartitionRow {
            name: name.get_ref().clone(),
            is_default: about.default,
            priority_job_factor: match factor {
                Some(factor) => value::whole(text, factor, "priority_job_factor", 0..=65_533)?,
                None => 1,
            },
            max_time_mins: match limit.map(|limit| value::limit(text, limit, "max_time")) {
                Some(limit) => match limit? {
                    TimeLimit::Minutes(minutes) => Some(minutes),
                    TimeLimit::Unlimited | TimeLimit::Unset => None,
                },
                None => None,
            },
            max_nodes: machine.and_then(|machine| machine.partitions[at].max_nodes),
            state: (about.state.as_ref()).map(|state| state.get_ref().to_ascii_uppercase()),
            admission: Admission::default(),
            tres: match (&about.tres, machine) {
                (Some(own), _) => Some(value::resources(text, own, tres)?),
                (None, machine) => machine.map(|machine| resources(machine, at, tres)),
            },
            tres_billing_weights: weights.map(|weights| weights.get_ref().clone()),
        });
    }
    Ok(rows)
}

fn qos(text: &Text<'_>, file: &File) -> Result<Vec<QosRow>, InputError> {
    let mut rows = Vec::with_capacity(file.qos.len());
    for (name, about) in &file.qos {
        value::name(text, name, "QOS")?;
        rows.push(QosRow {
            name: name.get_ref().clone(),
            priority: match &about.priority {
                Some(priority) => value::whole(text, priority, "priority", PRIORITIES)?,
                None => 0,
            },
            usage_factor: match &about.usage_factor {
                Some(factor) => value::amount(text, Some(factor), "usage_factor")?,
                None => 1.0,
            },
            limits: None,
        });
    }
    Ok(rows)
}
