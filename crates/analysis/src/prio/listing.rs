//! The report of what sprio printed.

use super::check::{Cut, Has, Sum, Verdict, verdict};
use super::{CutTres, Figure, MAX_PRIORITY, PrioReport, PrioRow, PrioRows, TresTerm};
use fairtree_model::input::sprio::{Column, Factor, Form, Listing, Queue, SprioRow, Weights};
use fairtree_model::input::sshare::Printed as Number;

/// One report per listing. A listing without weights takes those of the `sprio -w` above it.
pub fn from_queue(queue: &Queue) -> Vec<PrioReport> {
    let mut weights: Option<&Weights> = None;
    let mut reports = Vec::with_capacity(queue.listings.len());
    for listing in &queue.listings {
        weights = listing.weights.as_ref().or(weights);
        reports.push(report(queue, listing, weights));
    }
    if let Some(first) = reports.first_mut() {
        first.notes.splice(..0, queue.notes.iter().cloned());
    }
    reports
}

fn report(queue: &Queue, listing: &Listing, weights: Option<&Weights>) -> PrioReport {
    let weighted = Factor::ALL.map(|factor| {
        let zero = weights.and_then(|w| w.points[factor.index()]) == Some(0);
        listing.has_factor(factor) && !zero
    });
    let is = |column: &Column, form: Form| match column {
        Column::Priority(own) | Column::Factor(_, own) => *own == form,
        _ => false,
    };
    let any = |form| listing.columns.iter().any(|column| is(column, form));
    let mut report = PrioReport {
        source: queue.file.clone(),
        normalised: weights.is_none() && any(Form::Normalised) && !any(Form::Weighted),
        names: listing.has(Column::Account) || listing.has(Column::QosName),
        weighted,
        weights: weights.cloned(),
        rows: PrioRows::default(),
        notes: Vec::new(),
    };
    let mut unlike: Vec<String> = Vec::new();
    let mut hidden: Vec<String> = Vec::new();
    let (mut cut, mut derived) = (Vec::new(), 0);
    let rows = Printed {
        listing: listing.clone(),
        has: Has::of(listing),
        weights: weights.cloned(),
    };
    for at in 0..rows.len() {
        let made = rows.get(at);
        if let Some(own) = made.cut {
            cut.push(made.name());
            derived += usize::from(own.points.value().is_some());
        }
        if let Some(printed) = made.printed {
            let computed = made.priority.value().unwrap_or(0.0);
            match made.priority {
                Figure::Computed(_) => unlike.push(format!(
                    "PRIORITY of {} is printed as {printed:.0}, its factors add up to {computed:.0}",
                    made.name()
                )),
                _ => hidden.push(made.name()),
            }
        }
    }
    report.rows = rows.into();
    report.notes = unlike;
    if let Some(first) = cut.first() {
        let more = match cut.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more rows"),
        };
        let known = match (cut.len() - derived, derived) {
            (0, _) => "what is cut off follows from the sum, all resources together",
            (_, 0) => "what is cut off is not known",
            _ => "what is cut off follows from the sum where all other columns are there",
        };
        report.notes.push(format!(
            "TRES of {first}{more} is cut by a column too narrow: {known}; print it wider: \
             sprio -o \"%.15i %9r %.8u %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10Q %.11N %.60T\""
        ));
    }
    if let Some(first) = hidden.first() {
        let more = match hidden.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more rows"),
        };
        report.notes.push(format!(
            "PRIORITY of {first}{more} is not what the factors add up to, but left as in the \
             input: the columns that are not there (NICE, SITE) may explain it; sprio -l has them"
        ));
    }
    report
}

/// The rows of a listing, and the weights that its numbers were made with.
#[derive(Clone, Debug)]
pub(super) struct Printed {
    listing: Listing,
    has: Has,
    weights: Option<Weights>,
}

impl Printed {
    pub fn len(&self) -> usize {
        self.listing.rows.len()
    }

    pub fn get(&self, at: usize) -> PrioRow<'_> {
        let row = self.listing.rows.get(at);
        build(&self.has, &row, self.weights.as_ref())
    }

    /// Job and partition of a row.
    pub fn head(&self, at: usize) -> (Option<u32>, Option<&str>) {
        let head = self.listing.rows.head(at);
        (head.job_id, head.partition)
    }

    /// As [`PrioRows::prints_as`].
    pub fn prints_as(&self, at: usize, other: &Printed, there: usize) -> bool {
        self.listing.rows.prints_as(at, &other.listing.rows, there)
            && self.listing.columns == other.listing.columns
            && self.weights == other.weights
    }
}

