//! The amounts to pay for the runs that sacct lists, in whole numbers.
//!
//! Each record of `sacct -D` is a run with its own end. A run is billed by its elapsed seconds when
//! it ended in the period and in a state that is billed. The parts of a run before its job was
//! resized end as the run does. A run whose record cannot be is not billed: [`Doubtful`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use serde::Serialize;

use fairtree::usage::{EndState, Outcomes};
use fairtree_model::input::prices::{Price, Prices};
use fairtree_model::input::sacct::{Executed, RunRecord};

/// Ends that the site causes, not the user, and that are followed by another run.
const LEFT_OUT: [EndState; 4] = [
    EndState::Preempted,
    EndState::Requeued,
    EndState::NodeFail,
    EndState::BootFail,
];

/// The amounts that accounts owe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bills {
    /// For runs that ended from this moment on, seconds since 1970; `None`: all before, too.
    pub from: Option<i64>,
    /// And before this one; `None`: all after, too.
    pub to: Option<i64>,
    /// By account and partition.
    pub bills: Vec<Bill>,
    /// The total cost.
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
    /// Jobs that never ran.
    pub never_ran: u64,
    /// Runs that began and ended within one second and have a price by the second only.
    pub brief: u64,
    /// Runs whose price is that of a microsecond, and of which nobody knows how long they were
    /// executed.
    pub unmeasured: u64,
    /// Runs whose records cannot be, in the order of the listing; they are in no sum.
    pub doubtful: Vec<Doubtful>,
}

/// A run that is not billed because its record cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubtful {
    /// Number of the job.
    pub job: String,
    /// The account; empty where the listing has none.
    pub account: String,
    /// The partition; empty where the listing has none.
    pub partition: String,
    /// The word of the column State.
    pub state: String,
    /// Start of the run, or of its part that cannot be, seconds since 1970.
    pub start: i64,
    /// End of the run, seconds since 1970.
    pub end: i64,
    /// How long it ran.
    pub run_secs: u128,
    /// The measured time, microseconds; `None`: there is none, or not one number.
    pub executed_us: Option<u64>,
    /// Why it cannot be.
    pub why: Doubt,
}

/// Why a record of a run cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The state is no word of sacct.
    State,
    /// The listing has the same record before it.
    Twice,
    /// Its end is before its start.
    Backwards,
    /// Its Elapsed is more than the time from its start to its end.
    Elapsed,
    /// The measured time is as long as the run took times the parts of the machine that it had (its
    /// billing TRES), with a second added, or longer: sacct cuts off less than a second.
    Longer,
    /// The comment has several different numbers.
    Several,
    /// The comment has no whole number.
    Unreadable,
    /// The measured time is that of an earlier run of the job, and so was left in the comment.
    LeftOver,
}

/// States of a job that has not ended.
///
/// Source: `job_state_string()` in `src/common/slurm_protocol_defs.c`.
const NOT_ENDED: [&str; 13] = [
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETING",
    "CONFIGURING",
    "STOPPED",
    "SIGNALING",
    "STAGE_OUT",
    "REVOKED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "RESV_DEL_HOLD",
];

/// The amount that an account owes for a partition.
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
    /// Their cost.
    pub amount: u128,
}

/// A part of a run.
#[derive(Clone, Debug)]
struct Part {
    account: String,
    partition: String,
    secs: u128,
    billing: u64,
    /// `billing` are processors.
    by_processors: bool,
    executed: Executed,
    start: i64,
    end: i64,
    /// The record itself cannot be.
    doubt: Option<Doubt>,
}

impl Part {
    /// Returns true if it began and ended in the same second.
    fn is_brief(&self) -> bool {
        self.end == self.start
    }
}

