//! From events to answers.

use std::collections::HashMap;

use super::answer::{Answer, Place, Said};
use super::band::Ratios;
use super::fair_share::FairShare;
use super::on_demand::Demand;
use super::people::{People, Refusal};
use fairtree::engine::queue::{Lasts, Micros};
use fairtree_model::input::queue::{
    Act, Ended, Event, LimitedBy, MachineRow, Policy, QueueSite, Submission,
};
use fairtree_model::input::{InputError, Problem};

/// A site to which something happens.
#[derive(Debug)]
pub struct Player {
    /// Name of the events in messages.
    file: String,
    people: People,
    machines: Vec<String>,
    queue: PlayedQueue,
    now: Option<Micros>,
    jobs: Jobs,
    ratios: Ratios,
    /// Run times of jobs that come without any, by machine.
    default_limits: HashMap<String, u64>,
}

/// Either queue.
#[derive(Debug)]
enum PlayedQueue {
    FairShare(Box<FairShare>),
    OnDemand(Box<Demand>),
}

/// Jobs that wait or run.
pub(super) type Jobs = HashMap<u64, Known>;

/// A job that waits or runs.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Position of its association.
    pub assoc: usize,
    /// The machine that it waits for.
    pub machine: String,
    /// The estimate of its run time: `expected` or `limit`.
    pub proxy: &'static str,
    /// That run time, microseconds.
    pub length: Option<u64>,
    /// When it started.
    pub started: Option<Micros>,
}

impl Player {
    /// Stands over a site; messages call the events `file`.
    ///
    /// # Errors
    /// What the engine does not take of the site: a rule for an account that shares as its parent
    /// does; reservations that overlap, or last no whole seconds.
    pub fn new(site: QueueSite, file: &str) -> Result<Player, InputError> {
        let now = site.now.unwrap_or(0);
        let people = People::new(&site);
        let queue = match &site.policy {
            Policy::FairShare(settings) => {
                let made = FairShare::new(&site, settings, now, &people);
                let wrong = |why| InputError::new(&site.file, Problem::Structure(why));
                PlayedQueue::FairShare(Box::new(made.map_err(wrong)?))
            }
            Policy::OnDemand(policy) => {
                PlayedQueue::OnDemand(Box::new(Demand::new(&site, policy, now)?))
            }
        };
        let default = |machine: &MachineRow| machine.default_limit.or(site.default_limit);
        let default_limits = (site.machines.iter())
            .filter_map(|machine| Some((machine.name.clone(), default(machine)?)));
        Ok(Player {
            file: file.to_owned(),
            people,
            default_limits: default_limits.collect(),
            ratios: Ratios::default(),
            machines: site
                .machines
                .into_iter()
                .map(|machine| machine.name)
                .collect(),
            queue,
            now: site.now,
            jobs: Jobs::new(),
        })
    }

    /// The moment of the latest event.
    pub fn now(&self) -> Option<Micros> {
        self.now
    }

    /// Takes an event. Answers with what the passing of time did, and then with what the event
    /// did; a question about all machines has an answer for each.
    ///
    /// # Errors
    /// Names that the site does not have, a time before that of the event before, and what the
    /// engine refuses, each at its line. A limit that is reached is an answer, no error.
    pub fn play(&mut self, event: &Event) -> Result<Vec<Answer>, InputError> {
        let now = self.moment(event).map_err(|why| self.refused(event, why))?;
        let mut said = Vec::new();
        if let PlayedQueue::OnDemand(queue) = &mut self.queue {
            for refused in queue.advance(now, &self.people) {
                self.jobs.remove(&refused.job);
                said.push(Said::Refused(refused));
            }
        }
        let acted = self.act(&event.act, now, &mut said);
        acted.map_err(|why| self.refused(event, why))?;
        self.now = Some(now);
        Ok(said
            .into_iter()
            .map(|said| Answer { time: now, said })
            .collect())
    }

    fn refused(&self, event: &Event, why: Refusal) -> InputError {
        let error = InputError::new(&self.file, Problem::Structure(why));
        error.at_line(event.line, &event.text)
    }

