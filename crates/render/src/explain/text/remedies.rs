//! Changes that would change an order, in sentences.

use std::fmt;

use super::Text;
use super::words::TresSeconds;
use fairtree_analysis::explain::wait::is_for_users;
use fairtree_analysis::explain::{Answer, Remedy, RemedyKind};
use fairtree_model::span::Span;

/// The heading of changes that are not the user's to make.
pub(super) const ONLY_OTHERS: &str =
    "What only others can do, or is past (shares, use, a lower nice value)";

/// Writes all remedies that put `name` ahead.
pub(super) fn write_all(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    remedies: &[Remedy],
) -> fmt::Result {
    if remedies.is_empty() {
        return Ok(());
    }
    let own = |remedy: &&Remedy| is_for_users(&remedy.kind);
    let (own, others): (Vec<&Remedy>, Vec<&Remedy>) = remedies.iter().partition(own);
    writeln!(f)?;
    writeln!(f, "What would put {name} ahead, all else as it is:")?;
    for remedy in own {
        writeln!(f, "  - {}", Text(remedy))?;
    }
    if !others.is_empty() {
        writeln!(f, "{ONLY_OTHERS}:")?;
    }
    for remedy in others {
        writeln!(f, "  - {}", Text(remedy))?;
    }
    Ok(())
}

impl fmt::Display for Text<'_, Remedy> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.answer {
            Answer::Least(amount) => write_least(f, &self.0.kind, amount),
            Answer::Never(most) => write_never(f, &self.0.kind, most),
        }
    }
}

fn write_least(f: &mut fmt::Formatter<'_>, kind: &RemedyKind, amount: u64) -> fmt::Result {
    match kind {
        RemedyKind::LessUsage {
            name,
            is_account,
            raw_usage,
            ..
        } => {
            let how = if *is_account {
                ", each of its users in proportion,"
            } else {
                ""
            };
            let less = TresSeconds(amount as f64);
            write!(f, "{name}{how} had used {less} less than {raw_usage:.0}")
        }
        RemedyKind::MoreShares {
            name, raw_shares, ..
        } => {
            let shares = u64::from(*raw_shares) + amount;
            write!(f, "{name} had {shares} raw shares, not {raw_shares}")
        }
        RemedyKind::DecayAlone { half_life_secs } => {
            let time = Span(amount * u64::from(*half_life_secs));
            write!(f, "{time} of decay, if nothing ran")
        }
        RemedyKind::RunningLoad => {
            let hours = if amount == 1 { "hour" } else { "hours" };
            write!(
                f,
                "{amount} {hours} more of the jobs that run now, if no other started"
            )
        }
        RemedyKind::Waiting => {
            let hours = amount as f64 / 3600.0;
            let time = Span(amount);
            write!(f, "{time} of waiting ({hours:.1} hours), though both age")
        }
        RemedyKind::LowerNice { nice } => {
            let lower = i128::from(*nice) - i128::from(amount);
            write!(
                f,
                "a nice value of {lower}, not {nice} (users may only raise it)"
            )
        }
    }
}

fn write_never(f: &mut fmt::Formatter<'_>, kind: &RemedyKind, most: u64) -> fmt::Result {
    match kind {
        RemedyKind::LessUsage {
            name, raw_usage, ..
        } if *raw_usage > 0.0 => {
            let all = TresSeconds(*raw_usage);
            write!(f, "not less use by {name}, even without any of its {all}")
        }
        RemedyKind::LessUsage { name, .. } => {
            write!(f, "not less use by {name}, who has used nothing")
        }
        RemedyKind::MoreShares { name, .. } => {
            write!(f, "not more shares for {name}, however many")
        }
        RemedyKind::DecayAlone { .. } => {
            write!(
                f,
                "decay alone does not help: it shrinks everyone's usage alike"
            )
        }
        RemedyKind::RunningLoad => {
            write!(
                f,
                "the running jobs alone do not change it, even in {most} hours"
            )
        }
        RemedyKind::Waiting if most == 0 => {
            write!(
                f,
                "waiting does not help: its age no longer grows, or does not grow yet"
            )
        }
        RemedyKind::Waiting => {
            let time = Span(most);
            write!(
                f,
                "waiting does not help: at full age, in {time}, it is still behind"
            )
        }
        RemedyKind::LowerNice { .. } => write!(f, "no nice value"),
    }
}
