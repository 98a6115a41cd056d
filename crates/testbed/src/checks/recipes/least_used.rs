//! Sites where the entity with the least usage relative to its entitlement comes first: hubs,
//! groups and projects with shares; instances with minutes.

use anyhow::{Context, Result, ensure};

use super::super::Check;
use super::page::{self, PERIOD, Page};
use super::{drain, job, resume, starts, waits_in_order};
use crate::checks::fixture;
use crate::cluster::Cluster;
use crate::cluster::Plan;

/// Expected usage of a job, CPU-seconds: two CPUs for a minute.
const EXPECTED: u64 = 120;

/// A project or instance, with its only user.
struct Leaf {
    account: &'static str,
    user: &'static str,
    /// The group, which competes first, and its entitlement, in any unit.
    group: &'static str,
    of_group: u64,
    /// Entitlement within the group, in any unit.
    entitled: u64,
    /// Earlier usage: number of CPUs for some seconds.
    uses: u32,
}

const fn leaf(
    account: &'static str,
    user: &'static str,
    (group, of_group): (&'static str, u64),
    entitled: u64,
    uses: u32,
) -> Leaf {
    Leaf {
        account,
        user,
        group,
        of_group,
        entitled,
        uses,
    }
}

/// Groups of the page, in parts of 75: 3/5 times 2/3 is 30 parts.
const A1: (&str, u64) = ("a_group1", 30);
const A2: (&str, u64) = ("a_group2", 15);
const B1: (&str, u64) = ("b_group1", 12);
const B2: (&str, u64) = ("b_group2", 18);

/// The page's projects: their usage is a tenth of the page's minutes, for ten seconds.
const PROJECTS: [Leaf; 7] = [
    leaf("project_x", "xia", A1, 1, 10),
    leaf("project_y", "yan", A1, 1, 2),
    leaf("project_v", "vic", A2, 1, 4),
    leaf("project_w", "wim", A2, 1, 6),
    leaf("project_m", "mia", B1, 1, 9),
    leaf("project_n", "nia", B2, 1, 3),
    leaf("project_o", "ole", B2, 1, 6),
];

/// Projects of the waiting jobs, oldest first.
const OF_PROJECTS: [usize; 8] = [0, 6, 4, 5, 1, 2, 1, 5];

/// Hubs, groups and projects: the worked example, and who may set shares.
pub fn hubs(check: &Check) -> Result<()> {
    let page = Page::read(page::HUBS)?;
    let mut plan = page.plan(check, "slurm.conf")?;
    one_at_a_time(&mut plan);
    check.in_cluster(&plan, |cluster| {
        page.apply(cluster, "slurm.conf", &[])?;
        fixture::next_pass(cluster)?;
        use_up(check, cluster, &PROJECTS)?;
        let order = started_in_order(check, cluster, &PROJECTS, &OF_PROJECTS)?;
        // Y of group 1 of hub A, then N of group 2 of hub B.
        ensure!(order[..2] == [1, 5], "{order:?}");

        page.run(check, cluster, "Shares, level by level")?;
        page.run(check, cluster, "What a coordinator may change")?;
        page.run(check, cluster, "What is refused")?;
        let sshare = cluster.sshare("Account,User,RawShares")?;
        for (account, shares) in [
            ("hub_a", "3"),
            ("a_group1", "2"),
            ("a_group2", "2"),
            ("b_group1", "2"),
            ("project_x", "3"),
        ] {
            let found = sshare.find("Account", account)?.text("RawShares")?;
            ensure!(found == shares, "{account} has {found} shares");
        }
        page.done()
    })
}

/// The page's instances, by their minutes.
const INSTANCES: [Leaf; 4] = [
    leaf("lab_1", "ann", ("lab_1", 400), 1, 0),
    leaf("lab_2", "bob", ("lab_2", 200), 1, 0),
    leaf("shop_1", "cyd", ("shop_1", 400), 1, 12),
    leaf("zeta_flex", "dan", ("zeta_flex", 10_000), 1, 20),
];

/// Instances of the waiting jobs: the same number for both instances of the lab, and others.
const OF_INSTANCES: [usize; 8] = [1, 0, 1, 0, 0, 0, 2, 3];

/// Instances with minutes, in a window and in total.
pub fn instances(check: &Check) -> Result<()> {
    let page = Page::read(page::INSTANCES)?;
    let mut plan = page.plan(check, "slurm.conf")?;
    one_at_a_time(&mut plan);
    check.in_cluster(&plan, |cluster| {
        page.apply(cluster, "slurm.conf", &[])?;
        fixture::next_pass(cluster)?;
        use_up(check, cluster, &INSTANCES)?;
        page.run(check, cluster, "A limit beside it")?;
        let order = started_in_order(check, cluster, &INSTANCES, &OF_INSTANCES)?;
        // Twice the minutes give twice the work while both have jobs.
        let of_lab: Vec<usize> = order.into_iter().filter(|leaf| *leaf < 2).collect();
        ensure!(of_lab == [1, 0, 0, 1, 0, 0], "{of_lab:?}");
        page.done()
    })
}

/// Jobs take turns, on two CPUs: they use little meanwhile.
fn one_at_a_time(plan: &mut Plan) {
    plan.settings.push(("Licenses", "turn:1".to_owned()));
}

/// Runs a job in each leaf on its number of CPUs, for ten seconds.
fn use_up(check: &Check, cluster: &Cluster, leaves: &[Leaf]) -> Result<()> {
    check.step("use");
    drain(cluster)?;
    let mut ids = Vec::new();
    for leaf in leaves.iter().filter(|leaf| leaf.uses > 0) {
        ids.push(cluster.submit(&job(leaf.user, leaf.account, leaf.uses, 10))?);
    }
    resume(cluster)?;
    starts(cluster, &ids)?;
    drain(cluster)?;
    fixture::next_pass(cluster)
}

/// Checks that jobs wait and start in the picked order; returns their leaves in that order.
fn started_in_order(
    check: &Check,
    cluster: &mut Cluster,
    leaves: &[Leaf],
    submitted: &[usize],
) -> Result<Vec<usize>> {
    check.step("jobs wait");
    let mut jobs = Vec::new();
    for &leaf in submitted {
        let mut job = job(leaves[leaf].user, leaves[leaf].account, 2, 1);
        job.options.push("--licenses=turn:1".to_owned());
        jobs.push((cluster.submit(&job)?, leaf));
    }
    let picked = picked(&used(cluster, leaves)?, leaves, &jobs)?;
    let expected: Vec<u32> = picked.iter().map(|(id, _)| *id).collect();
    fixture::next_pass(cluster)?;
    waits_in_order(cluster, &expected)?;

    check.step("they start");
    // No pass comes in between: real usage counts less than expected usage.
    let parameters = cluster.conf().get("PriorityParameters");
    let parameters = parameters.context("PriorityParameters")?;
    let rare = parameters.replace(&format!("calc_period={PERIOD}"), "calc_period=86400");
    cluster.conf_mut().set("PriorityParameters", rare);
    cluster.reconfigure()?;
    resume(cluster)?;
    let found = starts(cluster, &expected)?;
    ensure!(found == expected, "started {found:?}, not {expected:?}");
    Ok(picked.into_iter().map(|(_, leaf)| leaf).collect())
}

/// Raw usage of each leaf, CPU-seconds.
fn used(cluster: &Cluster, leaves: &[Leaf]) -> Result<Vec<u64>> {
    let sshare = cluster.sshare("Account,RawUsage")?;
    let used = |leaf: &Leaf| sshare.find("Account", leaf.account)?.get("RawUsage");
    leaves.iter().map(used).collect()
}

/// Picks the group with the least usage relative to its entitlement, in it the leaf by the same
/// rule, and its oldest job; charges that job; and repeats.
fn picked(used: &[u64], leaves: &[Leaf], jobs: &[(u32, usize)]) -> Result<Vec<(u32, usize)>> {
    let (mut used, mut left, mut order) = (used.to_vec(), jobs.to_vec(), Vec::new());
    // A multiple of all entitlements: ratios are whole numbers.
    const SCALE: u64 = 18_000_000;
    while !left.is_empty() {
        let of_group = |leaf: usize| -> u64 {
            let all = leaves.iter().zip(&used);
            let below = all.filter(|(other, _)| other.group == leaves[leaf].group);
            below.map(|(_, used)| used).sum()
        };
        let oldest =
            (0..leaves.len()).filter_map(|leaf| left.iter().copied().find(|(_, of)| *of == leaf));
        let best_of_group = |job: &(u32, usize)| {
            let group = leaves[job.1].group;
            let competitors = oldest
                .clone()
                .filter(|other| leaves[other.1].group == group);
            competitors.min_by_key(|job| (used[job.1] * SCALE / leaves[job.1].entitled, job.0))
        };
        let best = oldest
            .clone()
            .filter(|job| best_of_group(job) == Some(*job));
        let best = best.min_by_key(|job| (of_group(job.1) * SCALE / leaves[job.1].of_group, job.0));
        let (id, leaf) = best.context("a job")?;
        left.retain(|(other, _)| *other != id);
        used[leaf] += EXPECTED;
        order.push((id, leaf));
    }
    Ok(order)
}
