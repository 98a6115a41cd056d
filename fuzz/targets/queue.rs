//! Events of a site whose machines ask for their next job, by fair share and on demand: lines that
//! a host would write, and arbitrary lines. A naive model knows the waiting and running jobs: only
//! waiting jobs start, the next job waits for that machine, and every waiting job has one position.
#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use fairtree_analysis::queue::{Decision, Player, Said};
use fairtree_model::input::queue::{Act, Event, Events, read};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    on_demand: bool,
    lines: Vec<(u32, EventLine)>,
}

#[derive(Arbitrary, Debug)]
enum EventLine {
    Submit {
        job: u8,
        account: u8,
        machine: u8,
        expected: u32,
        limit: u32,
        nice: i8,
        rate: u8,
    },
    Next {
        machine: u8,
    },
    Start {
        job: u8,
    },
    Finish {
        job: u8,
        outcome: u8,
        code: u8,
        executed: Option<u32>,
    },
    Requeue {
        job: u8,
        outcome: u8,
    },
    Halted {
        job: u8,
    },
    Cancel {
        job: u8,
    },
    Pause {
        machine: u8,
        on: bool,
    },
    Reserve {
        reservation: u8,
        machine: u8,
        account: u8,
        after: u16,
        secs: u16,
    },
    CancelReservation {
        reservation: u8,
    },
    Position {
        job: u8,
    },
    Positions,
    Estimate,
    Standing {
        account: u8,
    },
    Bill,
    Shares {
        account: u8,
        shares: Option<u8>,
    },
    Minutes {
        account: u8,
        minutes: Option<u16>,
    },
    Price {
        machine: u8,
        price: u32,
    },
    Limit {
        machine: u8,
        limit: Option<u8>,
    },
    Raw(String),
}

