//! One call into the plugin: computes the expected records from those before the call.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use num_traits::Zero as _;

use super::charge::{self, Period};
use super::classic;
use super::fair_tree;
use super::faults::{Fault, Faults};
use super::memory::{LastPass, Memory, Saved};
use super::mismatch::USAGE;
use super::number::{Fraction, close, exact, product, to_f64};
use super::price::{self, AllBounds};
use super::records::{Assoc, Leaf, Records, Usage, flag};
use super::resets;
use super::rows::Listed;
use super::trace::Hook;

/// Expected results of a call.
pub struct Left {
    pub records: Records,
    pub memory: Memory,
    /// Bounds of integers that depend on rounding.
    pub bounds: AllBounds,
}

/// One call.
pub struct Call<'a> {
    pub hook: Hook,
    pub before: &'a Records,
    /// The records after the call: ranks follow from the exact numbers there, whose last bits
    /// depend on the plugin.
    pub after: &'a Records,
    /// The rows that it answered.
    pub rows: &'a [Listed],
}

/// Expected results of a call, with some faults.
pub fn leave(call: &Call, memory: &Memory, faults: &Faults) -> Result<Left> {
    let mut model = Model {
        call,
        faults,
        records: call.before.clone(),
        memory: memory.clone(),
        bounds: AllBounds::new(),
    };
    match call.hook {
        Hook::Start => model.start()?,
        Hook::Stop => model.stop(),
        Hook::Pass => model.pass()?,
        Hook::Set(id) => model.set(id),
        Hook::JobEnd(id) => model.job_end(id),
        Hook::Reconfig(cleared) => model.reconfig(cleared),
        Hook::Sshare => model.sshare(),
        Hook::Sprio => {}
    }
    Ok(Left {
        records: model.records,
        memory: model.memory,
        bounds: model.bounds,
    })
}

pub(super) struct Model<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) faults: &'a Faults,
    pub(super) records: Records,
    pub(super) memory: Memory,
    pub(super) bounds: AllBounds,
}

