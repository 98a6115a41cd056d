//! What is to be paid for the runs that sacct lists, in whole numbers.
//!
//! Each record of `sacct -D` is a run with its own end. A run is billed by its elapsed seconds when
//! it ended in the period and in a state that is billed. The parts of a run before its job was
//! resized end as the run does.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Serialize;

use fairtree::usage::{EndState, Outcomes};
use fairtree_model::input::prices::{Price, Prices};
use fairtree_model::input::sacct::RunRecord;

/// Ends that the site causes, not the user, and that are followed by another run.
const LEFT_OUT: [EndState; 4] = [
    EndState::Preempted,
    EndState::Requeued,
    EndState::NodeFail,
    EndState::BootFail,
];

/// What accounts owe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bills {
    /// For runs that ended from this moment on, seconds since 1970; `None`: all before, too.
    pub from: Option<i64>,
    /// And before this one; `None`: all after, too.
    pub to: Option<i64>,
    /// By account and partition.
    pub bills: Vec<Bill>,
    /// What all cost.
    pub total: u128,
    /// Runs that ended in the period and are not billed, by state.
    pub left_out: BTreeMap<String, u64>,
    /// Runs that have not ended.
    pub not_ended: u64,
    /// Runs that ended outside of the period.
    pub outside: u64,
    /// Runs in partitions without a price.
    pub without_price: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// Runs whose price is that of a microsecond, and of which nobody knows how long they were
    /// executed.
    pub unmeasured: u64,
}

/// What an account owes for a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// The account; empty where the listing has none.
    pub account: String,
    /// The partition; empty where the listing has none.
    pub partition: String,
    /// Runs that are billed.
    pub runs: u64,
    /// How long they ran.
    pub run_secs: u128,
    /// Billing TRES times seconds of them.
    pub billing_secs: u128,
    /// For how long the machine executed them, microseconds, where that has a price.
    pub executed_us: u128,
    /// What they cost.
    pub amount: u128,
}

/// A part of a run.
#[derive(Clone, Debug)]
struct Part {
    account: String,
    partition: String,
    secs: u128,
    billing_secs: u128,
    executed_us: Option<u64>,
    /// It began and ended in the same second.
    is_brief: bool,
}

/// Adds up.
#[derive(Debug)]
pub struct Biller<'a> {
    prices: &'a Prices,
    counts: Option<&'a Outcomes>,
    period: Range<i64>,
    /// Parts of runs that have not ended, by job.
    open: HashMap<String, Vec<Part>>,
    lines: BTreeMap<(String, String), Bill>,
    bills: Bills,
    /// Some number does not fit 128 bits.
    beyond: bool,
}

