//! Sites whose users have shares: one site with one usage, and the rules of three pages.

use anyhow::{Context, Result, ensure};

use super::super::Check;
use super::page::{self, Page};
use super::{drain, job, resume, starts, waits_in_order};
use crate::checks::fixture;
use crate::cluster::Cluster;
use crate::cluster::accounting::{Accounting, FairShare};

/// CPUs that each user uses at once; other users use nothing.
const USE: [(&str, &str, u32); 5] = [
    ("ana", "vision", 12),
    ("ben", "vision", 3),
    ("cem", "language", 18),
    ("dia", "language", 3),
    ("eli", "robots", 9),
];

/// Duration, seconds: a second more or less does not change the order.
const SECS: u32 = 10;

/// A node of the tree, read from sshare.
#[derive(Clone, Debug)]
struct Node {
    name: &'static str,
    /// The parent account, or the account of a user.
    parent: &'static str,
    is_user: bool,
    shares: f64,
    used: f64,
}

/// The pages of sites whose users have shares.
pub fn by_shares(check: &Check) -> Result<()> {
    let fair_tree = Page::read(page::FAIR_TREE)?;
    let classic = Page::read(page::CLASSIC)?;
    let flux = Page::read(page::FLUX)?;
    let mut plan = fair_tree.plan(check, "slurm.conf")?;
    // One job at a time, on one CPU: usage meanwhile does not change the order.
    plan.settings.push(("Licenses", "turn:1".to_owned()));
    let scheduler = "batch_sched_delay=0,sched_interval=2".to_owned();
    plan.settings.push(("SchedulerParameters", scheduler));
    check.in_cluster(&plan, |cluster| {
        check.step("everybody but fay uses something");
        fair_tree.apply(cluster, "slurm.conf", &[])?;
        drain(cluster)?;
        let mut ids = Vec::new();
        for (user, account, cpus) in USE {
            ids.push(cluster.submit(&job(user, account, cpus, SECS))?);
        }
        resume(cluster)?;
        starts(cluster, &ids)?;
        drain(cluster)?;

        check.step("Fair Tree");
        started_in_order(cluster, &plan.accounting, by_level)?;
        fair_tree.run(check, cluster, "What users see")?;

        check.step("classic");
        let before = fair_tree.conf("slurm.conf")?;
        classic.apply(cluster, "slurm.conf", &before)?;
        ensure!(
            same(&classic.accounting()?, &plan.accounting),
            "another tree"
        );
        started_in_order(cluster, &plan.accounting, |nodes| {
            by_user(nodes, |share, _, effective| -effective / share)
        })?;
        classic.run(check, cluster, "What users see")?;
        check.step("the difference of shares and usage");
        let before = classic.conf("slurm.conf")?;
        classic.apply(cluster, "Relatives", &before)?;
        let waiting = waited_in_order(cluster, &plan.accounting, |nodes| {
            by_user(nodes, |share, own, _| share - own)
        })?;
        for id in waiting {
            cluster.run(&["scancel", &id.to_string()])?;
        }

        check.step("the weighted walk");
        let accounting = flux.accounting()?;
        cluster.add_site(&accounting)?;
        let before = classic.conf("Relatives")?;
        flux.apply(cluster, "slurm.conf", &before)?;
        fixture::next_pass(cluster)?;
        let sshare = cluster.sshare("User,FairShare")?;
        let factor = |user: &str| -> Result<f64> {
            sshare
                .find("User", &cluster.user(user)?.name)?
                .get("FairShare")
        };
        // Both are unused; the tied user comes before the bank.
        ensure!(factor("gus")? > factor("hal")?, "gus and hal tie");
        started_in_order(cluster, &accounting, by_level)?;
        flux.run(check, cluster, "What users see")?;

        for page in [fair_tree, classic, flux] {
            page.done()?;
        }
        Ok(())
    })
}

/// Every user submits a job: jobs must wait, and then start, in the users' order by `order`.
fn started_in_order(
    cluster: &Cluster,
    accounting: &Accounting,
    order: impl Fn(&[Node]) -> Vec<&'static str>,
) -> Result<()> {
    let expected = waited_in_order(cluster, accounting, order)?;
    resume(cluster)?;
    let found = starts(cluster, &expected)?;
    drain(cluster)?;
    ensure!(found == expected, "started {found:?}, not {expected:?}");
    Ok(())
}

