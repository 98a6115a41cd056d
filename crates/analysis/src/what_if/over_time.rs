//! A site with and without changes after some time, by simulation from the same present state.

use std::collections::{BTreeSet, HashMap};

use super::meanwhile::{Meanwhile, StartCount, StartMove, Started};
use super::moves::{self, Seen};
use super::passing::{Passed, pass, requests};
use super::standing::{associations, queue};
use super::{SiteChange, WhatIf, WhatIfError, apply};
use crate::forecast::{Asked, Pattern};
use fairtree::config::{Order, UsageModel};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, ClusterJob};

const WEEK_SECS: i64 = 7 * 24 * 3600;

/// Why the time that passes is not simulated under these settings of a site, in a sentence without a
/// capital; `None`: it can be.
pub fn not_simulated(cluster: &Cluster, changes: &[SiteChange]) -> Option<String> {
    let changed = changes.iter().filter_map(|change| match change {
        SiteChange::Settings(config, _) => Some(&**config),
        _ => None,
    });
    for config in changed.chain([&cluster.config]) {
        if config.order() != Order::Weighted {
            return Some("a simulation does not follow order=".to_owned());
        }
        if config.usage() != UsageModel::HalfLife {
            return Some(format!(
                "a simulation does not follow usage={}",
                config.usage()
            ));
        }
    }
    None
}

/// Compares a cluster after some time with itself after the same time and `changes`, which have a time that
/// passes: both are simulated from the same present state with the same seeds. Where nothing but time
/// changes, with the cluster as it is. Stops where `go_on` says no.
///
/// # Errors
/// As [`super::compare`]; [`WhatIfError::Unpriced`] for settings that cannot be simulated,
/// [`WhatIfError::Stopped`] where `go_on` said no before there was anything to compare.
pub fn compare_over_time(
    asked: &Asked<'_>,
    changes: Vec<SiteChange>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<WhatIf, WhatIfError> {
    let before = asked.cluster;
    let mut after = before.clone();
    let (mut secs, mut both) = (0, false);
    for change in &changes {
        match change {
            SiteChange::After(more) => secs += i64::from(*more),
            other => {
                apply::apply(&mut after, other)?;
                both = true;
            }
        }
    }
    apply::normalise(&mut after);
    after.rank();
    let until = asked.now.saturating_add(secs);
    let mut complete = true;
    let mut go_on = || {
        complete = complete && go_on();
        complete
    };
    let present = requests(before, &after, asked);
    let new = pass(asked, &after, &present, until, None, &mut go_on)?;
    let old = match both {
        true => {
            let draws = Some(new.draws);
            Some(pass(
                asked,
                before,
                asked.present,
                until,
                draws,
                &mut go_on,
            )?)
        }
        false => None,
    };
    let meanwhile = meanwhile(
        asked,
        until,
        (before, old.as_ref()),
        (&after, &new),
        complete,
    );
    let assumptions = assumptions(asked, &new, &meanwhile);
    let side = match old {
        Some(old) => Seen {
            now: Some(until),
            ..seen(before, old)
        },
        None => Seen {
            cluster: before,
            now: before.now(),
            assocs: associations(before),
            queue: before.jobs.as_ref().map(|_| queue(before)).transpose()?,
        },
    };
    let new = Seen {
        now: Some(until),
        ..seen(&after, new)
    };
    let mut what_if = moves::moves(side, new, changes, assumptions);
    what_if.meanwhile = Some(meanwhile);
    Ok(what_if)
}

fn seen(cluster: &Cluster, passed: Passed) -> Seen<'_> {
    Seen {
        cluster,
        now: None,
        assocs: passed.assocs,
        queue: passed.queue,
    }
}

/// Assumptions about the time that passes, one sentence each.
fn assumptions(asked: &Asked<'_>, passed: &Passed, meanwhile: &Meanwhile) -> Vec<String> {
    let mut said = Vec::new();
    let figures = match meanwhile.draws {
        1 => "",
        _ => "; each figure is the median of the simulations",
    };
    said.push(match meanwhile.run_times {
        Pattern::History => format!(
            "while the time passes jobs run as long as past jobs of their users did, and others come as in \
             earlier weeks{figures}"
        ),
        Pattern::TooShort | Pattern::Limits | Pattern::Planned => {
            "while the time passes jobs run to their time limits, and none comes".to_owned()
        }
    });
    if meanwhile.run_times == Pattern::History && meanwhile.past_weeks == 0 {
        said.push("the past is shorter than a week: no other jobs come".to_owned());
    }
    if meanwhile.past_weeks > 0 && meanwhile.until - meanwhile.from > WEEK_SECS {
        said.push("other jobs come in the first 7 days only".to_owned());
    }
    said.extend(passed.notes.iter().cloned());
    let not_modelled = asked.machine.not_modelled.iter();
    said.extend(not_modelled.map(|what| format!("{what} is not modelled")));
    said
}

