//! The cost in sentences and tables.

use std::io::{self, Write};

use crate::columns::Columns;
use crate::figures::{arrow, hours_cell, larger_unit, percent};
use crate::what_if::assoc_place;
use fairtree_analysis::cost::{Cost, Effect, UsageDecay};
use fairtree_analysis::what_if::AssocStanding;
use fairtree_model::c_format;
use fairtree_model::span::Span;

/// Writes the bill, the effect, and its decay, in tables that fit into `width` columns of a
/// terminal as far as they can.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, cost: &Cost, width: Option<usize>) -> io::Result<()> {
    write_bill(out, cost, width)?;
    writeln!(out)?;
    if !cost.effects.is_empty() {
        write_effects(out, cost, width)?;
    } else {
        writeln!(
            out,
            "The effect on places is not known: shares and usage of others are hidden from you."
        )?;
    }
    writeln!(out)?;
    write_decay(out, cost, width)
}

fn write_bill(out: &mut impl Write, cost: &Cost, width: Option<usize>) -> io::Result<()> {
    let bill = &cost.bill;
    let place = [("partition", &cost.partition), ("QOS", &cost.qos)].into_iter();
    let place: Vec<String> = place
        .filter_map(|(word, name)| Some(format!("{word} {}", name.as_ref()?)))
        .collect();
    let place = match place.is_empty() {
        true => String::new(),
        false => format!(" ({})", place.join(", ")),
    };
    writeln!(
        out,
        "A job of {} for {}{place}:",
        cost.user,
        Span(cost.secs)
    )?;
    let mut columns = Columns::new(&["TRES", "COUNT", "WEIGHT", "BILLED", ""], 1);
    for line in &bill.lines {
        columns.push([
            line.tres.clone(),
            line.count.to_string(),
            number(line.weight),
            number(line.weighted),
            match line.counts {
                true => String::new(),
                false => "does not count".to_owned(),
            },
        ]);
    }
    columns.write(out, width)?;
    writeln!(out, "{}", rule(bill.rule))?;
    let charged = hours(cost.charged);
    writeln!(
        out,
        "Billing {} x UsageFactor {} x {:.2} hours = {charged}",
        number(bill.billing),
        number(bill.usage_factor),
        f64::from(cost.secs) / 3600.0
    )?;
    if cost.left_at_end >= cost.charged {
        return writeln!(out, "All of it still counts when the job ends.");
    }
    let rest = match cost.decay.window_secs {
        Some(_) => "has left the window",
        None => "has decayed",
    };
    writeln!(
        out,
        "{} of it still count when the job ends; the rest {rest}.",
        hours(cost.left_at_end)
    )
}

fn rule(rule: &str) -> &'static str {
    match rule {
        "hidden" => "TRESBillingWeights of the partition are hidden from you: CPUs are billed.",
        "cpus" => "The partition has no TRESBillingWeights: CPUs are billed.",
        "max_tres" => {
            "MAX_TRES: the largest of cpu, mem, node and each gres, plus the sum of the rest."
        }
        "max_tres_gres" => {
            "MAX_TRES_GRES: the largest of cpu, mem and node, plus the sum of gres and the rest."
        }
        _ => "The sum of all.",
    }
}

fn write_effects(out: &mut impl Write, cost: &Cost, width: Option<usize>) -> io::Result<()> {
    match cost.times {
        Some([_, end]) => writeln!(out, "When it ends, {}, without it -> with it:", moment(end))?,
        None => writeln!(out, "When it ends, without it -> with it:")?,
    }
    let heading = [
        "NAME",
        "PLACE",
        "FAIRSHARE",
        "LEVELFS",
        "DUE",
        "USED",
        "TRES-HOURS",
    ];
    let mut columns = Columns::new(&heading, 1).spare(&["TRES-HOURS", "DUE", "LEVELFS", "USED"]);
    for effect in &cost.effects {
        columns.push(row(effect));
    }
    columns.write(out, width)?;
    if let Some(order) = cost.order {
        return writeln!(
            out,
            "Under order={} no points count: jobs start by what is used of what is entitled to.",
            order.word()
        );
    }
    let Some(points) = cost.fairshare_points else {
        return Ok(());
    };
    let who = &cost.user;
    match points == 0.0 {
        true => writeln!(out, "The jobs of {who} keep their fair-share points."),
        false => writeln!(
            out,
            "Each job of {who} then has {} points {} for fair share.",
            number(points.abs()),
            if points < 0.0 { "less" } else { "more" }
        ),
    }
}

fn row(effect: &Effect) -> [String; 7] {
    let both = |figure: &dyn Fn(&AssocStanding) -> String| {
        arrow(Some(figure(&effect.without)), Some(figure(&effect.with)))
    };
    [
        effect.name.clone(),
        assoc_place(Some(&effect.without), Some(&effect.with)),
        both(&|side| side.fs_factor.map_or(String::new(), c_format::f)),
        both(&|side| side.level_fs.map_or(String::new(), c_format::f)),
        percent(effect.with.norm_shares),
        both(&|side| percent(side.effective_usage)),
        both(&|side| hours_cell(side.raw_usage)),
    ]
}

fn write_decay(out: &mut impl Write, cost: &Cost, width: Option<usize>) -> io::Result<()> {
    let UsageDecay {
        usage,
        half_life_secs,
        window_secs,
        left,
        gone_secs,
        reset,
    } = &cost.decay;
    let end = cost.times.map(|[_, end]| end);
    match half_life_secs {
        None if window_secs.is_some() => writeln!(
            out,
            "After its end this leaves the {usage} second by second, the first used first:"
        )?,
        None if *usage != "half_life" => {
            writeln!(out, "This neither decays nor leaves: usage={usage}.")?;
        }
        Some(half_life) => {
            let half_life = Span(*half_life);
            writeln!(
                out,
                "After its end this decays by PriorityDecayHalfLife {half_life}:"
            )?;
        }
        None => writeln!(out, "This does not decay: PriorityDecayHalfLife is 0.")?,
    }
    let mut columns = Columns::new(&["LEFT", "AFTER", "TRES-HOURS", ""], 1).spare(&["TRES-HOURS"]);
    let mut add = |what: String, secs: u64, usage: String| {
        let at = end.map(|end| moment(end.saturating_add(i64::try_from(secs).unwrap_or(i64::MAX))));
        columns.push([what, Span(secs).to_string(), usage, at.unwrap_or_default()]);
    };
    for moment in left {
        let usage = hours_cell(cost.left_at_end * moment.part);
        add(format!("{}%", moment.part * 100.0), moment.secs, usage);
    }
    if let Some(secs) = gone_secs {
        add("none that shows".to_owned(), *secs, "0.0".to_owned());
    }
    columns.write(out, width)?;
    if half_life_secs.is_some() {
        writeln!(
            out,
            "You regain places only as others use the machine: the usage of all decays by the same factor."
        )?;
    }
    match reset {
        Some(reset) => writeln!(
            out,
            "PriorityUsageResetPeriod clears it {}.",
            moment(*reset)
        ),
        None => Ok(()),
    }
}

fn hours(tres_secs: f64) -> String {
    let secs = format!("{tres_secs:.0} TRES-seconds");
    match larger_unit(tres_secs) {
        Some(larger) => format!("{larger} ({secs})"),
        None => secs,
    }
}

/// At most six decimals, and none that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn moment(secs: i64) -> String {
    match jiff::Timestamp::from_second(secs) {
        Ok(moment) => moment.to_string(),
        // Far beyond what any calendar holds.
        Err(_) => String::new(),
    }
}
