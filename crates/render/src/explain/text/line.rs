//! Places in an order in sentences: jobs, the level at which two part, and changes to swap them.

use std::fmt;

use super::Text;
use super::wait;
use super::words::TresSeconds;
use fairtree_analysis::explain::Side;
use fairtree_analysis::explain::line::{
    Cause, JobPlace, NodeStanding, OrderWord, PlaceExplained, PlacesCompared, Stand, Swap,
    SwapKind, TierOf,
};

/// The meaning of a Priority where the order decides.
const CARRIES: &str = "The order decides which comes first: a Priority only carries a place.";

impl fmt::Display for Text<'_, PlaceExplained> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlaceExplained {
            order,
            waiting,
            job,
            behind,
            before,
            waits,
        } = self.0;
        if let Some(waits) = waits {
            wait::write_reason(f, waits)?;
            writeln!(f)?;
        }
        let order = order.word();
        match job.position {
            Some(at) => writeln!(
                f,
                "{} has place {at} of {waiting} under order={order}.",
                subject(job)
            )?,
            None => writeln!(f, "{}", without_place(job, order))?,
        }
        writeln!(f, "{CARRIES}")?;
        if job.stand == Stand::Waits {
            writeln!(
                f,
                "It is expected to use {} (time limit x billing).",
                TresSeconds(job.expected)
            )?;
        }
        for compared in [behind, before].into_iter().flatten() {
            writeln!(f)?;
            Text(compared).fmt(f)?;
        }
        match waits.as_ref().filter(|waits| !waits.steps.is_empty()) {
            Some(waits) => wait::write_help(f, job.id, waits),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Text<'_, PlacesCompared> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compared = self.0;
        let Some(first) = compared.first else {
            for job in compared.jobs.iter().filter(|job| job.position.is_none()) {
                writeln!(f, "{}", without_place(job, compared.order.word()))?;
            }
            return writeln!(f, "{CARRIES}");
        };
        let (ahead, behind) = (first.of(&compared.jobs), first.other().of(&compared.jobs));
        let at = |job: &JobPlace| {
            job.position
                .map_or(String::new(), |at| format!(" (place {at})"))
        };
        writeln!(
            f,
            "{}{} is behind {}{} under order={}.",
            subject(behind),
            at(behind),
            subject(ahead),
            at(ahead),
            compared.order.word()
        )?;
        writeln!(f, "{}", decides(compared, first))?;
        if let Some(sides) = &compared.sides {
            for (job, side) in compared.jobs.iter().zip(sides) {
                writeln!(f, "  {}: {}", job.name, standing(side, compared.order))?;
            }
        }
        if compared.swaps.is_empty() {
            return Ok(());
        }
        writeln!(f)?;
        let name = &behind.name;
        writeln!(f, "What would put {name} ahead, all else as it is:")?;
        for swap in &compared.swaps {
            writeln!(f, "  - {}", Text(swap))?;
        }
        Ok(())
    }
}

/// The job with its user.
fn subject(job: &JobPlace) -> String {
    match &job.user {
        Some(user) => format!("{} of {user}", job.name),
        None => job.name.clone(),
    }
}

fn without_place(job: &JobPlace, order: &str) -> String {
    let name = subject(job);
    match job.stand {
        Stand::Waits => format!("{name} has no place under order={order}."),
        Stand::Held => format!(
            "{name} is held: its priority is 0, and it has no place under order={order} until it is \
             released."
        ),
        Stand::Direct => format!(
            "{name} has no place under order={order}: its priority {} was set by an administrator and \
             stays.",
            job.priority
        ),
        Stand::Started => {
            format!("{name} does not wait, so it has no place under order={order}.")
        }
    }
}

