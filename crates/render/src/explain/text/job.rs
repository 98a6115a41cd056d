//! One job in sentences: its terms as value x weight = points, and the formula of each.

use std::fmt;

use super::Text;
use super::wait;
use super::words::{Points, list, place};
use fairtree_analysis::explain::{
    Bound, Explained, Formula, JobExplanation, SizeMode, Term, VariantExplanation,
};
use fairtree_model::span::Span;

/// Names of terms have at least this much room.
const NAME_WIDTH: usize = 16;

impl fmt::Display for Text<'_, JobExplanation> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(waits) = &self.0.waits {
            wait::write_reason(f, waits)?;
            writeln!(f)?;
        }
        writeln!(f, "{}", headline(self.0))?;
        if self.0.terms.is_empty() {
            // sprio does not list it.
            return match &self.0.waits {
                Some(waits) => wait::write_help(f, self.0.id, waits),
                None => Ok(()),
            };
        }
        writeln!(f)?;
        let (silent, shown): (Vec<&Term>, Vec<&Term>) =
            self.0.terms.iter().partition(|term| term.is_unweighted());
        let longest = shown.iter().map(|term| term.name.to_string().len()).max();
        let width = longest.unwrap_or(0).max(NAME_WIDTH);
        for term in shown {
            write_term(f, term, width)?;
        }
        let (sum, bound) = (Points(self.0.sum), bound(self.0));
        let line = format!("  {:<width$} {:>24} {sum:>14}  {bound}", "sum", "");
        writeln!(f, "{}", line.trim_end())?;
        if !silent.is_empty() {
            let names: Vec<String> = silent.iter().map(|term| term.name.to_string()).collect();
            writeln!(f, "Not counted (weight 0): {}.", list(&names))?;
        }
        if !self.0.variants.is_empty() {
            writeln!(f)?;
            writeln!(f, "It has one place in the queue for each way to run it:")?;
            for variant in &self.0.variants {
                write_variant(f, variant)?;
            }
        }
        match &self.0.waits {
            Some(waits) => wait::write_help(f, self.0.id, waits),
            None => Ok(()),
        }
    }
}

/// The priority, and if the terms made it.
pub(in crate::explain) fn headline(job: &JobExplanation) -> String {
    let name = subject(job);
    let (priority, computed) = (job.priority, job.computed);
    match job.state {
        Explained::Computed => format!("{name} has priority {priority}."),
        Explained::Kept => format!(
            "{name} has priority {priority}, from an earlier pass: INCR_ONLY keeps it from falling \
             to the {computed} that its terms give now."
        ),
        Explained::Direct => format!(
            "{name} has priority {priority}, set by an administrator; its terms, which would give \
             {computed}, do not count."
        ),
        Explained::Held if job.terms.is_empty() => {
            format!("{name} is held: its priority is 0, and it does not start.")
        }
        Explained::Held => format!(
            "{name} is held: its priority is 0, and it does not start. When released it will have \
             {computed}."
        ),
        Explained::Running => format!(
            "{name} runs, with the priority {priority} that it had; its terms would give {computed} \
             now."
        ),
    }
}

/// The job with its user, partition and QOS.
fn subject(job: &JobExplanation) -> String {
    let mut text = job.name.clone();
    if let Some(user) = &job.user {
        text += &format!(" of {user}");
    }
    let place = [("partition", &job.partition), ("QOS", &job.qos)];
    let place = place.into_iter();
    let place: Vec<String> = place
        .filter_map(|(word, name)| Some(format!("{word} {}", name.as_ref()?)))
        .collect();
    if place.is_empty() {
        text
    } else {
        format!("{text} ({})", place.join(", "))
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, term: &Term, width: usize) -> fmt::Result {
    let product = match (term.factor, term.weight) {
        (Some(factor), Some(weight)) => format!("{factor:.7} x {weight:>10} ="),
        (None, Some(weight)) => format!("weight {weight:>10}  "),
        (Some(factor), None) => format!("factor {factor:.7}  "),
        (None, None) => String::new(),
    };
    let points = Points(term.points);
    let how = formula(&term.formula);
    let line = format!("  {:<width$} {product:>24} {points:>14}  {how}", term.name);
    writeln!(f, "{}", line.trim_end())
}

pub(in crate::explain) fn bound(job: &JobExplanation) -> String {
    match job.bound {
        Bound::Whole => String::new(),
        Bound::Truncated => format!("cut to {}", job.computed),
        Bound::RaisedTo1 => "raised to 1, because 0 means held".to_owned(),
        Bound::Printed => format!("of rounded points; printed is {}", job.priority),
        Bound::Capped => "more than a priority can be: cut to 4294967295".to_owned(),
    }
}

/// How a factor came about, in words.
pub(in crate::explain) fn formula(formula: &Formula) -> String {
    match formula {
        Formula::Age {
            waited_secs: None, ..
        } => "does not age: not eligible yet".to_owned(),
        Formula::Age {
            waited_secs: Some(waited),
            max_age_secs,
        } => format!(
            "waited {} of PriorityMaxAge {}",
            Span(waited.unsigned_abs()),
            Span(u64::from(*max_age_secs))
        ),
        Formula::Priority {
            priority,
            largest: Some(largest),
        } => format!("priority {priority} of at most {largest}"),
        Formula::Priority {
            priority,
            largest: None,
        } => format!("priority {priority}, not divided"),
        Formula::Rank { user, rank, users } => {
            format!("{user}: place {} of {users}", place(*rank, *users))
        }
        Formula::Power {
            user,
            effective_usage,
            norm_shares,
            dampening,
        } => format!("{user}: 2^-({effective_usage:.6} used / {norm_shares:.6} due / {dampening})"),
        Formula::Difference {
            user,
            effective_usage,
            norm_shares,
        } => format!("{user}: (1 + {norm_shares:.6} due - {effective_usage:.6} used) / 2"),
        Formula::Size {
            mode,
            nodes,
            cluster_nodes,
            cpus,
            cluster_cpus,
            minutes,
        } => {
            let size = format!("{nodes} of {cluster_nodes} nodes, {cpus} of {cluster_cpus} CPUs");
            let minutes = minutes.map_or("no time limit".to_owned(), |m| format!("{m} minutes"));
            match mode {
                SizeMode::Large => size,
                SizeMode::Small => format!("{size}; small jobs first"),
                SizeMode::RelativeToTime => format!("{size}, {minutes}; CPUs per minute"),
                SizeMode::SmallRelativeToTime => {
                    format!("{size}, {minutes}; 1 - CPUs per minute")
                }
            }
        }
        Formula::Tres {
            count,
            of: Some(of),
        } => format!("{count} of the partition's {of}"),
        Formula::Tres { count, of: None } => format!("{count}, not divided"),
        Formula::Absent => "has none".to_owned(),
        Formula::Given => String::new(),
        Formula::Rest => "from the sum: a column too narrow cut them".to_owned(),
    }
}

fn write_variant(f: &mut fmt::Formatter<'_>, variant: &VariantExplanation) -> fmt::Result {
    let partition = variant.partition.as_deref().unwrap_or("none");
    write!(f, "  partition {partition}")?;
    if let Some(qos) = &variant.qos {
        write!(f, ", QOS {qos}")?;
    }
    writeln!(
        f,
        ": priority {} (partition {}, QOS {}, TRES {})",
        variant.priority,
        Points(variant.partition_points),
        Points(variant.qos_points),
        Points(variant.tres_points)
    )
}