impl<'a> Biller<'a> {
    /// At these prices; `counts` overrules which ends they bill. For runs that ended from `from` on
    /// and before `to`.
    pub fn new(
        prices: &'a Prices,
        counts: Option<&'a Outcomes>,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Biller<'a> {
        Biller {
            prices,
            counts: counts.or(prices.counts.as_ref()),
            period: from.unwrap_or(i64::MIN)..to.unwrap_or(i64::MAX),
            open: HashMap::new(),
            lines: BTreeMap::new(),
            beyond: false,
            bills: Bills {
                from,
                to,
                bills: Vec::new(),
                total: 0,
                left_out: BTreeMap::new(),
                not_ended: 0,
                outside: 0,
                without_price: 0,
                unreadable: 0,
                unmeasured: 0,
            },
        }
    }

    /// Whether exit codes of failed runs matter.
    pub fn needs_exit_codes(&self) -> bool {
        let failed = |code| self.is_billed(EndState::Failed, code);
        (1..=u8::MAX).any(|code| failed(code) != failed(0))
    }

    fn is_billed(&self, end: EndState, exit_code: u8) -> bool {
        match self.counts {
            Some(counts) => counts.counts(end, exit_code),
            None => !LEFT_OUT.contains(&end),
        }
    }

    /// Takes a run.
    pub fn take(&mut self, run: &RunRecord<'_>) {
        let secs = u128::from(run.elapsed_secs);
        let part = Part {
            account: run.used.account.unwrap_or_default().to_owned(),
            partition: run.partition.unwrap_or_default().to_owned(),
            secs,
            // Whole numbers of TRES, as sacct prints them.
            billing_secs: (run.used.billing.max(0.0) as u128).saturating_mul(secs),
            executed_us: run.executed_us,
            is_brief: run.used.end <= run.used.start,
        };
        if part.is_brief && !self.prices.by_microsecond() {
            // It costs nothing.
            return;
        }
        if run.state.eq_ignore_ascii_case("RESIZING") {
            self.open.entry(run.job.to_owned()).or_default().push(part);
            return;
        }
        let Some(end) = EndState::from_name(run.state) else {
            self.open.remove(run.job);
            self.bills.not_ended += 1;
            return;
        };
        let mut parts = self.open.remove(run.job).unwrap_or_default();
        parts.push(part);
        if !self.period.contains(&run.used.end) {
            self.bills.outside += 1;
        } else if !self.is_billed(end, run.exit_code.unwrap_or(0)) {
            *self
                .bills
                .left_out
                .entry(end.name().to_owned())
                .or_default() += 1;
        } else {
            self.bill(&parts);
        }
    }

    fn bill(&mut self, parts: &[Part]) {
        let last = parts.len() - 1;
        for (at, part) in parts.iter().enumerate() {
            let own = self.prices.partitions.get(&part.partition);
            let Some(price) = own.copied().or(self.prices.all) else {
                self.bills.without_price += u64::from(at == last);
                continue;
            };
            if part.is_brief && price.execution_microsecond == 0 {
                continue;
            }
            // How long a run was executed stands with its last part.
            let measured = at < last || part.executed_us.is_some();
            if price.execution_microsecond > 0 && !measured {
                self.bills.unmeasured += 1;
                continue;
            }
            let key = (part.account.clone(), part.partition.clone());
            let line = self.lines.entry(key).or_insert_with(|| Bill {
                account: part.account.clone(),
                partition: part.partition.clone(),
                runs: 0,
                run_secs: 0,
                billing_secs: 0,
                executed_us: 0,
                amount: 0,
            });
            line.runs += u64::from(at == last);
            let executed_us = match price.execution_microsecond {
                0 => 0,
                _ if at < last => 0,
                _ => part.executed_us.unwrap_or(0),
            };
            match sums(line, part, price, executed_us) {
                Some([run_secs, billing_secs, executed_us, amount]) => {
                    (line.run_secs, line.billing_secs) = (run_secs, billing_secs);
                    (line.executed_us, line.amount) = (executed_us, amount);
                }
                None => self.beyond = true,
            }
        }
    }

    /// All that was taken; `None`: a sum does not fit 128 bits.
    pub fn bills(mut self) -> Option<Bills> {
        if self.beyond {
            return None;
        }
        self.bills.not_ended += self.open.len() as u64;
        let mut amounts = self.lines.values().map(|line| line.amount);
        self.bills.total = amounts.try_fold(0, u128::checked_add)?;
        self.bills.bills = self.lines.into_values().collect();
        Some(self.bills)
    }
}

/// Seconds, billing TRES times seconds, microseconds, and amount of a line with one part more.
fn sums(line: &Bill, part: &Part, price: Price, executed_us: u64) -> Option<[u128; 4]> {
    let run = part.secs.checked_mul(price.run_second.into())?;
    let billing = part.billing_secs.checked_mul(price.billing_second.into())?;
    // Neither is larger than 64 bits.
    let execution = u128::from(executed_us) * u128::from(price.execution_microsecond);
    let amount = line.amount.checked_add(run)?.checked_add(billing)?;
    Some([
        line.run_secs.checked_add(part.secs)?,
        line.billing_secs.checked_add(part.billing_secs)?,
        line.executed_us.checked_add(executed_us.into())?,
        amount.checked_add(execution)?,
    ])
}