fn build<'a>(has: &Has, row: &SprioRow<'a>, weights: Option<&Weights>) -> PrioRow<'a> {
    let weight = |factor: Factor| {
        let known = weights.and_then(|w| w.points[factor.index()]);
        known.map(f64::from)
    };
    let figure = |printed: Option<Number>| printed.map(|p| Figure::Printed(p.value));
    let mut points = [Figure::Blank; 7];
    let mut norm = [Figure::Blank; 7];
    for factor in Factor::ALL.into_iter().filter(|f| *f != Factor::Tres) {
        let at = factor.index();
        let (own, share) = (row.weighted[at], row.norm[at]);
        let scaled = share
            .zip(weight(factor))
            .map(|(s, w)| Figure::Computed(s.value * w));
        points[at] = figure(own)
            .or(scaled)
            .unwrap_or_else(|| absent(has, factor));
        let divided = own.zip(weight(factor)).map(|(o, w)| {
            // sprio shows 0 where there is no weight.
            Figure::Computed(if w == 0.0 { 0.0 } else { o.value / w })
        });
        norm[at] = figure(share)
            .or(divided)
            .unwrap_or_else(|| absent(has, factor));
    }
    let sum = Sum::of(has, row, weights);
    let mut tres = tres_terms(row);
    let cut = cut_terms(row, sum.as_ref(), &mut tres);
    points[Factor::Tres.index()] = match (&row.tres, &row.norm_tres) {
        _ if cut.is_some() => {
            let read = tres.iter().filter_map(|term| term.points.value());
            let unseen = cut.and_then(|cut| cut.points.value());
            unseen.map_or(Figure::Unknown, |unseen| {
                Figure::Computed(read.sum::<f64>() + unseen)
            })
        }
        (Some(terms), _) => Figure::Printed(terms.iter().map(|(_, p)| p.value).sum::<f64>() + 0.0),
        (None, Some(terms)) if !terms.is_empty() => Figure::Unknown,
        (None, Some(_)) => Figure::Printed(0.0),
        (None, None) => Figure::Computed(0.0),
    };
    let mut made = PrioRow {
        line: Some(row.line),
        job_id: row.job_id,
        partition: row.partition,
        cluster: row.cluster,
        user: row.user,
        account: row.account,
        qos_name: row.qos_name,
        sluid: row.sluid,
        points,
        norm,
        tres,
        cut,
        site: row.site,
        nice: row.nice,
        ..PrioRow::default()
    };
    set_priority(&mut made, row, sum.as_ref());
    made
}

/// A factor that was not printed: sprio leaves out those without a weight, unless `-o` chose.
fn absent(has: &Has, factor: Factor) -> Figure {
    if has.factor(factor) {
        Figure::Unknown
    } else {
        Figure::Computed(0.0)
    }
}

/// The end of a cell of resources that is cut; a last resource whose digits may be cut is taken off
/// `tres`, unless the row adds up with it.
fn cut_terms<'a>(
    row: &SprioRow<'a>,
    sum: Option<&Sum>,
    tres: &mut Vec<TresTerm<'a>>,
) -> Option<CutTres<'a>> {
    let own = sum.and_then(|sum| sum.cut);
    let text = row.tres_cut.or(row.norm_tres_cut)?;
    if row.tres_cut.is_none() || own.is_none() {
        // Normalised numbers alone, or columns without which nothing adds up.
        let begun = tres
            .last()
            .is_some_and(|last| text.strip_prefix(last.name).is_some());
        if begun {
            return None;
        }
        return Some(CutTres {
            text,
            points: Figure::Unknown,
        });
    }
    if let Some(Cut::Perhaps(_)) = own {
        if verdict(row, sum).is_some() {
            return None;
        }
        tres.pop();
    }
    let unseen = sum.and_then(|sum| sum.unseen(row.priority));
    Some(CutTres {
        text,
        points: unseen.map_or(Figure::Unknown, Figure::Computed),
    })
}

fn tres_terms<'a>(row: &SprioRow<'a>) -> Vec<TresTerm<'a>> {
    let points = row.tres.unwrap_or_default();
    let norms = row.norm_tres.unwrap_or_default();
    let find = |terms: &[(String, Number)], name: &str| {
        let mut terms = terms.iter();
        let found = terms.find(|(known, _)| known == name);
        found.map_or(Figure::Unknown, |(_, p)| Figure::Printed(p.value))
    };
    let longer = if points.is_empty() { norms } else { points };
    let term = |(name, _): &'a (String, Number)| TresTerm {
        name,
        points: find(points, name),
        norm: find(norms, name),
    };
    longer.iter().map(term).collect()
}

/// The priority: what is printed where that can be the sum, else the sum.
fn set_priority(made: &mut PrioRow<'_>, row: &SprioRow<'_>, sum: Option<&Sum>) {
    let printed = row
        .priority
        .or_else(|| row.norm_priority.map(|p| p.value * MAX_PRIORITY));
    let verdict = verdict(row, sum);
    made.set_by_hand = verdict == Some(Verdict::SetByHand);
    (made.priority, made.printed) = match (printed, sum, &verdict) {
        (Some(printed), _, Some(Verdict::Agrees | Verdict::SetByHand)) => {
            (Figure::Computed(printed), None)
        }
        (Some(printed), Some(sum), Some(Verdict::Differs { .. })) => {
            (Figure::Computed(sum.value.max(1.0)), Some(printed))
        }
        (Some(printed), _, Some(_)) => (Figure::Printed(printed), Some(printed)),
        (Some(printed), _, None) => (Figure::Printed(printed), None),
        (None, Some(sum), _) if sum.hidden.is_empty() => {
            (Figure::Computed(sum.value.max(1.0)), None)
        }
        (None, ..) => (Figure::Unknown, None),
    };
    made.norm_priority = match (row.norm_priority, made.priority.value()) {
        (Some(printed), _) if made.printed.is_none() => Figure::Printed(printed.value),
        (_, Some(priority)) if made.set_by_hand => Figure::Computed(priority),
        (_, Some(priority)) => Figure::Computed(priority / MAX_PRIORITY),
        (_, None) => Figure::Unknown,
    };
    // A listing of normalised numbers prints the priority of a job set by hand as it is.
    if made.set_by_hand && row.priority.is_none() {
        if let Some(printed) = row.norm_priority {
            made.priority = Figure::Computed(printed.value);
        }
    }
}
