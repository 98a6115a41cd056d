//! Changes of accounts by administrators while passes run.

use anyhow::{Context, Result, bail, ensure};

use super::Life;
use super::ledger::ClusterRuns;
use super::watch;
use crate::checks::fixture::{DEADLINE, job};
use crate::cluster::client::NewJob;
use crate::cluster::table::{Row, Table};
use crate::wait;

/// Gives users in several accounts a fixed default account.
pub fn prepare(life: &Life) -> Result<()> {
    let ann = &life.cluster.user("ann")?.name;
    life.sacctmgr(&["modify", "user", ann, "set", "defaultaccount=phys"])
}

/// Runs jobs of every user, so that no two accounts have the same usage.
pub fn use_all(life: &mut Life) -> Result<()> {
    for (user, account, cpus, secs) in [
        ("ann", "phys", 1, 3),
        ("bob", "phys", 5, 2),
        ("cyd", "bio", 7, 3),
        ("eve", "chem", 3, 2),
    ] {
        run(life, user, account, cpus, secs)?;
    }
    Ok(())
}

/// Submits a job and waits until it is over.
pub fn run(life: &Life, user: &str, account: &str, cpus: u32, secs: u32) -> Result<()> {
    let new = NewJob {
        cpus,
        ..job(user, account, secs)
    };
    let id = accepted(life, &new)?;
    let end = watch::becomes(life.cluster, id, "is over", watch::Look::is_over)?;
    if end.state != "COMPLETED" {
        bail!("job {id} of {user} in {account}: {end:?}");
    }
    Ok(())
}

/// Submits again until slurmctld knows the association.
pub fn accepted(life: &Life, new: &NewJob) -> Result<u32> {
    let mut refused = String::new();
    wait::until("the job is accepted", DEADLINE, || {
        let answer = life.cluster.submit(new);
        Ok(answer.map_err(|error| refused = format!("{error:#}")).ok())
    })
    .with_context(|| refused.clone())
}

/// Adds, moves and removes accounts and users.
pub fn accounts(life: &mut Life) -> Result<()> {
    life.check.step("accounts that come, move and go");
    let name = |life: &Life, short: &str| -> Result<String> {
        Ok(format!("name={}", life.cluster.user(short)?.name))
    };
    let (eve, bob, ann) = (name(life, "eve")?, name(life, "bob")?, name(life, "ann")?);
    run(life, "ann", "bio", 2, 2)?;
    change(life, &["add", "account", "guests", "fairshare=7"])?;
    change(
        life,
        &["add", "user", &eve, "account=guests", "fairshare=2"],
    )?;
    run(life, "eve", "guests", 4, 2)?;
    change(life, &["modify", "account", "guests", "set", "parent=phys"])?;
    run(life, "eve", "guests", 2, 1)?;
    change(
        life,
        &["modify", "user", "where", &bob, "set", "fairshare=9"],
    )?;
    change(
        life,
        &["modify", "account", "bio", "set", "fairshare=parent"],
    )?;
    run(life, "ann", "bio", 1, 2)?;
    change(life, &["modify", "account", "bio", "set", "fairshare=6"])?;
    change(life, &["remove", "user", "where", &ann, "account=bio"])?;
    change(life, &["remove", "account", "guests"])?;
    run(life, "cyd", "bio", 1, 1)
}

/// Runs sacctmgr and adds the changes of the tree to the story.
fn change(life: &mut Life, words: &[&str]) -> Result<()> {
    let before = tree(life)?;
    life.sacctmgr(words)?;
    let what = format!("sacctmgr {}", words.join(" "));
    let after = wait::until(&format!("the effect of {what}"), DEADLINE, || {
        let after = tree(life)?;
        Ok((after != before && tree(life)? == after).then_some(after))
    })?;
    let what = life.plain(&what);
    life.tell(what);
    for row in after {
        life.tell(row);
    }
    Ok(())
}

/// Names and shares, as sshare prints them.
fn tree(life: &Life) -> Result<Vec<String>> {
    let table = life.cluster.sshare("Account,User,RawShares,NormShares")?;
    let row = |row: &Row| -> Result<String> {
        let text = |name| row.text(name).map(str::to_owned);
        let user = life.plain(&text("User")?);
        Ok(format!(
            "  {} {user} {} {}",
            text("Account")?,
            text("RawShares")?,
            text("NormShares")?
        ))
    };
    table.rows().iter().map(row).collect()
}

/// Accounts, and the used association that was removed below each.
const HEIRS: [(&str, Option<(&str, &str)>); 4] = [
    ("root", None),
    ("phys", Some(("guests", "eve"))),
    ("bio", Some(("bio", "ann"))),
    ("chem", None),
];

/// Usage of an account beyond that of its associations must come from removed associations.
///
/// Call it before slurmdbd stops. Once slurmdbd is back, slurmctld itself, with any plugin, counts
/// the usage of the root twice, and loses the usage of removed users at its next start.
pub fn ensure_heritage(life: &Life, ledger: &ClusterRuns) -> Result<()> {
    let sshare = life.cluster.sshare("Account,User,RawUsage")?;
    for (account, removed) in HEIRS {
        let kept = unexplained(&sshare, account)?;
        let left = match removed {
            None => 0,
            Some((of, short)) => ledger.used_by(of, &life.cluster.user(short)?.name),
        };
        ensure!(
            kept == left,
            "{account} has {kept} more than what is below it; {removed:?} has left {left}"
        );
    }
    Ok(())
}

/// `RawUsage` of an account minus that of its direct children.
fn unexplained(sshare: &Table, account: &str) -> Result<i64> {
    let depth = |row: &Row| -> Result<usize> {
        let name = row.text("Account")?;
        Ok(name.len() - name.trim_start().len())
    };
    let mut rows = sshare.rows().iter().skip_while(|row| {
        let is_account = row.text("User").is_ok_and(|user| user.trim().is_empty());
        !(is_account && row.text("Account").is_ok_and(|name| name.trim() == account))
    });
    let own = rows.next().with_context(|| format!("no {account}"))?;
    let level = depth(own)?;
    let mut left: i64 = own.get("RawUsage")?;
    for row in rows {
        match depth(row)? {
            deeper if deeper == level + 1 => left -= row.get::<i64>("RawUsage")?,
            deeper if deeper > level => {}
            _ => break,
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_may_have_more_than_its_users() {
        let text = "Account|User|RawUsage\nroot||30\n root|root|0\n a||20\n  a|u|5\n  b||12\n   \
                    b|u|12\n c||10\n  c|u|10\n";
        let sshare = Table::parse(text).unwrap();
        assert_eq!(unexplained(&sshare, "a").unwrap(), 3);
        assert_eq!(unexplained(&sshare, "root").unwrap(), 0);
    }
}
