//! A point's settings as what a site would change.

use std::collections::BTreeMap;

/// Lines of slurm.conf for a point, then commands of sacctmgr, then what is neither, as comments. Of a point
/// without any of these: its scheduler and processors, as comments.
pub fn lines(settings: &BTreeMap<String, String>) -> Vec<String> {
    let (mut conf, mut commands, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in settings {
        let (kind, of) = name.split_once('.').unwrap_or((name, ""));
        let who = || {
            let (user, account) = of.split_once('@').unwrap_or(("", of));
            match user {
                "" => format!("account {account}"),
                user => format!("user {user} account={account}"),
            }
        };
        match kind {
            "set" => conf.push(format!("{of}={value}")),
            "partition_factor" => {
                others.push(format!("# PartitionName={of}: PriorityJobFactor={value}"));
            }
            "shares" => commands.push(format!(
                "sacctmgr modify {} set fairshare={value}",
                modified(&who())
            )),
            "assoc_priority" => commands.push(format!(
                "sacctmgr modify {} set priority={value}",
                modified(&who())
            )),
            "qos_priority" => {
                commands.push(format!("sacctmgr modify qos {of} set priority={value}"));
            }
            "usage_factor" => {
                commands.push(format!("sacctmgr modify qos {of} set usagefactor={value}"));
            }
            "parent" => commands.push(format!("sacctmgr modify account {of} set parent={value}")),
            "policy" => conf.push(format!("PriorityParameters=policy={value}")),
            "slurm_conf" => others.push(format!("# settings, nodes and partitions of {value}")),
            "nodes" => others.push(format!("# {value} nodes in partition {of}")),
            // The rules of the simulation are no settings of a site.
            _ => {}
        }
    }
    if conf.is_empty() && commands.is_empty() && others.is_empty() {
        // On a pool, the rules of the simulation are all that there is.
        let rules = settings.iter();
        return rules
            .map(|(name, value)| format!("# {name}: {value}"))
            .collect();
    }
    conf.into_iter().chain(commands).chain(others).collect()
}

/// `where` of sacctmgr: a name of one kind, then conditions.
fn modified(who: &str) -> String {
    match who.split_once(" account=") {
        Some((user, account)) => format!("{user} where account={account}"),
        None => who.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // sacctmgr(1).
    #[test]
    fn settings_are_what_a_site_would_change() {
        let pairs = [
            ("scheduler", "slurm"),
            ("set.PriorityWeightAge", "5"),
            ("shares.ann@a", "3"),
            ("shares.a", "7"),
            ("nodes.main", "9"),
        ];
        let pairs = pairs.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(
            lines(&pairs.into_iter().collect()),
            [
                "PriorityWeightAge=5",
                "sacctmgr modify account a set fairshare=7",
                "sacctmgr modify user ann where account=a set fairshare=3",
                "# 9 nodes in partition main",
            ]
        );
        let pool = [("scheduler", "easy"), ("procs", "64")];
        let pool = pool.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(
            lines(&pool.into_iter().collect()),
            ["# procs: 64", "# scheduler: easy"]
        );
    }
}