/// The deciding difference, in a sentence.
fn decides(compared: &PlacesCompared, first: Side) -> String {
    let (ahead, behind) = (first.of(&compared.jobs), first.other().of(&compared.jobs));
    let (a, b) = (&ahead.name, &behind.name);
    let together = ahead.node.as_deref().map_or_else(
        || "Both have no association".to_owned(),
        |node| format!("Both are charged to {node}, whose jobs start first come, first served"),
    );
    let place = match &compared.below {
        Some(account) => format!("They part below {account}"),
        None => "They part where all compete over the whole tree".to_owned(),
    };
    match compared.cause {
        Cause::NoPlace => String::new(),
        Cause::Tier => format!(
            "Before all else comes the priority of the {}: {a} has {}, {b} {}.",
            ahead.tier.as_ref().map_or("tier", kind),
            ahead.tier.as_ref().map_or(String::new(), tier),
            behind.tier.as_ref().map_or(String::new(), tier)
        ),
        Cause::OwnJobs => {
            format!("{place}: jobs of the account itself come before those below it.")
        }
        Cause::Ratio => {
            let when = match compared.order {
                OrderWord::Strict => "now",
                OrderWord::Interleaved => "when its turn comes",
            };
            format!(
                "{place}. Whoever has used the smallest part of its entitlement {when} goes first:"
            )
        }
        Cause::EqualRatios => format!(
            "{place}, with equal ratios: of the jobs whose turn it is the one submitted first."
        ),
        Cause::Nice => format!(
            "{together}; but a lower nice value comes before: {a} has {}, {b} {}.",
            ahead.nice, behind.nice
        ),
        Cause::SubmitTime => format!(
            "{together}: {a} was submitted {}, {b} {}.",
            moment(ahead.submit_time),
            moment(behind.submit_time)
        ),
        Cause::JobNumber => format!(
            "{together}: both were submitted {}, and {a} has the lower number.",
            moment(ahead.submit_time)
        ),
    }
}

fn kind(tier: &TierOf) -> &'static str {
    match tier.kind {
        "qos" => "QOS (tiers=qos)",
        _ => "partition (tiers=partition)",
    }
}

fn tier(tier: &TierOf) -> String {
    match &tier.name {
        Some(name) => format!("{} ({name})", tier.priority),
        None => tier.priority.to_string(),
    }
}

fn moment(secs: i64) -> String {
    jiff::Timestamp::from_second(secs).map_or_else(|_| secs.to_string(), |at| at.to_string())
}

/// What a side used, and what it is entitled to or due.
fn standing(side: &NodeStanding, order: OrderWord) -> String {
    let Some(name) = &side.name else {
        return "charged to nobody below".to_owned();
    };
    let mut text = format!("{name} used {:.0}", side.used);
    if order == OrderWord::Interleaved {
        let jobs = match side.jobs_before {
            1 => "1 waiting job of it",
            many => &format!("{many} waiting jobs of it"),
        };
        text += &format!(
            ", running jobs will use {:.0}, {jobs} before this one {:.0}",
            side.running, side.expected_before
        );
    }
    let claim = match (side.entitled, side.due) {
        (Some(secs), _) => format!("entitled to {secs:.0} TRES-seconds"),
        (None, due) => format!("due {:.0} TRES-seconds of all use", due.unwrap_or(0.0)),
    };
    match side.ratio {
        Some(ratio) => text + &format!("; {claim}: ratio {ratio:.6}"),
        None => text + "; entitled to nothing: after all others",
    }
}

impl fmt::Display for Text<'_, Swap> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.0.least;
        let tres_secs = TresSeconds(least as f64);
        match &self.0.kind {
            SwapKind::LessUsage { name } => write!(f, "{name} had used {tres_secs} less"),
            SwapKind::MoreUsage { name } => write!(f, "{name} had used {tres_secs} more"),
            SwapKind::MoreShares { name, raw_shares } => write!(
                f,
                "{name} had {} raw shares, not {raw_shares}",
                u64::from(*raw_shares) + least
            ),
            SwapKind::MoreMinutes { name, minutes } => write!(
                f,
                "{name} had {} minutes, not {minutes}",
                minutes.saturating_add(least)
            ),
            SwapKind::LowerNice { nice } => write!(
                f,
                "a nice value of {}, not {nice} (users may only raise it)",
                i128::from(*nice) - i128::from(least)
            ),
            SwapKind::HigherTier { priority } => write!(
                f,
                "a priority of its QOS or partition of {}, not {priority}",
                i128::from(*priority) + i128::from(least)
            ),
        }
    }
}
