//! The documented behaviour compared with stock: the oracle explains every call of both plugins,
//! ours without any fault, stock's by faults that have a name.

use anyhow::{Result, bail};

use super::life::Life;
use super::outcome::{Difference, Field, Outcome, Pair};
use fairtree_oracle::{Explained, Faults, Unexplained, explain};

/// Events in which the plugin's thread does not make exactly one pass, or in which several things
/// happen at once.
const BEYOND: [&str; 4] = ["elapse", "crash_in_pass", "during", "together"];

/// Replaces these events of a life by the nearest ones, or drops them.
pub fn within(mut life: Life) -> Life {
    for (beyond, nearest) in [("elapse", "pass"), ("crash_in_pass", "crash")] {
        for line in &mut life.lines {
            let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
            if verb == beyond {
                *line = format!("{nearest} {rest}");
            }
        }
    }
    life
}

/// Plays a life with both plugins and explains what they did.
///
/// # Errors
/// Fails if the host does not run or refuses the life.
pub fn compare(pair: &Pair<'_>, life: &Life) -> Result<Outcome> {
    for verb in BEYOND {
        if life
            .lines
            .iter()
            .any(|line| line.split(' ').next() == Some(verb))
        {
            bail!("what happens within {verb} is not traced: such a life cannot be explained");
        }
    }
    let (stock, stock_trace) = pair.host.trace(pair.stock, life)?;
    if stock.ending.starts_with("exit") && stock.ending != "exit 0" {
        bail!("stock does not play this life: {}", stock.ending);
    }
    let (ours, our_trace) = pair.host.trace(pair.ours, life)?;
    if ours.ending != "exit 0" {
        return Ok(Outcome::Differs(Box::new(Difference {
            line: 0,
            event: String::new(),
            endings: Some((stock.ending, ours.ending)),
            fields: vec![],
            labels: ["stock", "ours"],
        })));
    }
    let both = [
        ("ours", &our_trace, Faults::none()),
        ("stock", &stock_trace, Faults::all()),
    ];
    let mut counts = None;
    for (whose, trace, allowed) in both {
        match explain(trace, &allowed)? {
            Explained::All(found) => counts = Some(found),
            Explained::Not(rest) => return Ok(unexplained(life, whose, *rest)),
        }
    }
    if stock.ending != "exit 0" {
        return Ok(Outcome::StockDies(stock.ending));
    }
    Ok(Outcome::Explained(counts.unwrap_or_default()))
}

fn unexplained(life: &Life, whose: &'static str, rest: Unexplained) -> Outcome {
    let event = life.lines.get(rest.line.saturating_sub(1));
    let fields = rest.fields.into_iter().map(|field| Field {
        name: field.field,
        stock: field.must,
        ours: field.is,
    });
    Outcome::Differs(Box::new(Difference {
        line: rest.line,
        event: format!("{} ({:?})", event.map_or("", String::as_str), rest.hook),
        endings: None,
        fields: fields.collect(),
        labels: ["must be", whose],
    }))
}