impl Model<'_> {
    fn is_fair_tree(&self) -> bool {
        self.records.conf.has(flag::FAIR_TREE)
    }

    // ---- stop ----------------------------------------------------------------------------

    fn stop(&mut self) {
        if self.records.conf.slurmdbd && self.memory.last_ran.is_some() {
            self.save();
        }
    }

    fn save(&mut self) {
        // Exactly the records, to the last bit.
        let mut saved = Saved::of(self.call.after);
        // With the clock behind the last pass, slurmctld's earlier dump must not seem newer.
        saved.time = saved.time.max(self.memory.last_ran.unwrap_or(0));
        self.memory.files.saved = Some(Rc::new(saved));
        self.memory.files.dump_is_last = false;
    }

    // ---- a pass -----------------------------------------------------------------------------

    pub(super) fn pass(&mut self) -> Result<()> {
        if !self.records.conf.slurmdbd {
            return self.pass_without_database();
        }
        if resets::take_due(&self.records, &mut self.memory, self.faults)? {
            self.reset();
        }
        let classic = !self.is_fair_tree();
        if classic && self.faults.has(Fault::ClassicOrder) {
            self.stock_classic();
        } else {
            self.decay();
            let below = self.below_nothing();
            self.accrue();
            self.share(&below);
            self.price_all();
        }
        self.finish();
        Ok(())
    }

    fn reset(&mut self) {
        for record in self.records.assocs.values_mut() {
            let record = Rc::make_mut(record);
            record.usage = Usage::none(record.usage.tres.len());
            if matches!(record.leaf, Leaf::Apart(_)) {
                record.leaf = Leaf::None;
            }
        }
        for record in self.records.qos.values_mut() {
            let record = Rc::make_mut(record);
            record.usage = Usage::none(record.usage.tres.len());
        }
    }

    /// Seconds since the last pass; 0 if there was none, or if the clock has stepped back.
    fn passed(&self) -> i64 {
        let since = self
            .memory
            .last_ran
            .map(|last_ran| self.records.now - last_ran);
        since.unwrap_or(0).max(0)
    }

    fn decay(&mut self) {
        let decay = charge::decay(self.records.conf.half_life, self.faults);
        let (Some(decay), passed @ 1..) = (decay, self.passed()) else {
            return;
        };
        let mut factor = decay.factor(passed);
        if decay.approximate {
            // Stock's factor never reaches 0.
            factor = factor.max(exact(f64::MIN_POSITIVE));
        }
        let scale = |value: &mut Fraction| *value = product(value, &factor);
        for record in self.records.assocs.values_mut() {
            let record = Rc::make_mut(record);
            record.usage.each(scale);
            if let Leaf::Apart(leaf) = &mut record.leaf {
                leaf.each(scale);
            }
        }
        for record in self.records.qos.values_mut().filter(|qos| !qos.no_decay) {
            Rc::make_mut(record).usage.each(scale);
        }
    }

    fn accrue(&mut self) {
        for id in self.records.jobs.keys().copied().collect::<Vec<u32>>() {
            self.accrue_one(id);
        }
    }

    /// Charges a job for the time since the last pass, if it must be charged.
    fn accrue_one(&mut self, id: u32) {
        let job = Rc::clone(&self.records.jobs[&id]);
        let unreported = charge::ended_unreported(&self.records.conf, &job);
        let at_end = unreported && !self.faults.has(Fault::EndLost);
        if !at_end && !charge::accrues(&self.records.conf, self.faults, &job) {
            return;
        }
        let period = Period {
            last_ran: self.memory.last_ran,
            now: self.records.now,
            valued_at: self.memory.last_ran.unwrap_or(0).max(self.records.now),
            at_end,
            half_life: self.records.conf.half_life,
        };
        charge::charge(&mut self.records, &self.memory, self.faults, id, &period);
    }

    /// Negative usage, which counts as zero: a pass adds its usage as if to 0.
    fn below_nothing(&self) -> BTreeMap<u32, Fraction> {
        let all = self.records.assocs.values();
        let below = all.filter(|assoc| classic::counted(self.faults, &assoc.usage.raw).is_none());
        below
            .map(|assoc| (assoc.id, assoc.usage.raw.clone()))
            .collect()
    }

    /// Computes fair share of all associations, after subtracting `below` from their usage.
    fn share(&mut self, below: &BTreeMap<u32, Fraction>) {
        let predicted = self.records.clone();
        let after = self.call.after;
        let usage = |id: u32| {
            let usage = usage_of(&predicted, after, id);
            match below.get(&id) {
                Some(below) => usage - below,
                None => usage,
            }
        };
        if self.is_fair_tree() {
            fair_tree::fair_tree(&mut self.records, self.faults, &usage);
        } else {
            classic::classic(&mut self.records, &Faults::none(), &usage);
        }
        let last_pass = LastPass {
            assocs: self.records.assocs.clone(),
            factors: self.factors(),
        };
        self.memory.last_pass = Rc::new(last_pass);
    }

    fn factors(&self) -> BTreeMap<u32, Fraction> {
        let ranked = |assoc: &&Rc<Assoc>| assoc.is_user || !self.is_fair_tree();
        let assocs = self.records.assocs.values().filter(ranked);
        assocs
            .map(|assoc| (assoc.id, assoc.fs_factor.clone()))
            .collect()
    }

    fn price_all(&mut self) {
        for id in self.records.jobs.keys().copied().collect::<Vec<u32>>() {
            let job = Rc::clone(&self.records.jobs[&id]);
            let ended = (job.is_finished() || job.is_completing()) && !job.is_pending();
            if ended && !self.faults.has(Fault::EndedPriced) {
                continue;
            }
            self.price_in_pass(id);
        }
    }

    fn price_in_pass(&mut self, id: u32) {
        let job = Rc::clone(&self.records.jobs[&id]);
        let running = self.records.conf.has(flag::CALCULATE_RUNNING);
        if job.priority == 0 || !(job.is_pending() || running) {
            return;
        }
        self.price(id, true);
    }

    /// Prices one job into its record.
    fn price(&mut self, id: u32, pass: bool) {
        let job = Rc::clone(&self.records.jobs[&id]);
        if job.direct && job.priority > 0 {
            price::clear(&mut self.records, id);
            return;
        }
        let asks = self.records.conf.weight_fs != 0 && self.records.conf.slurmdbd;
        let factor = if asks {
            self.fs_factor(job.assoc, pass)
        } else {
            Fraction::zero()
        };
        let ageless = self.memory.ageless && self.faults.has(Fault::NoDatabase);
        let priced = price::price(&self.records, self.faults, &job, &factor, ageless);
        price::write(&mut self.records, &mut self.bounds, id, priced, pass);
    }

    fn fs_factor(&mut self, assoc: u32, pass: bool) -> Fraction {
        if assoc == 0 {
            return Fraction::zero();
        }
        let classic = !self.is_fair_tree();
        if classic && self.faults.has(Fault::ClassicOrder) {
            return classic::factor_of_records(&mut self.records, self.faults, assoc);
        }
        if pass {
            return self
                .records
                .assocs
                .get(&assoc)
                .map_or(Fraction::zero(), |a| a.fs_factor.clone());
        }
        let known = self.memory.last_pass.assocs.contains_key(&assoc);
        if !known && self.faults.has(Fault::NewAssocZero) {
            return classic::factor_of_records(&mut self.records, self.faults, assoc);
        }
        // Values that a classic stock pass left open stay open under Fair Tree.
        let asked = classic::asked(&self.records, assoc);
        if known && self.is_open(asked) && self.faults.has(Fault::ClassicOrder) {
            classic::ask(&mut self.records, self.faults, asked);
        }
        self.memory.last_pass.factor(&self.records, assoc)
    }

    fn is_open(&self, assoc: u32) -> bool {
        let record = self.records.assocs.get(&assoc);
        record.is_some_and(|record| classic::is_open(record))
    }

    /// Updates the times, and the saved state.
    fn finish(&mut self) {
        let now = self.records.now;
        let back = self.memory.last_ran.is_some_and(|last_ran| last_ran > now);
        let last_ran = match self.memory.last_ran {
            Some(last_ran) if back && !self.faults.has(Fault::ClockBack) => last_ran,
            _ => now,
        };
        self.memory.pass(&self.records, last_ran);
        self.memory.half_life = self.records.conf.half_life;
        self.memory
            .recent
            .retain(|_, (until, over)| *until > last_ran.min(now) && !*over);
        self.records.times = Some((last_ran, self.memory.last_reset));
        self.save();
    }

    // ---- stock's order of a classic pass ----------------------------------------------------

    fn stock_classic(&mut self) {
        let root = self.records.conf.root;
        classic::ask_accounts(&mut self.records, self.faults, root);
        let stands = self.memory.last_ran.is_none() || self.passed() == 0;
        if !(stands && self.faults.has(Fault::ClassicPassSkipped)) {
            self.decay();
            for id in self.records.jobs.keys().copied().collect::<Vec<u32>>() {
                self.charge_and_price(id);
            }
        }
        if !self.faults.has(Fault::ClassicFactorUnpublished) {
            let mut all = self.records.clone();
            let predicted = self.records.clone();
            classic::classic(&mut all, &Faults::none(), &|id| {
                usage_of(&predicted, self.call.after, id)
            });
            for (id, record) in &mut self.records.assocs {
                Rc::make_mut(record).fs_factor = all.assocs[id].fs_factor.clone();
            }
        } else if self.records.conf.keeps_factor {
            classic::keep_factors_of_jobs(&mut self.records, self.faults);
        }
        let last_pass = LastPass {
            assocs: self.records.assocs.clone(),
            factors: self.factors(),
        };
        self.memory.last_pass = Rc::new(last_pass);
    }

    fn charge_and_price(&mut self, id: u32) {
        let job = Rc::clone(&self.records.jobs[&id]);
        let ended = job.is_finished() || job.is_completing();
        self.accrue_one(id);
        let over = !job.is_pending() && job.end_time_exp.is_none() && job.assoc != 0;
        if ended && job.is_pending() && self.faults.has(Fault::CompletingUnpriced) {
            return;
        }
        if ended && !job.is_pending() || over {
            return;
        }
        self.price_in_pass(id);
    }

    // ---- without slurmdbd -------------------------------------------------------------------

    fn pass_without_database(&mut self) -> Result<()> {
        let stock = self.faults.has(Fault::NoDatabase);
        let has_thread = self.records.conf.starts_anew;
        if stock && !has_thread && self.call.hook != Hook::Start {
            return Ok(());
        }
        // If a pass without Fair Tree does not end stock, it has the classic order.
        let classic = self.records.conf.keeps_factor && !self.is_fair_tree();
        if !stock || has_thread && !classic {
            self.price_all();
        } else if !(classic && self.is_without_new_time()) {
            for id in self.records.jobs.keys().copied().collect::<Vec<u32>>() {
                self.charge_and_price(id);
            }
        }
        if stock && has_thread {
            // There is no usage to clear, but the time of the last reset advances.
            resets::take_due(&self.records, &mut self.memory, self.faults)?;
            let times = (self.records.now, self.memory.last_reset);
            self.records.times = Some(times);
        }
        // A reset at the same time as the last one leaves no trace, but may have happened.
        self.memory.armed = false;
        Ok(())
    }

    /// Returns true for a pass of stock without Fair Tree in which no time has passed: it prices
    /// nothing, in releases that survive such a pass. At a start stock prices outside of its
    /// passes.
    fn is_without_new_time(&self) -> bool {
        let last_ran = self.records.times.map_or(0, |(last_ran, _)| last_ran);
        self.call.hook != Hook::Start && self.records.now <= last_ran
    }

    // ---- between passes ---------------------------------------------------------------------

    fn set(&mut self, id: u32) {
        self.price(id, false);
    }

    pub(super) fn between_passes(&self, last_ran: i64) -> Period {
        Period {
            last_ran: Some(last_ran),
            now: self.records.now,
            valued_at: last_ran,
            at_end: true,
            half_life: self.records.conf.half_life,
        }
    }

    fn job_end(&mut self, id: u32) {
        let job = Rc::clone(&self.records.jobs[&id]);
        let now = self.records.now;
        let mut half_life = self.records.conf.half_life;
        if half_life != self.memory.half_life && self.faults.has(Fault::StaleHalfLife) {
            half_life = self.memory.half_life;
        }
        let period = Period {
            last_ran: self.memory.last_ran,
            half_life,
            ..self.between_passes(self.memory.last_ran.unwrap_or(now))
        };
        if charge::charge(&mut self.records, &self.memory, self.faults, id, &period) {
            let until = if job.end != 0 { now.min(job.end) } else { now };
            let over = !job.is_resizing();
            self.memory.recent.insert((id, job.start), (until, over));
        }
    }

    fn reconfig(&mut self, cleared: bool) {
        self.memory.reconfigure();
        let ranking = self.records.conf.ranking();
        let switched = std::mem::replace(&mut self.memory.ranking, ranking) != ranking;
        if !cleared || !self.records.conf.slurmdbd {
            return;
        }
        charge::take_consumed(&mut self.records, &self.memory, self.faults);
        if !switched {
            return;
        }
        let before = self.records.clone();
        for (id, record) in &mut self.records.assocs {
            let now = classic::shares_norm(&before, *id);
            let kept = exact(record.shares_norm);
            if !close(&kept, &now, 1e-14) && !self.faults.has(Fault::StaleShares) {
                Rc::make_mut(record).shares_norm = to_f64(&now);
            }
        }
    }

    fn sshare(&mut self) {
        let open = |assoc: &&Rc<Assoc>| assoc.is_user && classic::is_open(assoc);
        let mut open: Vec<_> = self.records.assocs.values().filter(open).cloned().collect();
        open.sort_by_key(|assoc| assoc.place);
        for id in open.into_iter().map(|assoc| assoc.id) {
            classic::ask(&mut self.records, self.faults, id);
        }
    }
}

/// Raw usage as the plugin left it, if that equals the expected usage except for the last bits.
fn usage_of(predicted: &Records, after: &Records, id: u32) -> Fraction {
    let must = predicted.assocs.get(&id).map(|assoc| &assoc.usage.raw);
    let left = after.assocs.get(&id).map(|assoc| &assoc.usage.raw);
    match (must, left) {
        (Some(must), Some(left)) if close(must, left, USAGE) => left.clone(),
        (Some(must), _) => must.clone(),
        _ => Fraction::zero(),
    }
}