/// Adds up.
#[derive(Debug)]
pub struct Biller<'a> {
    prices: &'a Prices,
    counts: Option<&'a Outcomes>,
    period: Range<i64>,
    /// Parts of runs that have not ended, by job.
    open: HashMap<String, Vec<Part>>,
    /// Measured times of earlier runs, by job; only where microseconds have a price.
    measured: HashMap<String, Vec<u64>>,
    /// Hashes of the records so far that have an end, with their starts: with 64 bits of hash two of the
    /// same start are one record.
    seen: HashSet<(u64, i64)>,
    hasher: RandomState,
    lines: BTreeMap<(String, String), AccountLine>,
    /// A run had billing: those that only have processors count 0.
    any_billing: bool,
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
            measured: HashMap::new(),
            seen: HashSet::new(),
            hasher: RandomState::new(),
            lines: BTreeMap::new(),
            any_billing: false,
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
                never_ran: 0,
                brief: 0,
                unmeasured: 0,
                doubtful: Vec::new(),
            },
        }
    }

    /// Returns true if exit codes of failed runs matter.
    pub fn needs_exit_codes(&self) -> bool {
        let failed = |code| self.is_billed(EndState::Failed, code);
        (1..=u8::MAX).any(|code| failed(code) != failed(0))
    }

    fn is_billed(&self, end: EndState, exit_code: u8) -> bool {
        match self.counts {
            Some(counts) => counts.counts(end, exit_code.into()),
            None => !LEFT_OUT.contains(&end),
        }
    }

    /// Takes a run.
    pub fn take(&mut self, run: &RunRecord<'_>) {
        let end = EndState::from_name(run.state);
        let is_resized = run.state.eq_ignore_ascii_case("RESIZING");
        let word = run.state.split_whitespace().next().unwrap_or_default();
        let mut part = Part {
            account: run.used.account.unwrap_or_default().to_owned(),
            partition: run.partition.unwrap_or_default().to_owned(),
            secs: run.elapsed_secs.into(),
            billing: run.billing,
            by_processors: run.used.by_processors,
            executed: run.executed,
            start: run.used.start,
            end: run.used.end,
            doubt: None,
        };
        if end.is_none() && !is_resized && NOT_ENDED.iter().any(|w| w.eq_ignore_ascii_case(word)) {
            self.open.remove(run.job);
            self.bills.not_ended += 1;
            return;
        }
        part.doubt = self.doubt_of_record(run, end.is_some() || is_resized);
        if is_resized {
            self.open.entry(run.job.to_owned()).or_default().push(part);
            return;
        }
        let mut parts = self.open.remove(run.job).unwrap_or_default();
        let is_inside = self.period.contains(&part.end)
            || part.doubt == Some(Doubt::Backwards) && self.period.contains(&part.start);
        parts.push(part);
        let left_over = self.is_left_over(run);
        let exit_code = run.exit_code.unwrap_or(0);
        if !is_inside {
            self.bills.outside += 1;
            return;
        }
        match end.filter(|end| !self.is_billed(*end, exit_code)) {
            Some(end) => {
                let name = end.name().to_owned();
                *self.bills.left_out.entry(name).or_default() += 1;
            }
            None => self.bill(run, &parts, left_over),
        }
    }

    /// Why a record by itself cannot be; `None`: it can. `known`: its state is.
    fn doubt_of_record(&mut self, run: &RunRecord<'_>, known: bool) -> Option<Doubt> {
        let (start, end) = (run.used.start, run.used.end);
        let record = (run.job, end, run.elapsed_secs, run.state);
        let is_new = self.seen.insert((self.hasher.hash_one(record), start));
        let from_to = end
            .checked_sub(start)
            .and_then(|secs| u64::try_from(secs).ok());
        match from_to {
            _ if !known => Some(Doubt::State),
            _ if !is_new => Some(Doubt::Twice),
            None => Some(Doubt::Backwards),
            Some(secs) if run.elapsed_secs > secs => Some(Doubt::Elapsed),
            Some(_) => None,
        }
    }

    /// Returns true if an earlier run of the job was measured with the same number, and takes note of
    /// the number.
    fn is_left_over(&mut self, run: &RunRecord<'_>) -> bool {
        let Executed::Micros(micros) = run.executed else {
            return false;
        };
        if !self.prices.by_microsecond() {
            return false;
        }
        let earlier = self.measured.entry(run.job.to_owned()).or_default();
        let known = earlier.contains(&micros);
        if !known {
            earlier.push(micros);
        }
        known
    }

    /// Why the measured time of a run cannot be; `None`: it can.
    fn doubt_of_measure(parts: &[Part], left_over: bool) -> Option<Doubt> {
        let micros = match parts.last()?.executed {
            Executed::Unknown => return None,
            Executed::Several => return Some(Doubt::Several),
            Executed::Unreadable => return Some(Doubt::Unreadable),
            Executed::Micros(micros) => u128::from(micros),
        };
        if left_over {
            return Some(Doubt::LeftOver);
        }
        let width = |part: &Part| u128::from(part.billing.max(1));
        let room = |part: &Part| part.secs.saturating_mul(width(part));
        let room = parts.iter().map(room).fold(0, u128::saturating_add);
        // With a second more than it ran nothing of a run is left that sacct cut off.
        let second = parts.iter().map(width).max().unwrap_or(1);
        let room = room.saturating_add(second).saturating_mul(1_000_000);
        (micros >= room).then_some(Doubt::Longer)
    }

    fn bill(&mut self, run: &RunRecord<'_>, parts: &[Part], left_over: bool) {
        let last = parts.len() - 1;
        let by_microsecond = |part: &Part| {
            let own = self.prices.partitions.get(&part.partition);
            let price = own.copied().or(self.prices.all);
            price.is_some_and(|price| price.execution_microsecond > 0)
        };
        let part = &parts[last];
        let faulty = parts.iter().find_map(|part| Some((part, part.doubt?)));
        let measure = || Self::doubt_of_measure(parts, left_over).filter(|_| by_microsecond(part));
        if let Some((at, why)) = faulty.or_else(|| Some((&parts[0], measure()?))) {
            self.bills.doubtful.push(Doubtful {
                job: run.job.to_owned(),
                account: part.account.clone(),
                partition: part.partition.clone(),
                state: run.state.to_owned(),
                start: at.start,
                end: part.end,
                run_secs: parts.iter().map(|part| part.secs).sum(),
                executed_us: match part.executed {
                    Executed::Micros(micros) => Some(micros),
                    Executed::Unknown | Executed::Unreadable | Executed::Several => None,
                },
                why,
            });
            return;
        }
        for (at, part) in parts.iter().enumerate() {
            let own = self.prices.partitions.get(&part.partition);
            let Some(price) = own.copied().or(self.prices.all) else {
                self.bills.without_price += u64::from(at == last);
                continue;
            };
            if part.is_brief() && price.execution_microsecond == 0 {
                // It costs nothing.
                self.bills.brief += u64::from(at == last);
                continue;
            }
            // The execution time of a run is in its last part.
            let measured = at < last || part.executed != Executed::Unknown;
            if price.execution_microsecond > 0 && !measured {
                self.bills.unmeasured += 1;
                continue;
            }
            let key = (part.account.clone(), part.partition.clone());
            let line = self.lines.entry(key).or_insert_with(|| AccountLine {
                price,
                runs: 0,
                run_secs: 0,
                billing_secs: 0,
                processor_secs: 0,
                executed_us: 0,
            });
            line.runs += u64::from(at == last);
            let executed_us = match price.execution_microsecond {
                0 => 0,
                _ if at < last => 0,
                _ => match part.executed {
                    Executed::Micros(micros) => micros,
                    Executed::Unknown | Executed::Unreadable | Executed::Several => 0,
                },
            };
            self.beyond |= line.add(part, executed_us).is_none();
        }
    }

    /// Takes note that a record of the listing has billing: those without it count 0.
    pub fn any_billing(&mut self) {
        self.any_billing = true;
    }

    /// All that was taken; `None`: a sum does not fit 128 bits.
    pub fn bills(mut self) -> Option<Bills> {
        if self.beyond {
            return None;
        }
        self.bills.not_ended += self.open.len() as u64;
        for ((account, partition), line) in self.lines {
            let mut bill = line.bill(self.any_billing)?;
            (bill.account, bill.partition) = (account, partition);
            self.bills.total = self.bills.total.checked_add(bill.amount)?;
            self.bills.bills.push(bill);
        }
        Some(self.bills)
    }
}

