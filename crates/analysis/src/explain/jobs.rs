//! Why one job comes before another.

use std::cmp::Ordering;

use serde::Serialize;

use super::entry::{Duel, Entry, Trial, meet, pricer};
use super::job::explain;
use super::remedy::{Goal, Search};
use super::search::least;
use super::trial_site::Variation;
use super::users::describe;
use super::{
    Answer, ExplainError, Explained, JobExplanation, RankedSite, Remedy, RemedyKind, Side,
    TermName, UsersCompared,
};
use fairtree::priority::Job;
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Names;

/// One term of both jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TermDifference {
    /// Which one.
    pub name: TermName,
    /// Points of the two.
    pub points: [f64; 2],
    /// The first one's less the second one's.
    pub difference: f64,
    /// One of the fewest, largest terms for the job ahead that together outweigh all that speaks
    /// for the other. None decides where no terms do: a job held, set by hand, or equal.
    pub decides: bool,
}

/// Two jobs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobsCompared {
    /// The two, in the order of the question. Jobs with several partitions or QOS are compared in
    /// a partition that both asked for, or else as their best variants.
    pub jobs: [JobExplanation; 2],
    /// Which has the higher priority; `None`: equal.
    pub ahead: Option<Side>,
    /// Which comes first in the queue: the one ahead, of equals the lower job number. Partition
    /// tiers, reservations and preemption are outside priorities.
    pub first: Side,
    /// Term by term, in Slurm's order of additions.
    pub terms: Vec<TermDifference>,
    /// Fair share of the two users, without remedies; `None` where both are the same or one job
    /// has no user.
    pub users: Option<UsersCompared>,
    /// Which job comes first after a remedy: the one that does not now.
    pub moves: Side,
    /// Changes that would give `moves` the strictly higher priority. Empty for a job that is held
    /// or whose priority was set by hand: releasing it comes first.
    pub remedies: Vec<Remedy>,
}

/// Compares two different jobs, and finds what would change their order.
///
/// # Errors
/// [`ExplainError::SameJob`], [`ExplainError::Length`] for tables that do not belong together, and
/// [`ExplainError::Priority`] for settings or jobs that cannot be priced.
pub fn compare_jobs(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    jobs: [&Job; 2],
) -> Result<JobsCompared, ExplainError> {
    ranked.check()?;
    if jobs[0].id == jobs[1].id {
        return Err(ExplainError::SameJob { id: jobs[0].id });
    }
    let pricer = pricer(ranked, &jobs)?;
    let entries = meet(&pricer, jobs);
    let explained = entries.map(|entry| explain(ranked, names, &pricer, &entry));
    let ahead = match explained[0].priority.cmp(&explained[1].priority) {
        Ordering::Greater => Some(Side::First),
        Ordering::Less => Some(Side::Second),
        Ordering::Equal => None,
    };
    let by_number = if jobs[0].id < jobs[1].id {
        Side::First
    } else {
        Side::Second
    };
    let first = ahead.unwrap_or(by_number);
    let users = match [jobs[0].assoc, jobs[1].assoc] {
        [Some(a), Some(b)] if a != b && ranked.is_user(a) && ranked.is_user(b) => Some([a, b]),
        _ => None,
    };
    let moves = first.other();
    let terms = differences(&explained, ahead);
    let remedies = match moves.of(&explained).state {
        Explained::Held | Explained::Direct | Explained::Running => Vec::new(),
        Explained::Computed | Explained::Kept => {
            remedies(ranked, names, entries, users, moves.position())
        }
    };
    Ok(JobsCompared {
        jobs: explained,
        ahead,
        first,
        terms,
        users: users.map(|users| describe(ranked, names, users).0),
        moves,
        remedies,
    })
}

/// Term by term, and which of them decide.
pub(super) fn differences(jobs: &[JobExplanation; 2], ahead: Option<Side>) -> Vec<TermDifference> {
    let pairs = jobs[0].terms.iter().zip(&jobs[1].terms);
    let mut terms: Vec<TermDifference> = pairs
        .map(|(a, b)| TermDifference {
            name: a.name.clone(),
            points: [a.points, b.points],
            difference: a.points - b.points,
            decides: false,
        })
        .collect();
    let by_terms = jobs.iter().all(|job| job.state == Explained::Computed);
    let Some(ahead) = ahead.filter(|_| by_terms) else {
        return terms;
    };
    let sign = match ahead {
        Side::First => 1.0,
        Side::Second => -1.0,
    };
    let mut against: f64 = 0.0;
    let mut speaks_for: Vec<(f64, usize)> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let gain = term.difference * sign;
        if gain > 0.0 {
            speaks_for.push((gain, at));
        } else {
            against -= gain;
        }
    }
    speaks_for.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut weighed = 0.0;
    for (gain, at) in speaks_for {
        if weighed > against {
            break;
        }
        weighed += gain;
        terms[at].decides = true;
    }
    terms
}

