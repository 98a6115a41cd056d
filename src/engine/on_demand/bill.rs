//! What is to be paid, in whole numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{AccountId, OnDemand};
use crate::engine::queue::{Micros, SECOND};

/// Prices of a machine, in any small unit of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Prices {
    /// Of a microsecond that an on-demand job was executed.
    pub execution_microsecond: u64,
    /// Of a second that was reserved.
    pub reserved_second: u64,
}

/// What an account owes for a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bill {
    /// Microseconds that its on-demand jobs were executed, of runs that ended well.
    pub executed: u128,
    /// Seconds that it had reserved, whatever ran.
    pub reserved_secs: u128,
    /// Both at the prices under which they ran; `u128::MAX` where it is that much or more.
    pub amount: u128,
}

/// Something that is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Billed {
    Executed(u64),
    Reserved(u64),
}

/// A run or a reservation that is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BillLine {
    pub account: AccountId,
    pub machine: u32,
    pub billed: Billed,
    /// Of a microsecond or a second.
    pub price: u64,
}

impl BillLine {
    /// Its cost: below 2^128.
    pub fn amount(&self) -> u128 {
        let (Billed::Executed(units) | Billed::Reserved(units)) = self.billed;
        u128::from(units) * u128::from(self.price)
    }
}

/// Lines by when they ended; the number separates those that ended at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct BillLines {
    lines: BTreeMap<(Micros, u64), BillLine>,
    count: u64,
}

impl BillLines {
    pub fn add(&mut self, end: Micros, line: BillLine) {
        self.lines.insert((end, self.count), line);
        self.count += 1;
    }

    /// Takes back what was added last; it ended at this moment.
    pub fn take_last(&mut self, end: Micros) {
        self.count -= 1;
        self.lines.remove(&(end, self.count));
    }
}

#[cfg(any(feature = "capi", feature = "slurm", test))]
impl BillLines {
    /// When each ended, and the line.
    pub fn lines(&self) -> impl Iterator<Item = (Micros, BillLine)> + '_ {
        self.lines.iter().map(|(&(end, _), line)| (end, *line))
    }
}

impl OnDemand {
    /// What accounts owe, by account and machine, for what ended in a period: on-demand runs by
    /// the microsecond of their execution, reservations by the second of their length. Time spent
    /// waiting, halted runs, runs that did not end well, and jobs of reservations cost nothing.
    /// Prices are those under which a run started, or a reservation began. Machines that had the
    /// same name one after the other have one bill.
    pub fn bills(&self, period: Range<Micros>) -> BTreeMap<(AccountId, String), Bill> {
        self.bills_by(period, |machine| {
            self.machines[machine as usize].name.clone()
        })
    }

    /// The same by account and number of the machine.
    pub fn bills_by_number(&self, period: Range<Micros>) -> BTreeMap<(AccountId, u32), Bill> {
        self.bills_by(period, |machine| machine)
    }

    fn bills_by<K: Ord>(
        &self,
        period: Range<Micros>,
        key: impl Fn(u32) -> K,
    ) -> BTreeMap<(AccountId, K), Bill> {
        let mut bills = BTreeMap::new();
        if period.is_empty() {
            return bills;
        }
        let lines = self.ledger.lines.range((period.start, 0)..(period.end, 0));
        for (_, line) in lines {
            let bill: &mut Bill = bills.entry((line.account, key(line.machine))).or_default();
            match line.billed {
                Billed::Executed(micros) => bill.executed += u128::from(micros),
                Billed::Reserved(secs) => bill.reserved_secs += u128::from(secs),
            }
            bill.amount = bill.amount.saturating_add(line.amount());
        }
        bills
    }

    /// Forgets what was billed before a moment.
    pub fn forget_bills(&mut self, before: Micros) {
        self.ledger.lines = self.ledger.lines.split_off(&(before, 0));
    }
}

/// Seconds of a length that is whole seconds.
pub(super) fn seconds(length: Micros) -> u64 {
    length.unsigned_abs() / SECOND.unsigned_abs()
}
