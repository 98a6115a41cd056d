//! The on-demand queue.

use std::collections::HashMap;

use super::answer::{Billed, Bills, Decision, LimitOf, Reason, Refused, Said};
use super::people::{People, Refusal};
use fairtree::engine::on_demand::{
    AccountId, Limit, NewJob, Next, OnDemand, OnDemandError, Prices,
};
use fairtree::engine::queue::{Lasts, Micros};
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
        OnDemandError::Machine(error) => Err(people.named(error, |id| id as usize)),
        other => Err(told(other)),
    }
}

/// The machines that each bound account may use, by position: those that it and all above it have.
fn bound(site: &QueueSite) -> Vec<(usize, Vec<String>)> {
    let own: HashMap<usize, &Vec<String>> = (site.bindings.iter())
        .map(|(at, machines)| (*at, machines))
        .collect();
    let mut found = Vec::new();
    for at in site
        .tree
        .indices()
        .filter(|at| site.rows[at.get()].user.is_none())
    {
        let mut allowed: Option<Vec<String>> = None;
        for above in site.tree.upward(at) {
            if let Some(machines) = own.get(&above.get()) {
                let both =
                    |name: &String| allowed.as_ref().is_none_or(|names| names.contains(name));
                allowed = Some(machines.iter().filter(|name| both(name)).cloned().collect());
            }
        }
        found.extend(allowed.map(|machines| (at.get(), machines)));
    }
    found
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
            queue
                .set_default_length(Some(&machine.name), machine.default_limit)
                .map_err(wrong)?;
        }
        queue
            .set_default_length(None, site.default_limit)
            .map_err(wrong)?;
        for (at, machines) in bound(site) {
            let names: Vec<&str> = machines.iter().map(String::as_str).collect();
            if names.is_empty() {
                let why = format!(
                    "account {:?} has no machine that the accounts above it have, too",
                    site.rows[at].account
                );
                return Err(InputError::new(&site.file, Problem::Structure(why)));
            }
            queue.bind(payer(at), &names).map_err(wrong)?;
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
        let length = new.expected.or(new.limit);
        let default = self.queue.default_length(&new.machine).map_err(told)?;
        if length.is_none() && default.is_none() {
            return Err(format!(
                "job {} has neither an expected nor a maximum run time, and there is no default for \
                 its machine",
                new.job
            ));
        }
        let submitted = self.queue.submit(
            &NewJob {
                id: new.job,
                account: payer(account),
                machine: &new.machine,
                parts: new.parts.as_deref().unwrap_or_default(),
                expected: length.unwrap_or(0),
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
    ) -> Result<fairtree::engine::Finished, Refusal> {
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

    /// Sets prices; returns those that the machine has now.
    pub fn set_prices(
        &mut self,
        machine: &str,
        (execution, reserved): (Option<u64>, Option<u64>),
        now: Micros,
    ) -> Result<Prices, Refusal> {
        let found = self.queue.machine_states().find(|one| one.name == machine);
        let old = found.map(|one| one.prices).unwrap_or_default();
        let prices = Prices {
            execution_microsecond: execution.unwrap_or(old.execution_microsecond),
            reserved_second: reserved.unwrap_or(old.reserved_second),
        };
        self.queue.set_prices(machine, prices, now).map_err(told)?;
        Ok(prices)
    }

    pub fn limit_machine(&mut self, machine: &str, limit: Option<u32>) -> Result<(), Refusal> {
        self.queue.set_limit(machine, limit).map_err(told)
    }

    /// Limits waiting jobs of an account; `None`: of each without a limit of its own.
    pub fn limit_account(&mut self, account: Option<usize>, limit: Option<u32>) {
        self.queue.limit_account(account.map(payer), limit);
    }

    pub fn reserve(
        &mut self,
        reservation: u64,
        machine: &str,
        owner: usize,
        times: (Micros, Micros),
        now: Micros,
        people: &People,
    ) -> Result<(), Refusal> {
        let reserved = self
            .queue
            .reserve(reservation, machine, payer(owner), times, now);
        reserved.map_err(|error| match error {
            OnDemandError::Machine(error) => people.named(error, |id| id as usize),
            other => told(other),
        })
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
        lasts: Option<Lasts<'_>>,
    ) -> Result<Vec<(u64, Option<Micros>)>, Refusal> {
        let found = match lasts {
            None => self.queue.estimate(machine, now),
            Some(lasts) => self.queue.estimate_lasting(machine, now, lasts),
        };
        let found = found.map_err(told)?;
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