    fn moment(&self, event: &Event) -> Result<Micros, Refusal> {
        match (event.time, self.now) {
            (Some(time), Some(before)) if time < before => Err(format!(
                "time goes back: {} is before {}, the moment of what came before",
                shown(time),
                shown(before)
            )),
            (Some(time), _) => Ok(time),
            (None, Some(before)) => Ok(before),
            (None, None) => Err(
                "the first event needs a time, as the site has none: give it the key \"time\", or \
                 now to the site"
                    .to_owned(),
            ),
        }
    }

    fn act(&mut self, act: &Act, now: Micros, said: &mut Vec<Said>) -> Result<(), Refusal> {
        let answer = match act {
            Act::Submit(new) => self.submit(new, now)?,
            Act::Next(machine) => self.next(machine, now)?,
            Act::Start(job) => self.start(*job, now)?,
            Act::Finish(job, ended) => Said::Finish(self.end(*job, *ended, now, false)?),
            Act::Requeue(job, ended) => Said::Requeue(self.end(*job, *ended, now, true)?),
            Act::Halted(job) => {
                self.on_demand("halted")?.halted(*job, now)?;
                if let Some(known) = self.jobs.get_mut(job) {
                    known.started = None;
                }
                Said::Halted { job: *job }
            }
            Act::Cancel(job) => {
                match &mut self.queue {
                    PlayedQueue::FairShare(queue) => queue.cancel(*job)?,
                    PlayedQueue::OnDemand(queue) => queue.cancel(*job, now)?,
                }
                self.jobs.remove(job);
                Said::Cancel { job: *job }
            }
            Act::Pause(machine) => {
                self.set_paused(machine, true)?;
                Said::Pause {
                    machine: machine.clone(),
                }
            }
            Act::Resume(machine) => {
                self.set_paused(machine, false)?;
                Said::Resume {
                    machine: machine.clone(),
                }
            }
            Act::Reserve {
                reservation,
                machine,
                account,
                start,
                end,
            } => {
                let owner = self.people.find(account, None)?;
                let PlayedQueue::OnDemand(queue) = &mut self.queue else {
                    return Err(only("reserve", "on_demand"));
                };
                let times = (*start, *end);
                queue.reserve(*reservation, machine, owner, times, now, &self.people)?;
                Said::Reserve {
                    reservation: *reservation,
                }
            }
            Act::CancelReservation(reservation) => {
                let queue = self.on_demand("cancel_reservation")?;
                queue.cancel_reservation(*reservation, now)?;
                Said::CancelReservation {
                    reservation: *reservation,
                }
            }
            Act::Shares {
                account,
                user,
                shares,
            } => {
                let assoc = self.people.find(account, user.as_deref())?;
                let PlayedQueue::FairShare(queue) = &mut self.queue else {
                    return Err(only("shares", "fair_share"));
                };
                queue.set_shares(assoc, *shares, &self.people, now)?;
                Said::Shares {
                    account: account.clone(),
                    user: user.clone(),
                    shares: shares.raw(),
                }
            }
            Act::Minutes { account, minutes } => {
                let assoc = self.people.find(account, None)?;
                let PlayedQueue::FairShare(queue) = &mut self.queue else {
                    return Err(only("minutes", "fair_share"));
                };
                queue.set_minutes(assoc, *minutes, &self.people, now)?;
                Said::Minutes {
                    account: account.clone(),
                    minutes: *minutes,
                }
            }
            Act::Price {
                machine,
                execution_microsecond,
                reserved_second,
            } => {
                let queue = self.on_demand("price")?;
                let prices = (*execution_microsecond, *reserved_second);
                let prices = queue.set_prices(machine, prices, now)?;
                Said::Price {
                    machine: machine.clone(),
                    execution_microsecond: prices.execution_microsecond,
                    reserved_second: prices.reserved_second,
                }
            }
            Act::Limit { of, limit } => self.limit(of, *limit)?,
            Act::Time => {
                if let PlayedQueue::FairShare(queue) = &mut self.queue {
                    queue.advance(now);
                }
                Said::Time
            }
            Act::Position(job) => self.position(*job, now)?,
            Act::Positions(machine) => {
                for machine in self.asked(machine.as_deref()) {
                    let answer = self.positions(&machine, now)?;
                    said.push(answer);
                }
                return Ok(());
            }
            Act::Estimate(machine) => {
                for machine in self.asked(machine.as_deref()) {
                    let answer = self.estimate(&machine, now)?;
                    said.push(answer);
                }
                return Ok(());
            }
            Act::Standing { account, user } => {
                let assoc = self.people.find(account, user.as_deref())?;
                match &mut self.queue {
                    PlayedQueue::FairShare(queue) => queue.standing(assoc, account, user, now)?,
                    PlayedQueue::OnDemand(_) => return Err(only("standing", "fair_share")),
                }
            }
            Act::Bill { from, to } => {
                let to = to.unwrap_or(now.saturating_add(1));
                let people = &self.people;
                match &self.queue {
                    PlayedQueue::OnDemand(queue) => {
                        Said::Bill(queue.bills(from.unwrap_or(0), to, people))
                    }
                    PlayedQueue::FairShare(_) => return Err(only("bill", "on_demand")),
                }
            }
        };
        said.push(answer);
        Ok(())
    }