fn meanwhile(
    asked: &Asked<'_>,
    until: i64,
    (before, old): (&Cluster, Option<&Passed>),
    (after, new): (&Cluster, &Passed),
    complete: bool,
) -> Meanwhile {
    Meanwhile {
        from: asked.now,
        until,
        both: old.is_some(),
        draws: new.draws,
        seed: asked.making.seed,
        run_times: new.run_times,
        past_jobs: new.past_jobs,
        past_weeks: new.past_weeks,
        complete,
        jobs: starts((before, old), (after, new)),
        counts: counts((before, old), (after, new)),
    }
}

/// The jobs that start in some simulation, by number.
fn starts(
    (before, old): (&Cluster, Option<&Passed>),
    (after, new): (&Cluster, &Passed),
) -> Vec<StartMove> {
    let sides = old.into_iter().chain([new]);
    let started = sides.flat_map(|side| {
        let starts = side.starts.iter();
        starts.filter(|(_, draws)| draws.iter().any(|(part, _)| *part > 0.0))
    });
    let ids: BTreeSet<u32> = started.map(|(id, _)| *id).collect();
    let rows = |cluster: &Cluster| -> HashMap<u32, ClusterJob> {
        let jobs = cluster.jobs().iter();
        let wanted = jobs.filter(|job| ids.contains(&job.job.id));
        wanted.map(|job| (job.job.id, job.clone())).collect()
    };
    let mut jobs = rows(before);
    jobs.extend(rows(after));
    let row = |id: &u32| {
        let job = jobs.get(id)?;
        let side = |side: &Passed| {
            let draws = side.starts.get(id)?;
            Some(Started {
                held: side.holds(*id),
                ..Started::of(draws)
            })
        };
        let (before, after) = (old.and_then(side), side(new));
        let start = |side: Option<Started>| side.and_then(|side| side.start);
        let starts = start(before).zip(start(after));
        Some(StartMove {
            job_id: *id,
            tasks: job.array.as_ref().map(|(_, tasks)| tasks.to_string()),
            user: job.user.to_string(),
            account: job.account.as_ref().map(ToString::to_string),
            before,
            after,
            earlier_seconds: starts.map(|(before, after)| before - after),
        })
    };
    ids.iter().filter_map(row).collect()
}

/// Accounts and users of which jobs started.
fn counts(
    (before, old): (&Cluster, Option<&Passed>),
    (after, new): (&Cluster, &Passed),
) -> Vec<StartCount> {
    let names = |cluster: &Cluster| -> Vec<(String, bool)> {
        let all = cluster.tree().indices();
        all.map(|index| (cluster.name(index).to_string(), cluster.is_user(index)))
            .collect()
    };
    let (old_names, new_names) = (names(before), names(after));
    let mut places: HashMap<&(String, bool), usize> = HashMap::new();
    for (at, name) in old_names.iter().enumerate() {
        places.entry(name).or_insert(at);
    }
    let is_root =
        |cluster: &Cluster, at: usize| cluster.tree().parent(AssocIndex::new(at)).is_none();
    let any = |counts: Option<&[f64]>| counts.is_some_and(|own| own.iter().any(|n| *n > 0.0));
    let mut rows = Vec::new();
    let mut push = |name: &(String, bool), before: Option<&[f64]>, after: Option<&[f64]>| {
        if any(before) || any(after) {
            let (name, is_user) = name.clone();
            rows.push(StartCount::of(name, is_user, before, after));
        }
    };
    for (at, name) in new_names.iter().enumerate() {
        let was = places.remove(name);
        if !is_root(after, at) {
            let before = old.zip(was).map(|(old, was)| &old.counts[was][..]);
            push(name, before, Some(&new.counts[at]));
        }
    }
    // Those that are gone.
    let mut gone: Vec<usize> = places.into_values().collect();
    gone.sort_unstable();
    for at in gone {
        push(&old_names[at], old.map(|old| &old.counts[at][..]), None);
    }
    rows
}
