//! Two jobs in sentences: which is ahead, the terms side by side, what decides.

use std::fmt;

use super::Text;
use super::remedies;
use super::users::write_order;
use super::words::{Points, list};
use fairtree::priority::Factor;
use fairtree_analysis::explain::{Explained, JobExplanation, JobsCompared, TermName};

/// Columns of names and points are at least this wide.
const COLUMN: usize = 16;

impl fmt::Display for Text<'_, JobsCompared> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", headline(self.0))?;
        for job in &self.0.jobs {
            if let Some(remark) = remark(job) {
                writeln!(f, "{remark}")?;
            }
        }
        writeln!(f)?;
        write_table(f, self.0)?;
        write_decisive(f, self.0)?;
        if let Some(users) = self.0.users.as_ref().filter(|_| fairshare_differs(self.0)) {
            writeln!(f)?;
            write_order(f, users)?;
        }
        remedies::write_all(f, &self.0.moves.of(&self.0.jobs).name, &self.0.remedies)
    }
}

/// The terms side by side.
fn write_table(f: &mut fmt::Formatter<'_>, compared: &JobsCompared) -> fmt::Result {
    let [a, b] = &compared.jobs;
    let shown = compared.terms.iter().filter(|t| t.points != [0.0, 0.0]);
    let width = |name: &str| name.chars().count().max(COLUMN);
    let (wide_a, wide_b) = (width(&a.name), width(&b.name));
    let names = shown.clone().map(|term| term.name.to_string());
    let wide = names.map(|name| width(&name)).max().unwrap_or(COLUMN);
    writeln!(
        f,
        "  {:<wide$} {:>wide_a$} {:>wide_b$} {:>14}",
        "", a.name, b.name, "difference"
    )?;
    for term in shown {
        let mark = if term.decides { "  decides" } else { "" };
        writeln!(
            f,
            "  {:<wide$} {:>wide_a$} {:>wide_b$} {:>14}{mark}",
            term.name,
            Points(term.points[0]),
            Points(term.points[1]),
            Points(term.difference)
        )?;
    }
    writeln!(
        f,
        "  {:<wide$} {:>wide_a$} {:>wide_b$} {:>14}",
        "priority",
        a.priority,
        b.priority,
        i64::from(a.priority) - i64::from(b.priority)
    )
}

pub(in crate::explain) fn headline(compared: &JobsCompared) -> String {
    let (first, moves) = (compared.first, compared.first.other());
    let (first, behind) = (first.of(&compared.jobs), moves.of(&compared.jobs));
    let (a, b) = (&behind.name, &first.name);
    match compared.ahead {
        Some(_) => format!(
            "{a} (priority {}) is behind {b} (priority {}) by {}.",
            behind.priority,
            first.priority,
            first.priority - behind.priority
        ),
        None => format!(
            "{a} and {b} have the same priority, {}; {b} comes first because its number is lower.",
            first.priority
        ),
    }
}

/// The reason that outweighs the terms of a job.
pub(in crate::explain) fn remark(job: &JobExplanation) -> Option<String> {
    let name = &job.name;
    match job.state {
        Explained::Computed => None,
        Explained::Kept => Some(format!(
            "INCR_ONLY keeps the priority of {name}; its terms give {} now.",
            job.computed
        )),
        Explained::Direct => Some(format!(
            "The priority of {name} was set by an administrator; its terms do not count."
        )),
        Explained::Held => Some(format!(
            "{name} is held; its terms count only when it is released."
        )),
        Explained::Running => Some(format!("{name} runs already.")),
    }
}

fn write_decisive(f: &mut fmt::Formatter<'_>, compared: &JobsCompared) -> fmt::Result {
    let decisive = compared.terms.iter().filter(|term| term.decides);
    let names: Vec<String> = decisive.map(|term| term.name.to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let verb = if names.len() == 1 {
        "decides"
    } else {
        "decide"
    };
    writeln!(f, "What {verb}: {}.", list(&names))
}

pub(in crate::explain) fn fairshare_differs(compared: &JobsCompared) -> bool {
    let mut terms = compared.terms.iter();
    terms.any(|term| term.name == TermName::Factor(Factor::Fairshare) && term.difference != 0.0)
}