/// Every user submits a job; returns the jobs in that order.
fn waited_in_order(
    cluster: &Cluster,
    accounting: &Accounting,
    order: impl Fn(&[Node]) -> Vec<&'static str>,
) -> Result<Vec<u32>> {
    let mut jobs = Vec::new();
    let users = accounting.accounts.iter().flat_map(|account| {
        let users = account.users.iter();
        users.map(|(user, _)| (*user, account.name))
    });
    for (user, account) in users {
        let mut job = job(user, account, 1, 1);
        job.options.push("--licenses=turn:1".to_owned());
        jobs.push((cluster.submit(&job)?, user));
    }
    fixture::next_pass(cluster)?;
    let order = order(&nodes(cluster, accounting)?);
    let mut expected = jobs.clone();
    expected.sort_by_key(|(_, user)| order.iter().position(|other| other == user));
    let expected: Vec<u32> = expected.into_iter().map(|(id, _)| id).collect();
    waits_in_order(cluster, &expected)?;
    Ok(expected)
}

/// The tree with its usage.
fn nodes(cluster: &Cluster, accounting: &Accounting) -> Result<Vec<Node>> {
    let sshare = cluster.sshare("Account,User,RawUsage")?;
    let used = |account: &str, user: &str| -> Result<f64> {
        let mut rows = sshare.rows().iter();
        let row = rows.find(|row| {
            let text = |name| row.text(name).map_or("", str::trim);
            text("Account") == account && text("User") == user
        });
        row.with_context(|| format!("{account} {user}"))?
            .get("RawUsage")
    };
    let shares = |shares: FairShare| match shares {
        FairShare::Raw(count) => f64::from(count),
        FairShare::Parent => f64::NAN,
    };
    let mut nodes = Vec::new();
    for row in &accounting.accounts {
        nodes.push(Node {
            name: row.name,
            parent: row.parent.unwrap_or("root"),
            is_user: false,
            shares: shares(row.fair_share),
            used: used(row.name, "")?,
        });
        for (user, of_user) in &row.users {
            nodes.push(Node {
                name: user,
                parent: row.name,
                is_user: true,
                shares: shares(*of_user),
                used: used(row.name, &cluster.user(user)?.name)?,
            });
        }
    }
    Ok(nodes)
}

/// Fair Tree, and also the weighted walk except for ties: on each level the highest shares over
/// usage first, a user before an account, and everything below a node before the next node.
fn by_level(nodes: &[Node]) -> Vec<&'static str> {
    fn below(parent: &str, nodes: &[Node], order: &mut Vec<&'static str>) {
        let mut level: Vec<&Node> = nodes.iter().filter(|node| node.parent == parent).collect();
        level.sort_by(|a, b| {
            let of = |node: &Node| node.shares / node.used;
            of(b).total_cmp(&of(a)).then(b.is_user.cmp(&a.is_user))
        });
        for node in level {
            match node.is_user {
                true => order.push(node.name),
                false => below(node.name, nodes, order),
            }
        }
    }
    let mut order = Vec::new();
    below("root", nodes, &mut order);
    order
}

/// Orders users by a number, highest first. The number is made from a user's fraction of the whole,
/// part of all usage, and that part with the usage that its account adds. All accounts are on one
/// level.
fn by_user(nodes: &[Node], number: impl Fn(f64, f64, f64) -> f64) -> Vec<&'static str> {
    let on_level = |node: &Node| {
        let level = nodes
            .iter()
            .filter(|other| other.parent == node.parent && other.is_user == node.is_user);
        node.shares / level.map(|other| other.shares).sum::<f64>()
    };
    let accounts = || nodes.iter().filter(|node| !node.is_user);
    let all: f64 = accounts().map(|node| node.used).sum();
    let mut users = Vec::new();
    for user in nodes.iter().filter(|node| node.is_user) {
        let Some(account) = accounts().find(|node| node.name == user.parent) else {
            continue;
        };
        let part = on_level(user);
        let own = user.used / all;
        let effective = own + (account.used / all - own) * part;
        users.push((number(part * on_level(account), own, effective), user.name));
    }
    users.sort_by(|a, b| b.0.total_cmp(&a.0));
    users.into_iter().map(|(_, name)| name).collect()
}

fn same(a: &Accounting, b: &Accounting) -> bool {
    format!("{a:?}") == format!("{b:?}")
}
