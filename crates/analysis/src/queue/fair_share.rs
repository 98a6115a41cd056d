//! The queue by fair share.

use super::answer::{Decision, Reason, Said};
use super::people::{People, Refusal};
use fairtree::engine::queue::{Lasts, Micros, NewJob, Next, Nothing, Queue, QueueError, Settings};
use fairtree::tree::Shares;
use fairtree_model::input::queue::{Ended, QueueSite, Submission};

#[derive(Debug)]
pub(super) struct FairShare {
    queue: Queue,
}

/// The id of the association at a position.
fn id(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

fn told(error: QueueError) -> Refusal {
    error.to_string()
}

/// Why the shares and minutes of a site cannot be, with names.
fn changed(error: QueueError, people: &People) -> Refusal {
    let name = |id: u32| people.account(id as usize - 1).to_owned();
    match error {
        QueueError::AccountAside { id } => format!(
            "account {:?} shares as its parent does, so it has no minutes and no plan",
            name(id)
        ),
        QueueError::NoMinutes { id } => format!(
            "account {:?} counts all use since a moment, so it must be given minutes",
            name(id)
        ),
        QueueError::MinutesBeyond { id, minutes, given } => format!(
            "the accounts below {:?} would have {given} minutes together, but it has {minutes} to give",
            name(id)
        ),
        QueueError::NoShares { job, assoc } => format!(
            "job {job} of account {:?} would have nobody's shares",
            name(assoc)
        ),
        other => told(other),
    }
}

impl FairShare {
    pub fn new(
        site: &QueueSite,
        settings: &Settings,
        now: Micros,
        people: &People,
    ) -> Result<FairShare, Refusal> {
        let made = Queue::new(&site.tree, settings.clone(), now);
        let mut queue = made.map_err(|error| changed(error, people))?;
        for machine in &site.machines {
            queue
                .add_machine(&machine.name, machine.slots)
                .map_err(told)?;
            queue
                .set_paused(&machine.name, machine.paused)
                .map_err(told)?;
            queue
                .set_default_limit(Some(&machine.name), machine.default_limit)
                .map_err(told)?;
        }
        queue
            .set_default_limit(None, site.default_limit)
            .map_err(told)?;
        for (account, machines) in &site.bindings {
            let names: Vec<&str> = machines.iter().map(String::as_str).collect();
            queue.bind(id(*account), &names).map_err(told)?;
        }
        Ok(FairShare { queue })
    }

    pub fn advance(&mut self, now: Micros) {
        // Any question lets time pass.
        let root = self.queue.tree().rows()[0].id;
        let _nobody = self.queue.standing(root, now);
    }

    pub fn submit(
        &mut self,
        new: &Submission,
        assoc: usize,
        now: Micros,
        people: &People,
    ) -> Result<Said, Refusal> {
        if new.parts.is_some() {
            return Err("parts have a meaning with policy = \"on_demand\" only".to_owned());
        }
        self.advance(now);
        let added = self.queue.add(&NewJob {
            id: new.job,
            assoc: id(assoc),
            machine: &new.machine,
            submit: now,
            nice: new.nice.unwrap_or(0),
            expected: new.expected,
            limit: new.limit,
            rate: new.rate.unwrap_or(1),
        });
        added.map_err(|error| match error {
            QueueError::Machine(error) => people.named(error, |id| id as usize - 1),
            QueueError::NoShares { job, .. } => format!(
                "job {job}: neither account {:?} nor one above it has shares",
                new.account
            ),
            other => told(other),
        })?;
        Ok(Said::Submit {
            job: new.job,
            reservation: None,
            halt: None,
        })
    }

    pub fn next(
        &mut self,
        machine: &str,
        now: Micros,
    ) -> Result<(Decision, Option<u64>, Option<Reason>), Refusal> {
        Ok(match self.queue.next(machine, now).map_err(told)? {
            Next::Job(job) => (Decision::Run, Some(job), None),
            Next::Nothing(why) => {
                let reason = match why {
                    Nothing::NoneWaits => Reason::NoneWaits,
                    Nothing::Paused => Reason::Paused,
                    Nothing::Busy => Reason::Busy,
                };
                (Decision::Nothing, None, Some(reason))
            }
        })
    }

    pub fn start(&mut self, job: u64, now: Micros) -> Result<(), Refusal> {
        self.queue.start(job, now).map_err(told)
    }

    /// Ends a run.
    pub fn end(
        &mut self,
        job: u64,
        ended: Ended,
        executed: Micros,
        now: Micros,
        requeue: bool,
    ) -> Result<fairtree::engine::Finished, Refusal> {
        let Ended {
            outcome, exit_code, ..
        } = ended;
        let ended = match requeue {
            true => self.queue.requeue(job, outcome, exit_code, executed, now),
            false => self.queue.finish(job, outcome, exit_code, executed, now),
        };
        ended.map_err(told)
    }

    pub fn set_shares(
        &mut self,
        assoc: usize,
        shares: Shares,
        people: &People,
        now: Micros,
    ) -> Result<(), Refusal> {
        let mut rules = self.queue.settings().accounts.iter();
        if rules.any(|(of, rule)| *of == id(assoc) && rule.minutes.is_some()) {
            return Err(format!(
                "account {:?} has minutes, so its shares have no effect: change its minutes",
                people.account(assoc)
            ));
        }
        self.advance(now);
        let set = self.queue.set_shares(id(assoc), shares);
        set.map_err(|error| changed(error, people))
    }

    pub fn set_minutes(
        &mut self,
        assoc: usize,
        minutes: Option<u64>,
        people: &People,
        now: Micros,
    ) -> Result<(), Refusal> {
        self.advance(now);
        let set = self.queue.set_minutes(id(assoc), minutes);
        set.map_err(|error| changed(error, people))
    }

    pub fn cancel(&mut self, job: u64) -> Result<(), Refusal> {
        self.queue.cancel(job).map_err(told)
    }

    pub fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), Refusal> {
        self.queue.set_paused(machine, paused).map_err(told)
    }

    pub fn positions(&mut self, machine: &str, now: Micros) -> Result<Vec<u64>, Refusal> {
        self.queue.positions_at(machine, now).map_err(told)
    }

    pub fn estimate(
        &mut self,
        machine: &str,
        now: Micros,
        lasts: Option<Lasts<'_>>,
    ) -> Result<Vec<(u64, Option<Micros>)>, Refusal> {
        let found = match lasts {
            None => self.queue.estimate(machine, now),
            Some(lasts) => self.queue.estimate_lasting(machine, now, lasts),
        };
        let found = found.map_err(told)?;
        Ok(found.iter().map(|one| (one.job, one.start)).collect())
    }

    pub fn standing(
        &mut self,
        assoc: usize,
        account: &str,
        user: &Option<String>,
        now: Micros,
    ) -> Result<Said, Refusal> {
        let found = self.queue.standing(id(assoc), now);
        let found = found.ok_or_else(|| {
            format!(
                "account {account:?} has nothing of its own: neither it nor one above it has shares"
            )
        })?;
        let ratio = found.ratio.rounded();
        Ok(Said::Standing {
            account: account.to_owned(),
            user: user.clone(),
            used: found.used,
            entitled: found.entitled.to_f64(),
            ratio: ratio.is_finite().then_some(ratio),
        })
    }
}