/// The use of a partition by an account.
#[derive(Clone, Debug)]
struct AccountLine {
    price: Price,
    runs: u64,
    run_secs: u128,
    /// Of runs that have billing.
    billing_secs: u128,
    /// Processors times seconds of those that have none.
    processor_secs: u128,
    executed_us: u128,
}

impl AccountLine {
    /// Adds a part of a run; `None`: a sum does not fit 128 bits.
    fn add(&mut self, part: &Part, executed_us: u64) -> Option<()> {
        let billing = u128::from(part.billing).checked_mul(part.secs)?;
        let secs = match part.by_processors {
            true => &mut self.processor_secs,
            false => &mut self.billing_secs,
        };
        *secs = secs.checked_add(billing)?;
        self.run_secs = self.run_secs.checked_add(part.secs)?;
        self.executed_us = self.executed_us.checked_add(executed_us.into())?;
        Some(())
    }

    /// The bill of a line. `any_billing`: processors do not count.
    fn bill(&self, any_billing: bool) -> Option<Bill> {
        let billing_secs = match any_billing {
            true => self.billing_secs,
            false => self.billing_secs.checked_add(self.processor_secs)?,
        };
        let amounts = [
            (self.run_secs, self.price.run_second),
            (billing_secs, self.price.billing_second),
            (self.executed_us, self.price.execution_microsecond),
        ];
        let amount = amounts.into_iter().try_fold(0_u128, |sum, (count, price)| {
            sum.checked_add(count.checked_mul(price.into())?)
        });
        Some(Bill {
            account: String::new(),
            partition: String::new(),
            runs: self.runs,
            run_secs: self.run_secs,
            billing_secs,
            executed_us: self.executed_us,
            amount: amount?,
        })
    }
}
