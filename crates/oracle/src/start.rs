//! The start of slurmctld: run-seconds and usage before the first pass.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;

use super::charge;
use super::faults::Fault;
use super::memory::Saved;
use super::model::Model;
use super::number::{Fraction, exact, product, whole};
use super::records::{Leaf, Records, Usage, number};

impl Model<'_> {
    pub(super) fn start(&mut self) -> Result<()> {
        self.memory.start(&self.records);
        if !self.records.conf.slurmdbd {
            return self.pass();
        }
        if let Some(root) = self.records.assocs.get_mut(&self.records.conf.root) {
            Rc::make_mut(root).usage_efctv = number(1);
        }
        charge::take_consumed(&mut self.records, &self.memory, self.faults);
        self.restore();
        self.pass()
    }

    /// Restores the usage of the last pass, and charges ends of jobs since then.
    fn restore(&mut self) {
        let saved = self.memory.newer_than_dump();
        let Some(saved) = saved else {
            // Charges after slurmctld's dump are lost, too.
            if let Some(dumped) = self.memory.files.dumped {
                self.charge_lost(dumped);
            }
            return;
        };
        let exact_is = restored(&self.records, &saved);
        let cut_only = differ_by_text(&self.records, &exact_is);
        let fault = if cut_only {
            Fault::SavedAsText
        } else {
            Fault::CrashLoses
        };
        if self.faults.has(fault) {
            return;
        }
        self.records = exact_is;
        self.charge_lost(saved.time);
    }

    /// Charges jobs whose end was charged after the restored usage was saved.
    fn charge_lost(&mut self, written: i64) {
        let Some(last_ran) = self.memory.last_ran else {
            return;
        };
        let jobs: Vec<_> = self.records.jobs.values().cloned().collect();
        for job in jobs {
            let lost = job.is_finished() && job.end_time_exp.is_none() && job.end > written;
            if !lost || job.start == 0 || job.assoc == 0 || self.faults.has(Fault::CrashLoses) {
                continue;
            }
            if let Some(record) = self.records.jobs.get_mut(&job.id) {
                Rc::make_mut(record).end_time_exp = Some(job.end);
            }
            // slurmctld started without run-seconds of ended jobs.
            let kept = self.run_secs();
            let period = self.between_passes(last_ran);
            charge::charge(
                &mut self.records,
                &self.memory,
                self.faults,
                job.id,
                &period,
            );
            self.put_run_secs(kept);
        }
    }

    /// Run-seconds of associations and QOS, and of accounts and users in QOS.
    fn run_secs(&self) -> RunSecs {
        let (assocs, qos) = (self.records.assocs.values(), self.records.qos.values());
        RunSecs {
            assocs: assocs.map(|assoc| assoc.run_secs.clone()).collect(),
            qos: qos
                .map(|qos| (qos.run_secs.clone(), qos.used.clone()))
                .collect(),
        }
    }

    fn put_run_secs(&mut self, kept: RunSecs) {
        for (record, run_secs) in self.records.assocs.values_mut().zip(kept.assocs) {
            Rc::make_mut(record).run_secs = run_secs;
        }
        for (record, (run_secs, used)) in self.records.qos.values_mut().zip(kept.qos) {
            let record = Rc::make_mut(record);
            (record.run_secs, record.used) = (run_secs, used);
        }
    }
}

struct RunSecs {
    assocs: Vec<Vec<u64>>,
    qos: Vec<(Vec<u64>, UsedOf)>,
}

/// By account and user, see [`Qos::used`](super::records::Qos::used).
type UsedOf = BTreeMap<String, Vec<u64>>;

/// The records with the usage of a file: users and QOS from the file, accounts summed up.
fn restored(records: &Records, saved: &Saved) -> Records {
    let mut restored = records.clone();
    for record in restored.assocs.values_mut() {
        let record = Rc::make_mut(record);
        record.usage = Usage::none(record.usage.tres.len());
        if matches!(record.leaf, Leaf::Apart(_)) {
            record.leaf = Leaf::None;
        }
    }
    for (id, usage) in &saved.assocs {
        for up in records.line_up(*id) {
            if let Some(record) = restored.assocs.get_mut(&up) {
                Rc::make_mut(record).usage.add(usage);
            }
        }
        if let Some(record) = restored.assocs.get_mut(id) {
            let record = Rc::make_mut(record);
            if record.leaf == Leaf::None {
                record.leaf = Leaf::Apart(usage.clone());
            }
        }
    }
    for (id, record) in &mut restored.qos {
        let record = Rc::make_mut(record);
        let count = record.usage.tres.len();
        let known = saved.qos.get(id).cloned();
        record.usage = known.unwrap_or_else(|| Usage::none(count));
    }
    restored
}

fn usages(records: &Records) -> impl Iterator<Item = &Usage> {
    let assocs = records.assocs.values().map(|assoc| &assoc.usage);
    assocs.chain(records.qos.values().map(|qos| &qos.usage))
}

/// Returns true if two differ only by the truncation of a text with six digits and whole seconds of
/// wall time.
fn differ_by_text(loaded: &Records, exactly: &Records) -> bool {
    let users = u32::try_from(loaded.assocs.len()).unwrap_or(u32::MAX);
    let slack = |each: f64| exact(each) * whole(users + 1);
    let (digits, second) = (slack(1e-6), slack(1.0));
    let near = |a: &Fraction, b: &Fraction, slack: &Fraction| {
        let off = if a > b { a - b } else { b - a };
        off <= slack + product(b, &exact(1e-15))
    };
    usages(loaded).zip(usages(exactly)).all(|(a, b)| {
        let mut tres = a.tres.iter().zip(&b.tres);
        near(&a.raw, &b.raw, &digits)
            && near(&a.wall, &b.wall, &second)
            && tres.all(|(a, b)| near(a, b, &digits))
    })
}
