//! Compares printed numbers with the engine's, digit by digit.

use anyhow::{Context, Result, bail};
use fairtree::extended::Extended;
use fairtree::fairshare::AssocFairshare;
use fairtree::priority::{Job, Priced};
use fairtree::tree::{Assoc, AssocKind, Shares};

use super::model::Model;
use crate::cluster::table::{Row, Table};

/// Fails with a list of all fields of sshare that differ from the engine's.
pub fn shares(model: &Model, sshare: &Table) -> Result<()> {
    let mut wrong = Vec::new();
    let rows = model.tree.rows().iter().zip(&model.fairshare);
    for (at, (printed, (assoc, computed))) in sshare.rows().iter().zip(rows).enumerate() {
        // The root has no siblings; its printed value has no meaning.
        if assoc.parent.is_none() {
            continue;
        }
        for (column, expected) in share_fields(model, at, assoc, computed) {
            let found = printed.text(column)?.trim();
            if found != expected {
                wrong.push(format!(
                    "{} {}: {column} is {found}, the engine says {expected}",
                    printed.text("Account")?.trim(),
                    printed.text("User")?
                ));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("sshare differs from the engine:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// The derived columns of one association as sshare prints them.
///
/// Outside Fair Tree, sshare of some releases also prints a factor for accounts, and LevelFS has no
/// meaning.
fn share_fields(
    model: &Model,
    at: usize,
    assoc: &Assoc,
    computed: &AssocFairshare,
) -> Vec<(&'static str, String)> {
    // With the flags of Fair Tree, sshare prints it only for users.
    let rates = model.rates_accounts && !model.has_flags_of_fair_tree();
    let prints = assoc.kind == AssocKind::User || rates;
    let factor = computed.fs_factor.filter(|_| prints);
    let extended = |value: Extended| six(value.to_f64());
    let mut fields = vec![
        (
            "NormShares",
            six(model.recorded_shares(at).unwrap_or(computed.norm_shares)),
        ),
        ("NormUsage", extended(computed.norm_usage)),
        ("EffectvUsage", extended(computed.effective_usage)),
        ("FairShare", factor.map_or_else(String::new, six)),
    ];
    if model.has_level_fs() {
        let level_fs = match assoc.shares {
            Shares::Parent => String::new(),
            Shares::Raw(_) => computed.level_fs.map_or_else(String::new, extended),
        };
        fields.push(("LevelFS", level_fs));
    }
    fields
}

/// Formats as C's `%f`.
fn six(value: f64) -> String {
    if value.is_infinite() {
        return "inf".to_owned();
    }
    format!("{:.6}", value + 0.0)
}

/// One job in one partition, as sprio and squeue print it.
pub struct Printed<'a> {
    /// The job as the engine sees it.
    pub job: Job,
    /// sprio's row.
    pub sprio: &'a Row,
    /// squeue's priority; `None` for a job in several partitions, where it belongs to the partition
    /// that slurmctld looked at last.
    pub squeue: Option<u32>,
}

/// Fails unless the engine gives all printed numbers for one moment in `earliest..=latest`.
///
/// The moment is the time of the pass that set the priorities; no command prints it.
pub fn priorities(model: &Model, printed: &[Printed], earliest: i64, latest: i64) -> Result<()> {
    let mut best: Option<Vec<String>> = None;
    for now in earliest..=latest {
        let mut wrong = Vec::new();
        for entry in printed {
            wrong.extend(differences(entry, &model.price(&entry.job, now)?)?);
        }
        if wrong.is_empty() {
            return Ok(());
        }
        if best.as_ref().is_none_or(|known| wrong.len() < known.len()) {
            best = Some(wrong);
        }
    }
    let best = best.context("no moment to compare at")?;
    bail!(
        "priorities differ from the engine at every moment; at the best one:\n{}",
        best.join("\n")
    )
}

fn differences(printed: &Printed, priced: &Priced) -> Result<Vec<String>> {
    let points = |value: f64| format!("{:.0}", value + 0.0);
    let mut fields = vec![
        ("PRIORITY", priced.priority.to_string()),
        ("AGE", points(priced.age)),
        ("ASSOC", points(priced.assoc)),
        ("FAIRSHARE", points(priced.fairshare)),
        ("JOBSIZE", points(priced.job_size)),
        ("PARTITION_FACTOR", points(priced.partition)),
        ("QOS", points(priced.qos)),
        ("SITE", priced.site.to_string()),
        ("NICE", priced.nice.to_string()),
    ];
    fields.push(("TRES", format!("cpu={}", points(priced.tres))));
    let mut wrong = Vec::new();
    for (column, expected) in fields {
        let found = printed.sprio.text(column)?.trim();
        if found != expected {
            wrong.push(format!(
                "job {} in {}: sprio's {column} is {found}, the engine says {expected}",
                printed.job.id,
                printed.sprio.text("PARTITION")?.trim()
            ));
        }
    }
    if printed
        .squeue
        .is_some_and(|priority| priority != priced.priority)
    {
        wrong.push(format!(
            "job {}: squeue's priority is {:?}, the engine says {}",
            printed.job.id, printed.squeue, priced.priority
        ));
    }
    Ok(wrong)
}
