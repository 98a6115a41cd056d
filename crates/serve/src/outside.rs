//! Changes of shares that were made without a plan, by the transactions of slurmdbd.

use std::time::Duration;

use fairtree::tree::AssocIndex;
use fairtree_analysis::plan::word;
use fairtree_model::cluster::{AssocName, Names};
use fairtree_model::input::LeftOut;
use fairtree_model::input::capture::Ask;
use fairtree_model::input::slurm::transactions::{FORMAT, SharesGiven, read};

use crate::pages;
use crate::picture::Picture;
use crate::store::{Recorded, Store};

/// How far back the first question goes, seconds.
const FIRST_SECS: i64 = 86_400;

/// Later questions overlap by this time, seconds.
const OVERLAP_SECS: i64 = 600;

/// Asks slurmdbd for transactions and keeps those that are new. `before`: the picture from before the changes,
/// which has the shares then; `after`: one from after them.
///
/// # Errors
/// A sentence: slurmdbd does not answer, or the database does not take it.
pub fn follow(
    store: &Store,
    before: Option<&Picture>,
    after: &Picture,
    limit: Duration,
) -> Result<(), String> {
    let first_line = |error: &dyn std::fmt::Display| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let last = store.last_outside().map_err(|error| first_line(&error))?;
    let since = last.unwrap_or(after.time() - FIRST_SECS).min(pages::now()) - OVERLAP_SECS;
    let since = jiff::Timestamp::from_second(since.max(0)).unwrap_or_default();
    let start = format!("start={}", since.strftime("%Y-%m-%dT%H:%M:%S"));
    let cluster = after.manifest.cluster.as_ref();
    let cluster = cluster.map(|cluster| format!("cluster={cluster}"));
    let mut words = vec![
        "sacctmgr",
        "-P",
        "show",
        "transactions",
        "withassocinfo",
        &start,
        FORMAT,
    ];
    words.extend(cluster.as_deref());
    let ask = Ask::new(&words, limit).with_time_format("%s".to_owned());
    let answered = ask.run().map_err(|error| first_line(&error))?;
    let mut left = LeftOut::default();
    let given = read("sacctmgr show transactions", &answered.text, &mut left);
    let given = given.map_err(|error| first_line(&error.explained()))?;
    let changes: Vec<Recorded> = given
        .iter()
        .flat_map(|given| recorded(given, before.unwrap_or(after), after))
        .collect();
    let new = store.outside(&changes);
    for change in new.map_err(|error| first_line(&error))? {
        log_line!(
            "fairtree-serve: change: from outside by {}: {}: {} -> {}",
            change.actor.escape_debug(),
            change.name.escape_debug(),
            change.before.as_deref().unwrap_or("not known"),
            change.after
        );
    }
    Ok(())
}

/// The changes of a transaction, one for each association.
fn recorded(given: &SharesGiven, before: &Picture, after: &Picture) -> Vec<Recorded> {
    let users: Vec<Option<&String>> = match given.users.is_empty() {
        true => vec![None],
        false => given.users.iter().map(Some).collect(),
    };
    let pairs = given
        .accounts
        .iter()
        .flat_map(|account| users.iter().map(move |user| (account, *user)));
    let recorded = pairs.filter_map(|(account, user)| {
        let at = find(after, account, user)?;
        let then = find(before, account, user);
        let then = then.map(|at| word(before.cluster.tree().rows()[at.get()].shares));
        let now = word(given.shares);
        Some(Recorded {
            time: given.time,
            actor: given.actor.clone(),
            name: after.cluster.assoc(at),
            // A later picture has the new shares already.
            before: then.filter(|then| *then != now),
            after: now,
            outcome: "outside".to_owned(),
            plan: None,
        })
    });
    recorded.collect()
}

/// The association of an account, or of a user in it.
fn find(picture: &Picture, account: &str, user: Option<&String>) -> Option<AssocIndex> {
    match user {
        None => picture.account(account),
        Some(user) => {
            let name = AssocName {
                account: account.to_owned(),
                user: Some(user.clone()),
                partition: None,
            };
            picture.cluster.find_any(&name.to_string()).ok()
        }
    }
}
