//! The on-demand queue.

use super::answer::{Billed, Bills, Decision, LimitOf, Reason, Refused, Said};
use super::people::{People, Refusal};
use fairtree::engine::on_demand::{AccountId, Limit, NewJob, Next, OnDemand, OnDemandError};
use fairtree::engine::queue::Micros;
use fairtree_model::input::queue::{Ended, OnDemandSite, QueueSite, Reserved, Submission};
use fairtree_model::input::{InputError, Problem};

#[derive(Debug)]
pub(super) struct Demand {
    queue: OnDemand,
}

/// The account at a position.
fn payer(at: usize) -> AccountId {
    AccountId::try_from(at).unwrap_or(AccountId::MAX)
}

fn told(error: OnDemandError) -> Refusal {
    error.to_string()
}

/// A limit that is reached, with the account's name.
fn refused(job: u64, error: OnDemandError, people: &People) -> Result<Refused, Refusal> {
    match error {
        OnDemandError::Full {
            limit,
            size,
            waiting,
        } => {
            let (limit, name) = match limit {
                Limit::Account(at) => (LimitOf::Account, people.account(at as usize).to_owned()),
                Limit::Machine(name) => (LimitOf::Machine, name),
            };
            Ok(Refused {
                job,
                limit,
                name,
                size,
                waiting,
            })
        }
        other => Err(told(other)),
    }
}

impl Demand {
    pub fn new(site: &QueueSite, policy: &OnDemandSite, now: Micros) -> Result<Demand, InputError> {
        let wrong = |error| InputError::new(&site.file, Problem::Structure(told(error)));
        let mut queue = OnDemand::new(policy.billed.clone(), now);
        for machine in &site.machines {
            let added = queue.add_machine(&machine.name, machine.limit, machine.prices);
            added.map_err(wrong)?;
            queue
                .set_paused(&machine.name, machine.paused)
                .map_err(wrong)?;
        }
        queue.limit_account(None, policy.account_limit);
        for (account, limit) in &policy.account_limits {
            queue.limit_account(Some(payer(*account)), Some(*limit));
        }
        for Reserved {
            id,
            machine,
            account,
            start,
            end,
            line,
        } in &policy.reservations
        {
            let reserved = queue.reserve(*id, machine, payer(*account), (*start, *end), now);
            reserved.map_err(|error| {
                let mut error = wrong(error);
                error.line = Some(*line);
                error
            })?;
        }
        Ok(Demand { queue })
    }

    /// Lets time pass; the jobs that the end of their reservation left no room for.
    pub fn advance(&mut self, now: Micros, people: &People) -> Vec<Refused> {
        let found = self.queue.take_refused(now).into_iter();
        found
            .filter_map(|(job, error)| refused(job, error, people).ok())
            .collect()
    }

    pub fn submit(
        &mut self,
        new: &Submission,
        account: usize,
        now: Micros,
        people: &People,
    ) -> Result<Said, Refusal> {
        for (key, given) in [("rate", new.rate.is_some()), ("nice", new.nice.is_some())] {
            if given {
                return Err(format!(
                    "{key} has a meaning with policy = \"fair_share\" only"
                ));
            }
        }
        let submitted = self.queue.submit(
            &NewJob {
                id: new.job,
                account: payer(account),
                machine: &new.machine,
                parts: new.parts.as_deref().unwrap_or_default(),
                expected: new.expected.or(new.limit).unwrap_or(0),
            },
            now,
        );
        match submitted {
            Ok(submitted) => Ok(Said::Submit {
                job: new.job,
                reservation: Some(submitted.reservation),
                halt: submitted.halt,
            }),
            Err(error) => refused(new.job, error, people).map(Said::Refused),
        }
    }

    pub fn next(
        &mut self,
        machine: &str,
        now: Micros,
    ) -> Result<(Decision, Option<u64>, Option<Reason>), Refusal> {
        let nothing = |reason| (Decision::Nothing, None, Some(reason));
        Ok(match self.queue.next(machine, now).map_err(told)? {
            Next::Job(job) => (Decision::Run, Some(job), None),
            Next::Halt(job) => (Decision::Halt, Some(job), None),
            Next::NoneWaits => nothing(Reason::NoneWaits),
            Next::Paused => nothing(Reason::Paused),
            Next::Busy => nothing(Reason::Busy),
        })
    }

    pub fn start(&mut self, job: u64, now: Micros) -> Result<(), Refusal> {
        self.queue.start(job, now).map_err(told)
    }

    pub fn halted(&mut self, job: u64, now: Micros) -> Result<(), Refusal> {
        self.queue.halted(job, now).map_err(told)
    }

    pub fn finish(
        &mut self,
        job: u64,
        ended: Ended,
        executed: Micros,
        now: Micros,
    ) -> Result<(), Refusal> {
        let ended = self
            .queue
            .finish(job, ended.outcome, ended.exit_code, executed, now);
        ended.map_err(told)
    }

    pub fn cancel(&mut self, job: u64, now: Micros) -> Result<(), Refusal> {
        self.queue.cancel(job, now).map_err(told)
    }

    pub fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), Refusal> {
        self.queue.set_paused(machine, paused).map_err(told)
    }

    pub fn reserve(
        &mut self,
        reservation: u64,
        machine: &str,
        owner: usize,
        times: (Micros, Micros),
        now: Micros,
    ) -> Result<(), Refusal> {
        let reserved = self
            .queue
            .reserve(reservation, machine, payer(owner), times, now);
        reserved.map_err(told)
    }

    pub fn cancel_reservation(&mut self, reservation: u64, now: Micros) -> Result<(), Refusal> {
        self.queue
            .cancel_reservation(reservation, now)
            .map_err(told)
    }

    pub fn positions(&mut self, machine: &str, now: Micros) -> Result<Vec<u64>, Refusal> {
        self.queue.positions(machine, now).map_err(told)
    }

    pub fn estimate(
        &mut self,
        machine: &str,
        now: Micros,
    ) -> Result<Vec<(u64, Option<Micros>)>, Refusal> {
        let found = self.queue.estimate(machine, now).map_err(told)?;
        Ok(found.iter().map(|one| (one.job, one.start)).collect())
    }

    /// Amounts that accounts owe for runs that ended from `from` on and before `to`, by account and
    /// machine.
    pub fn bills(&self, from: Micros, to: Micros, people: &People) -> Bills {
        let found = self.queue.bills(from..to);
        let mut bills: Vec<Billed> = found
            .into_iter()
            .map(|((account, machine), bill)| Billed {
                account: people.account(account as usize).to_owned(),
                machine,
                executed: bill.executed,
                reserved_secs: bill.reserved_secs,
                amount: bill.amount,
            })
            .collect();
        bills.sort_by(|a, b| (&a.account, &a.machine).cmp(&(&b.account, &b.machine)));
        Bills {
            from,
            to,
            total: bills.iter().map(|bill| bill.amount).sum(),
            bills,
        }
    }
}