    fn on_demand(&mut self, event: &str) -> Result<&mut Demand, Refusal> {
        match &mut self.queue {
            PlayedQueue::OnDemand(queue) => Ok(queue),
            PlayedQueue::FairShare(_) => Err(only(event, "on_demand")),
        }
    }

    fn limit(&mut self, of: &LimitedBy, limit: Option<u32>) -> Result<Said, Refusal> {
        let at = match of {
            LimitedBy::Account(account) => Some(self.people.find(account, None)?),
            LimitedBy::Machine(_) | LimitedBy::EachAccount => None,
        };
        let queue = self.on_demand("limit")?;
        let (account, machine) = match of {
            LimitedBy::Machine(machine) => {
                queue.limit_machine(machine, limit)?;
                (None, Some(machine.clone()))
            }
            LimitedBy::Account(account) => {
                queue.limit_account(at, limit);
                (Some(account.clone()), None)
            }
            LimitedBy::EachAccount => {
                queue.limit_account(None, limit);
                (None, None)
            }
        };
        Ok(Said::Limit {
            account,
            machine,
            limit,
        })
    }

    /// The machine that is asked about, or all.
    fn asked(&self, machine: Option<&str>) -> Vec<String> {
        match machine {
            Some(machine) => vec![machine.to_owned()],
            None => self.machines.clone(),
        }
    }

    fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), Refusal> {
        match &mut self.queue {
            PlayedQueue::FairShare(queue) => queue.set_paused(machine, paused),
            PlayedQueue::OnDemand(queue) => queue.set_paused(machine, paused),
        }
    }

    fn submit(&mut self, new: &Submission, now: Micros) -> Result<Said, Refusal> {
        let assoc = self.people.find(&new.account, new.user.as_deref())?;
        let said = match &mut self.queue {
            PlayedQueue::FairShare(queue) => queue.submit(new, assoc, now, &self.people)?,
            PlayedQueue::OnDemand(queue) => {
                let account = self.people.find(&new.account, None)?;
                queue.submit(new, account, now, &self.people)?
            }
        };
        if matches!(said, Said::Submit { .. }) {
            let proxy = if new.expected.is_some() {
                "expected"
            } else {
                "limit"
            };
            let known = Known {
                assoc,
                machine: new.machine.clone(),
                proxy,
                length: (new.expected.or(new.limit))
                    .or_else(|| self.default_limits.get(&new.machine).copied()),
                started: None,
            };
            self.jobs.insert(new.job, known);
        }
        Ok(said)
    }

    fn next(&mut self, machine: &str, now: Micros) -> Result<Said, Refusal> {
        let (decision, job, reason) = match &mut self.queue {
            PlayedQueue::FairShare(queue) => queue.next(machine, now)?,
            PlayedQueue::OnDemand(queue) => queue.next(machine, now)?,
        };
        Ok(Said::Next {
            machine: machine.to_owned(),
            decision,
            job,
            account: job.map(|job| self.account(job)),
            reason,
        })
    }

    fn account(&self, job: u64) -> String {
        let known = self.jobs.get(&job);
        known.map_or_else(String::new, |known| {
            self.people.account(known.assoc).to_owned()
        })
    }

    fn start(&mut self, job: u64, now: Micros) -> Result<Said, Refusal> {
        match &mut self.queue {
            PlayedQueue::FairShare(queue) => queue.start(job, now)?,
            PlayedQueue::OnDemand(queue) => queue.start(job, now)?,
        }
        if let Some(known) = self.jobs.get_mut(&job) {
            known.started = Some(now);
        }
        Ok(Said::Start { job })
    }

    fn end(
        &mut self,
        job: u64,
        ended: Ended,
        now: Micros,
        requeue: bool,
    ) -> Result<super::Finished, Refusal> {
        let started = self.jobs.get(&job).and_then(|known| known.started);
        let executed = match ended.executed {
            Some(executed) => executed,
            None => now - started.unwrap_or(now),
        };
        let (finished, has_prices) = match &mut self.queue {
            PlayedQueue::FairShare(queue) => {
                (queue.end(job, ended, executed, now, requeue)?, false)
            }
            PlayedQueue::OnDemand(_) if requeue => return Err(only("requeue", "fair_share")),
            PlayedQueue::OnDemand(queue) => (queue.finish(job, ended, executed, now)?, true),
        };
        if let Some(known) = self
            .jobs
            .get(&job)
            .filter(|_| ended.outcome.ran_its_course())
        {
            let account = self.people.account(known.assoc);
            self.ratios
                .add(account, executed, known.length.unwrap_or(0));
        }
        match self.jobs.get_mut(&job) {
            Some(known) if requeue => known.started = None,
            _ => {
                self.jobs.remove(&job);
            }
        }
        Ok(super::Finished {
            job,
            executed: finished.executed,
            counts: finished.counts,
            price: has_prices.then_some(finished.price),
            cost: has_prices.then_some(finished.cost),
        })
    }

    fn order(&mut self, machine: &str, now: Micros) -> Result<Vec<u64>, Refusal> {
        match &mut self.queue {
            PlayedQueue::FairShare(queue) => queue.positions(machine, now),
            PlayedQueue::OnDemand(queue) => queue.positions(machine, now),
        }
    }

    fn position(&mut self, job: u64, now: Micros) -> Result<Said, Refusal> {
        let known = self.jobs.get(&job);
        let known = known.ok_or_else(|| format!("there is no job {job}"))?;
        let machine = known.machine.clone();
        let order = self.order(&machine, now)?;
        match order.iter().position(|other| *other == job) {
            Some(position) => Ok(Said::Position {
                job,
                machine,
                position: position + 1,
            }),
            None => Err(format!("job {job} does not wait, it runs")),
        }
    }

    fn positions(&mut self, machine: &str, now: Micros) -> Result<Said, Refusal> {
        let order = self.order(machine, now)?;
        let place = |job: &u64| Place {
            job: *job,
            account: self.account(*job),
        };
        Ok(Said::Positions {
            machine: machine.to_owned(),
            jobs: order.iter().map(place).collect(),
        })
    }

    fn estimate(&mut self, machine: &str, now: Micros) -> Result<Said, Refusal> {
        let Player {
            queue,
            people,
            jobs,
            ratios,
            ..
        } = self;
        let mut simulate = |lasts: Option<Lasts<'_>>| match queue {
            PlayedQueue::FairShare(queue) => queue.estimate(machine, now, lasts),
            PlayedQueue::OnDemand(queue) => queue.estimate(machine, now, lasts),
        };
        let starts = simulate(None)?;
        let account = |at: usize| people.account(at).to_owned();
        let bands = match starts.is_empty() {
            true => HashMap::new(),
            false => ratios.bands(jobs, account, now, |lasts| simulate(Some(lasts)))?,
        };
        let estimated = |(job, start): (u64, Option<Micros>)| super::Estimated {
            job,
            account: self.account(job),
            start,
            proxy: self.jobs.get(&job).map_or("expected", |known| known.proxy),
            low: bands.get(&job).map(|band| band.0),
            high: bands.get(&job).map(|band| band.1),
        };
        Ok(Said::Estimate {
            machine: machine.to_owned(),
            jobs: starts.into_iter().map(estimated).collect(),
        })
    }
}

/// Why an event does not go with the site's policy.
fn only(event: &str, policy: &str) -> Refusal {
    format!("{event} has a meaning with policy = \"{policy}\" only")
}

/// A moment as people read it.
fn shown(micros: Micros) -> String {
    match jiff::Timestamp::from_microsecond(micros) {
        Ok(moment) => moment.to_string(),
        Err(_) => micros.to_string(),
    }
}