/// All remedies for the entry at position `moves`.
fn remedies(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    entries: [Entry; 2],
    users: Option<[AssocIndex; 2]>,
    moves: usize,
) -> Vec<Remedy> {
    let mut duel = Duel::new(ranked, entries);
    let mut remedies = Vec::new();
    let job = &entries[moves].job;
    if ranked.config.priority_weight_age > 0 {
        remedies.push(waiting(ranked, &mut duel, job, moves));
    }
    remedies.push(lower_nice(&mut duel, job, moves));
    if ranked.config.priority_weight_fairshare > 0 {
        remedies.extend(by_fairshare(ranked, names, entries, users, moves));
    }
    remedies
}

/// Returns true if the job at position `moves` gets a strictly higher priority.
fn wins(duel: &mut Duel<'_>, moves: usize, trial: Trial) -> bool {
    let priorities = duel.priorities(trial);
    priorities[moves] > priorities[1 - moves]
}

/// Both jobs wait on. Nothing is gained after the age of the one that moves is at its maximum.
fn waiting(ranked: &RankedSite<'_>, duel: &mut Duel<'_>, job: &Job, moves: usize) -> Remedy {
    let full = job
        .accrue_time
        .saturating_add(i64::from(ranked.config.priority_max_age_secs));
    let left = match job.accrue_time {
        0 => 0,
        _ => u64::try_from(full.saturating_sub(ranked.now)).unwrap_or(0),
    };
    let found = least(left, |secs| {
        let wait_secs = i64::try_from(secs).unwrap_or(i64::MAX);
        let trial = Trial {
            wait_secs,
            ..Trial::default()
        };
        wins(duel, moves, trial)
    });
    Remedy {
        kind: RemedyKind::Waiting,
        answer: found.map_or(Answer::Never(left), Answer::Least),
    }
}

fn lower_nice(duel: &mut Duel<'_>, job: &Job, moves: usize) -> Remedy {
    /// Slurm's limit of nice values, in both directions.
    const NICE_LIMIT: i64 = 0x8000_0000 - 3;
    let most = (i64::from(job.nice) + NICE_LIMIT).clamp(0, i64::from(i32::MAX));
    let most = most.unsigned_abs();
    let found = least(most, |less| {
        let less = i32::try_from(less).unwrap_or(i32::MAX);
        let trial = Trial {
            less_nice: Some((moves, less)),
            ..Trial::default()
        };
        wins(duel, moves, trial)
    });
    Remedy {
        kind: RemedyKind::LowerNice { nice: job.nice },
        answer: found.map_or(Answer::Never(most), Answer::Least),
    }
}

/// Less usage and more shares; nothing where both jobs have the same user.
fn by_fairshare(
    ranked: &RankedSite<'_>,
    names: &dyn Names,
    entries: [Entry; 2],
    users: Option<[AssocIndex; 2]>,
    moves: usize,
) -> Vec<Remedy> {
    let pair = [entries[moves].job.assoc, entries[1 - moves].job.assoc];
    let Some(user) = pair[0].filter(|_| pair[0] != pair[1]) else {
        return Vec::new();
    };
    let goal = || -> Goal<'_> {
        let mut duel = Duel::new(ranked, entries);
        Box::new(move |factors: [f64; 2]| {
            let mut fs_factors = factors;
            if moves == 1 {
                fs_factors.reverse();
            }
            let trial = Trial {
                fs_factors: Some(fs_factors),
                ..Trial::default()
            };
            wins(&mut duel, moves, trial)
        })
    };
    let search = Search::new(ranked, names, pair);
    let changes = match users {
        Some(users) => {
            let found = super::parting::part(ranked, users);
            super::users::changes(ranked, &search, &found, users, moves)
        }
        None => vec![Variation::LessUsage(user)],
    };
    search.look(&changes, &goal)
}
