//! The clusters of the lives.

use super::super::Check;
use super::super::fixture;
use crate::cluster::Plan;
use crate::cluster::accounting::{Account, FairShare, Qos};
use crate::cluster::conf::Nodes;
use crate::under::Under;

/// The node for the jobs of the preemption scene; other jobs avoid it.
pub const ARENA: &str = "n3";

/// Nodes.
pub const NODES: u32 = 4;
/// CPUs of all nodes.
pub const CPUS: u32 = 32;

/// The clusters of jobs and limits.
pub fn with_limits(check: &Check, under: Under) -> Plan {
    let mut plan = plan(check, under);
    // Jobs that may start must wait only for passes.
    let scheduler = "sched_interval=1,bf_interval=1".to_owned();
    plan.settings.push(("SchedulerParameters", scheduler));
    // A scene uses each account: stock orders tied accounts by the order of its lists.
    plan.accounting.accounts = vec![
        account("upper", None, 5, &[]),
        account("mins", Some("upper"), 2, &["ann"]),
        account("runmins", Some("upper"), 3, &["bob"]),
        account("walls", None, 4, &["cyd"]),
        account("free", None, 1, &["dan", "eve"]),
    ];
    for name in ["wall", "runs", "each"] {
        plan.accounting.qos.push(Qos { name, priority: 0 });
    }
    plan
}

/// The clusters of the administrators. Our plugin makes a pass every second, except when it follows
/// stock.
pub fn of_administrators(check: &Check, under: Under) -> Plan {
    let mut plan = plan(check, under);
    if under == Under::Documented {
        plan.settings
            .push(("PriorityParameters", "calc_period=1".to_owned()));
    }
    plan.accounting.accounts = vec![
        account("phys", None, 5, &["ann", "bob"]),
        account("bio", None, 3, &["cyd", "ann"]),
        account("chem", None, 4, &["eve"]),
    ];
    plan
}

fn account(
    name: &'static str,
    parent: Option<&'static str>,
    shares: u32,
    users: &[&'static str],
) -> Account {
    Account {
        name,
        parent,
        fair_share: FairShare::Raw(shares),
        users: users
            .iter()
            .map(|user| (*user, FairShare::Raw(1)))
            .collect(),
    }
}

/// A site without decay and with a pass per minute, the most frequent that stock allows: usage is a
/// whole number of TRES-seconds with either plugin.
fn plan(check: &Check, under: Under) -> Plan {
    let mut plan = fixture::plan(check.release, under.priority());
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    if let Some(parameters) = under.parameters() {
        plan.settings
            .push(("PriorityParameters", parameters.to_owned()));
    }
    for (key, value) in [("PreemptType", "preempt/qos"), ("PreemptMode", "REQUEUE")] {
        plan.settings.push((key, value.to_owned()));
    }
    plan.nodes = Nodes {
        count: NODES as usize,
        cpus: CPUS / NODES,
    };
    plan
}
