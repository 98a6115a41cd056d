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
    /// Both at the prices of the machine; `u128::MAX` where it is that much or more.
    pub amount: u128,
}

/// Something that is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Billed {
    Executed(u64),
    Reserved(u64),
}

/// What is billed, by when it ended; the number tells apart what ended at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    lines: BTreeMap<(Micros, u64), (AccountId, u32, Billed)>,
    count: u64,
}

impl Ledger {
    pub fn add(&mut self, end: Micros, account: AccountId, machine: u32, billed: Billed) {
        self.lines
            .insert((end, self.count), (account, machine, billed));
        self.count += 1;
    }

    /// Takes back what was added last; it ended at this moment.
    pub fn take_last(&mut self, end: Micros) {
        self.count -= 1;
        self.lines.remove(&(end, self.count));
    }
}

#[cfg(any(feature = "capi", feature = "slurm", test))]
impl Ledger {
    /// When each ended, account, machine and what.
    pub fn lines(&self) -> impl Iterator<Item = (Micros, AccountId, u32, Billed)> + '_ {
        let lines = self.lines.iter();
        lines.map(|(&(end, _), &(account, machine, billed))| (end, account, machine, billed))
    }
}

impl OnDemand {
    /// What accounts owe, by account and machine, for what ended in a period: on-demand runs by
    /// the microsecond of their execution, reservations by the second of their length. Time spent
    /// waiting, halted runs, runs that did not end well, and jobs of reservations cost nothing.
    /// Prices are those of now.
    pub fn bills(&self, period: Range<Micros>) -> BTreeMap<(AccountId, String), Bill> {
        let mut bills = BTreeMap::new();
        if period.is_empty() {
            return bills;
        }
        let lines = self.ledger.lines.range((period.start, 0)..(period.end, 0));
        for (account, machine, billed) in lines.map(|(_, line)| *line) {
            let machine = &self.machines[machine as usize];
            let bill: &mut Bill = bills.entry((account, machine.name.clone())).or_default();
            let (units, price) = match billed {
                Billed::Executed(micros) => {
                    bill.executed += u128::from(micros);
                    (micros, machine.prices.execution_microsecond)
                }
                Billed::Reserved(secs) => {
                    bill.reserved_secs += u128::from(secs);
                    (secs, machine.prices.reserved_second)
                }
            };
            let amount = u128::from(units) * u128::from(price);
            bill.amount = bill.amount.saturating_add(amount);
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
