//! A random cluster: TRES, QOS, partitions and the tree of associations.

use super::draw::Draw;
use super::life::Life;
use super::settings;

/// The objects to which the events of a life can refer.
pub struct Inventory {
    /// QOS ids; 0 is no QOS.
    pub qos: Vec<u32>,
    /// Partition names.
    pub parts: Vec<String>,
    /// Ids of accounts, the root first.
    pub accounts: Vec<u32>,
    /// Ids of user associations.
    pub users: Vec<u32>,
    /// The next free association id.
    pub next_assoc: u32,
}

/// Shares of one association, with frequent ties and zeros.
pub fn shares(draw: &mut Draw) -> String {
    match draw.weighted(&[40, 25, 10, 15, 10]) {
        0 => "1".to_owned(),
        1 => draw.between(1, 100).to_string(),
        2 => "0".to_owned(),
        3 => "parent".to_owned(),
        _ => draw.magnitude(100_000).to_string(),
    }
}

fn qos(draw: &mut Draw, life: &mut Life) -> Vec<u32> {
    let count = draw.between(0, 5);
    for id in 1..=count {
        let factor = draw.pick(&["1", "1", "0", "0.5", "0.1", "2", "1.7"]);
        let mut line = format!("qos {id} prio={} factor={factor}", draw.magnitude(1000));
        if draw.chance(25) {
            line.push_str(" nodecay=1");
        }
        life.push(line);
    }
    (0..=count)
        .filter_map(|id| u32::try_from(id).ok())
        .collect()
}

fn parts(draw: &mut Draw, life: &mut Life, qos: &[u32]) -> Vec<String> {
    let count = draw.between(1, 4);
    let names: Vec<String> = (1..=count).map(|number| format!("p{number}")).collect();
    for name in &names {
        let mut line = format!(
            "part {name} factor={} tier={} cpu={} node={} mem={}",
            draw.magnitude(1000),
            draw.between(0, 2),
            draw.between(1, 2000),
            draw.between(1, 100),
            draw.between(0, 1_000_000),
        );
        if draw.chance(50) {
            line.push_str(&format!(" gres/gpu={}", draw.between(0, 64)));
        }
        if draw.chance(70) {
            line.push_str(&format!(" maxtime={}", draw.between(1, 10_000)));
        }
        if draw.chance(30) {
            line.push_str(&format!(" qos={}", draw.one_of(qos)));
        }
        if draw.chance(60) {
            line.push_str(draw.pick(&[
                " weights=cpu=1.0,mem=0.25,gres/gpu=2.0",
                " weights=cpu=0.3,node=7",
                " weights=mem=0.001",
                " weights=gres/gpu=1.5,cpu=0",
            ]));
        }
        life.push(line);
    }
    names
}

/// The parent of a new account: often a recent one, so that trees grow deep.
fn parent(draw: &mut Draw, accounts: &[u32]) -> u32 {
    if draw.chance(40) {
        accounts[accounts.len() - 1]
    } else {
        draw.one_of(accounts)
    }
}

fn assoc_priority(draw: &mut Draw) -> String {
    if draw.chance(30) {
        format!(" prio={}", draw.magnitude(1000))
    } else {
        String::new()
    }
}

fn associations(draw: &mut Draw, life: &mut Life, limit: u32) -> (Vec<u32>, Vec<u32>) {
    let (mut accounts, mut users) = (vec![1], vec![]);
    life.push(format!(
        "assoc 1 acct=root shares=1{}",
        assoc_priority(draw)
    ));
    let root_user = draw.chance(50);
    for id in 2..=limit {
        let shares = shares(draw);
        let priority = assoc_priority(draw);
        if draw.chance(30) {
            let parent = parent(draw, &accounts);
            life.push(format!(
                "assoc {id} acct=a{id} parent={parent} shares={shares}{priority}"
            ));
            accounts.push(id);
        } else {
            let parent = draw.one_of(&accounts);
            if parent == 1 && !root_user {
                continue;
            }
            let acct = account_name(parent);
            let user = draw.between(1, i64::from(limit) / 2 + 1);
            // One row per user, account and partition: the id keeps the partition unique.
            life.push(format!(
                "assoc {id} acct={acct} user=u{user} part=x{id} parent={parent} shares={shares}{priority}"
            ));
            users.push(id);
        }
    }
    (accounts, users)
}

/// The name of the account with an id.
pub fn account_name(id: u32) -> String {
    if id == 1 {
        "root".to_owned()
    } else {
        format!("a{id}")
    }
}

fn first_usage(draw: &mut Draw, life: &mut Life, users: &[u32]) {
    for id in users {
        if draw.chance(50) {
            let raw = match draw.weighted(&[60, 20, 20]) {
                0 => draw.magnitude(1_000_000_000).to_string(),
                1 => "1000".to_owned(),
                _ => format!("{}.25", draw.magnitude(1000)),
            };
            life.push(format!(
                "usage {id} raw={raw} wall={}",
                draw.magnitude(100_000)
            ));
        }
    }
}

/// Writes the definitions of a cluster and its `boot`.
pub fn build(draw: &mut Draw, life: &mut Life, assocs: u32) -> Inventory {
    life.push(format!(
        "clock {}",
        1_700_000_000 + draw.between(0, 40_000_000)
    ));
    life.push(format!(
        "zone {}",
        draw.pick(&["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
    ));
    life.push(format!(
        "cluster cpus={} nodes={}",
        draw.between(1, 4000),
        draw.between(1, 200)
    ));
    for setting in settings::initial(draw) {
        life.push(format!("conf {setting}"));
    }
    life.push("tres gres/gpu");
    let qos = qos(draw, life);
    let parts = parts(draw, life, &qos);
    let (accounts, users) = associations(draw, life, assocs);
    if draw.chance(70) {
        first_usage(draw, life, &users);
    }
    life.push("boot");
    Inventory {
        qos,
        parts,
        accounts,
        users,
        next_assoc: assocs + 1,
    }
}