const FAIR_SHARE: &str = include_str!("../../examples/cloud.toml");
const ON_DEMAND: &str = include_str!("../../examples/on_demand.toml");
const SHARERS: [&str; 6] = [
    "project_x",
    "project_y",
    "project_v",
    "a_group1",
    "root",
    "nobody",
];
const BUYERS: [&str; 4] = ["acme", "beta", "gamma", "nobody"];
const MACHINES: [&str; 3] = ["m1", "m2", "m3"];
const ENDS: [&str; 5] = ["COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "PREEMPTED"];

/// A line of events at `time`, microseconds since 1970.
fn line(on_demand: bool, time: u64, line: &EventLine) -> String {
    let account = |at: u8| match on_demand {
        true => BUYERS[usize::from(at) % BUYERS.len()],
        false => SHARERS[usize::from(at) % SHARERS.len()],
    };
    let machine = |at: u8| MACHINES[usize::from(at) % MACHINES.len()];
    let job = |at: u8| at % 16;
    let end = |at: u8| ENDS[usize::from(at) % ENDS.len()];
    let rest = match line {
        EventLine::Submit {
            job: id,
            account: who,
            machine: at,
            expected,
            limit,
            nice,
            rate,
        } => {
            let expected = match expected {
                0 => String::new(),
                secs => format!(", \"expected\": {secs}"),
            };
            let fair = format!(", \"nice\": {nice}, \"rate\": {rate}");
            format!(
                "\"submit\", \"job\": {}, \"account\": \"{}\", \"machine\": \"{}\"{expected}, \
                 \"limit\": {limit}{}",
                job(*id),
                account(*who),
                machine(*at),
                if on_demand { "" } else { &fair },
            )
        }
        EventLine::Next { machine: at } => format!("\"next\", \"machine\": \"{}\"", machine(*at)),
        EventLine::Start { job: id } => format!("\"start\", \"job\": {}", job(*id)),
        EventLine::Finish {
            job: id,
            outcome,
            code,
            executed,
        } => {
            let executed = executed.map_or(String::new(), |of| format!(", \"executed\": {of}"));
            let (id, end) = (job(*id), end(*outcome));
            format!(
                "\"finish\", \"job\": {id}, \"outcome\": \"{end}\", \"exit_code\": {code}{executed}"
            )
        }
        EventLine::Requeue { job: id, outcome } => {
            format!(
                "\"requeue\", \"job\": {}, \"outcome\": \"{}\"",
                job(*id),
                end(*outcome)
            )
        }
        EventLine::Halted { job: id } => format!("\"halted\", \"job\": {}", job(*id)),
        EventLine::Cancel { job: id } => format!("\"cancel\", \"job\": {}", job(*id)),
        EventLine::Pause { machine: at, on } => {
            let what = if *on { "pause" } else { "resume" };
            format!("\"{what}\", \"machine\": \"{}\"", machine(*at))
        }
        EventLine::Reserve {
            reservation,
            machine: at,
            account: who,
            after,
            secs,
        } => {
            let start = time / 1_000_000 + u64::from(*after);
            let moment = |secs: u64| {
                // Seconds after the day on which events begin.
                let of_day = secs - DAY;
                format!(
                    "2026-03-{:02}T{:02}:{:02}:{:02}Z",
                    1 + of_day / 86_400,
                    of_day / 3600 % 24,
                    of_day / 60 % 60,
                    of_day % 60
                )
            };
            let (start, end) = (moment(start), moment(start + u64::from(*secs)));
            format!(
                "\"reserve\", \"reservation\": {reservation}, \"machine\": \"{}\", \"account\": \
                 \"{}\", \"start\": \"{start}\", \"end\": \"{end}\"",
                machine(*at),
                account(*who),
            )
        }
        EventLine::CancelReservation { reservation } => {
            format!("\"cancel_reservation\", \"reservation\": {reservation}")
        }
        EventLine::Position { job: id } => format!("\"position\", \"job\": {}", job(*id)),
        EventLine::Positions => "\"positions\"".to_owned(),
        EventLine::Estimate => "\"estimate\"".to_owned(),
        EventLine::Standing { account: who } => {
            format!("\"standing\", \"account\": \"{}\"", account(*who))
        }
        EventLine::Bill => "\"bill\"".to_owned(),
        EventLine::Shares {
            account: who,
            shares,
        } => {
            let shares = shares.map_or("\"parent\"".to_owned(), |shares| shares.to_string());
            format!(
                "\"shares\", \"account\": \"{}\", \"shares\": {shares}",
                account(*who)
            )
        }
        EventLine::Minutes {
            account: who,
            minutes,
        } => {
            let minutes = minutes.map_or("null".to_owned(), |minutes| minutes.to_string());
            format!(
                "\"minutes\", \"account\": \"{}\", \"minutes\": {minutes}",
                account(*who)
            )
        }
        EventLine::Price { machine: at, price } => format!(
            "\"price\", \"machine\": \"{}\", \"execution_microsecond\": {price}",
            machine(*at)
        ),
        EventLine::Limit { machine: at, limit } => {
            let limit = limit.map_or("null".to_owned(), |limit| limit.to_string());
            format!(
                "\"limit\", \"machine\": \"{}\", \"limit\": {limit}",
                machine(*at)
            )
        }
        EventLine::Raw(text) => return text.replace('\n', " "),
    };
    let of_day = time / 1_000_000 - DAY;
    format!(
        "{{\"time\": \"2026-03-{:02}T{:02}:{:02}:{:02}.{:06}Z\", \"event\": {rest}}}",
        1 + of_day / 86_400,
        of_day / 3600 % 24,
        of_day / 60 % 60,
        of_day % 60,
        time % 1_000_000
    )
}

/// The first of March 2026, seconds since 1970.
const DAY: u64 = 1_772_323_200;

/// Waiting jobs with their machines, and running jobs.
#[derive(Debug, Default)]
struct Naive {
    waiting: BTreeMap<u64, String>,
    running: BTreeMap<u64, String>,
}

impl Naive {
    fn take(&mut self, act: &Act, said: &Said) {
        match (act, said) {
            // Passing time refused a waiting job; other refusals concern jobs that never waited.
            (Act::Time, Said::Refused(refused)) => {
                self.waiting.remove(&refused.job).expect("it waits");
            }
            (Act::Submit(new), Said::Submit { .. }) => {
                assert!(!self.running.contains_key(&new.job), "{new:?}");
                let before = self.waiting.insert(new.job, new.machine.clone());
                assert_eq!(before, None, "{new:?}");
            }
            (
                Act::Next(machine),
                Said::Next {
                    job: Some(job),
                    decision,
                    ..
                },
            ) => {
                let from = match *decision {
                    Decision::Halt => &self.running,
                    _ => &self.waiting,
                };
                assert_eq!(from.get(job), Some(machine), "{said:?} {self:?}");
            }
            (Act::Start(job), Said::Start { .. }) => {
                let machine = self.waiting.remove(job).expect("it waits");
                self.running.insert(*job, machine);
            }
            (Act::Finish(job, _), Said::Finish(_)) => {
                self.running.remove(job).expect("it runs");
            }
            (Act::Requeue(job, _), Said::Requeue(_)) | (Act::Halted(job), Said::Halted { .. }) => {
                let machine = self.running.remove(job).expect("it runs");
                self.waiting.insert(*job, machine);
            }
            (Act::Cancel(job), Said::Cancel { .. }) => {
                self.waiting.remove(job).expect("it waits");
            }
            (Act::Positions(_), Said::Positions { machine, jobs }) => {
                let mut listed: Vec<u64> = jobs.iter().map(|place| place.job).collect();
                listed.sort_unstable();
                let waiting = self.waiting.iter().filter(|(_, at)| *at == machine);
                assert_eq!(listed, waiting.map(|(job, _)| *job).collect::<Vec<_>>());
            }
            _ => {}
        }
    }
}

fuzz_target!(|input: Input| {
    let site = if input.on_demand {
        ON_DEMAND
    } else {
        FAIR_SHARE
    };
    let site = read("site.toml", site.as_bytes()).expect("an example");
    let mut player = Player::new(site, "events").expect("an example");
    let mut naive = Naive::default();
    // The examples begin on the first and on the second of March.
    let mut time = (DAY + 32 * 3600) * 1_000_000;
    for (after, next) in input.lines.iter().take(64) {
        // Little more than an hour at most: everything stays in March.
        time += u64::from(*after);
        let text = line(input.on_demand, time, next);
        let mut events = Events::new("events", text.as_bytes());
        loop {
            let event: Event = match events.read_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    assert!(!error.explained().is_empty());
                    break;
                }
            };
            let passed = Event {
                act: Act::Time,
                ..event.clone()
            };
            for event in [&passed, &event] {
                match player.play(event) {
                    Ok(answers) => {
                        for answer in &answers {
                            naive.take(&event.act, &answer.said);
                        }
                    }
                    Err(error) => assert!(!error.explained().is_empty()),
                }
            }
        }
    }
});
