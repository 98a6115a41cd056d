//! Saving a queue into bytes, and restoring it.
//!
//! The frame is that of [`crate::engine::bytes`], `FTQUEUE` of version 2; in it are the tree,
//! the settings, the moment, machines, jobs, runs that some window may still reach, sums, bindings and
//! the default of the maximum run time. Version 1 has neither the last two, nor a default or a removal
//! of a machine, and users compete in it.
//! Queues that hold the same may have different bytes.

use super::history::Run;
use super::job::Job;
use super::machine::Machine;
use super::parts::Parts;
use super::{AccountRule, Choice, Counted, Queue, QueueError, Settings};
use crate::engine::MachineError;
use crate::engine::bytes::{Fault, Format, Reader, Writer, damaged};
use crate::order::Level;
use crate::tree::{Assoc, AssocKind, Shares, Tree};
use crate::usage::Outcomes;

const FORMAT: Format = Format {
    magic: b"FTQUEUE\0",
    version: 2,
};

impl From<Fault> for QueueError {
    fn from(fault: Fault) -> QueueError {
        MachineError::from(fault).into()
    }
}

impl Queue {
    /// All that it holds as bytes, with a version and a checksum; the same on every machine.
    pub fn save(&self) -> Vec<u8> {
        FORMAT.save(|bytes| parts(bytes, &self.parts()))
    }

    /// The queue that was saved.
    ///
    /// # Errors
    /// [`MachineError::Damaged`], [`MachineError::Version`].
    pub fn restore(bytes: &[u8]) -> Result<Queue, QueueError> {
        let parts = FORMAT.restore(bytes, read_parts)?;
        Queue::from_parts(parts).map_err(|error| {
            MachineError::Damaged {
                why: error.to_string(),
            }
            .into()
        })
    }
}

fn parts(bytes: &mut Writer, parts: &Parts) {
    bytes.list(parts.tree.rows(), assoc);
    settings(bytes, &parts.settings);
    bytes.i64(parts.now);
    bytes.list(&parts.machines, |bytes, machine| {
        bytes.text(&machine.name);
        bytes.u32(machine.slots);
        bytes.u8(machine.paused.into());
        bytes.option(machine.default_limit, Writer::u64);
        bytes.u8(machine.removed.into());
    });
    bytes.list(&parts.jobs, job);
    bytes.list(&parts.runs, |bytes, (assoc, run)| {
        bytes.u32(*assoc);
        bytes.i64(run.start);
        bytes.i64(run.end);
        bytes.u32(run.rate);
    });
    bytes.list(&parts.moments, |bytes, moment| bytes.i64(*moment));
    bytes.list(&parts.sums, |bytes, (assoc, moment, used)| {
        bytes.u32(*assoc);
        bytes.i64(*moment);
        bytes.u128(*used);
    });
    bytes.list(&parts.bindings, |bytes, (assoc, machines)| {
        bytes.u32(*assoc);
        bytes.list(machines, |bytes, machine| bytes.text(machine));
    });
    bytes.option(parts.default_limit, Writer::u64);
}

fn read_parts(reader: &mut Reader<'_>) -> Result<Parts, Fault> {
    let rows = reader.list(read_assoc)?;
    let tree = Tree::from_rows(rows).map_err(|error| damaged(error.to_string()))?;
    let settings = read_settings(reader)?;
    let now = reader.i64()?;
    let machines = reader.list(|reader| {
        Ok(Machine {
            name: reader.text()?,
            slots: reader.u32()?,
            paused: reader.flag()?,
            running: 0,
            waiting: 0,
            default_limit: match reader.since(2) {
                true => reader.option(Reader::u64)?,
                false => None,
            },
            removed: reader.since(2) && reader.flag()?,
        })
    })?;
    let jobs = reader.list(read_job)?;
    if jobs.iter().any(|job| {
        machines
            .get(job.machine as usize)
            .is_none_or(|it| it.removed)
    }) {
        return Err(damaged("a job for a machine that is not there"));
    }
    if jobs.iter().any(|job| job.started > Some(now)) {
        return Err(damaged("a job that starts later"));
    }
    let runs = reader.list(|reader| {
        let assoc = reader.u32()?;
        let run = Run {
            node: 0,
            start: reader.i64()?,
            end: reader.i64()?,
            rate: reader.u32()?,
        };
        if run.start > run.end || run.end > now {
            return Err(damaged("a run that ends before it starts, or later"));
        }
        Ok((assoc, run))
    })?;
    Ok(Parts {
        tree,
        settings,
        now,
        machines,
        jobs,
        runs,
        moments: reader.list(Reader::i64)?,
        sums: reader.list(read_sum)?,
        bindings: match reader.since(2) {
            true => reader.list(|reader| Ok((reader.u32()?, reader.list(Reader::text)?)))?,
            false => Vec::new(),
        },
        default_limit: match reader.since(2) {
            true => reader.option(Reader::u64)?,
            false => None,
        },
    })
}

fn read_sum(reader: &mut Reader<'_>) -> Result<(u32, i64, u128), Fault> {
    Ok((reader.u32()?, reader.i64()?, reader.u128()?))
}

fn assoc(bytes: &mut Writer, row: &Assoc) {
    bytes.u32(row.id);
    bytes.option(row.parent, Writer::u32);
    bytes.u8((row.kind == AssocKind::User).into());
    bytes.option(row.shares.raw(), Writer::u32);
}

fn read_assoc(reader: &mut Reader<'_>) -> Result<Assoc, Fault> {
    Ok(Assoc {
        id: reader.u32()?,
        parent: reader.option(Reader::u32)?,
        kind: match reader.flag()? {
            true => AssocKind::User,
            false => AssocKind::Account,
        },
        shares: reader
            .option(Reader::u32)?
            .map_or(Shares::Parent, Shares::Raw),
    })
}

fn counted(bytes: &mut Writer, counted: Counted) {
    let (window, number) = match counted {
        Counted::Window(length) => (true, length),
        Counted::Since(moment) => (false, moment),
    };
    bytes.u8(window.into());
    bytes.i64(number);
}

fn read_counted(reader: &mut Reader<'_>) -> Result<Counted, Fault> {
    Ok(match reader.flag()? {
        true => Counted::Window(reader.i64()?),
        false => Counted::Since(reader.i64()?),
    })
}

fn settings(bytes: &mut Writer, settings: &Settings) {
    let level = match settings.level {
        Level::Leaf => None,
        Level::Depth(depth) => Some(depth),
    };
    bytes.option(level, Writer::u32);
    bytes.u8((settings.choice == Choice::Interleaved).into());
    counted(bytes, settings.counted);
    bytes.text(&settings.outcomes.to_string());
    bytes.u64(settings.capacity);
    bytes.list(&settings.accounts, |bytes, (id, rule)| {
        bytes.u32(*id);
        bytes.option(rule.minutes, Writer::u64);
        bytes.option(rule.counted, counted);
    });
    bytes.u8(settings.users_compete.into());
}

fn read_settings(reader: &mut Reader<'_>) -> Result<Settings, Fault> {
    Ok(Settings {
        level: reader
            .option(Reader::u32)?
            .map_or(Level::Leaf, Level::Depth),
        choice: match reader.flag()? {
            true => Choice::Interleaved,
            false => Choice::Strict,
        },
        counted: read_counted(reader)?,
        outcomes: read_outcomes(&reader.text()?)?,
        capacity: reader.u64()?,
        accounts: reader.list(|reader| {
            let id = reader.u32()?;
            let rule = AccountRule {
                minutes: reader.option(Reader::u64)?,
                counted: reader.option(read_counted)?,
            };
            Ok((id, rule))
        })?,
        users_compete: !reader.since(2) || reader.flag()?,
    })
}

fn read_outcomes(text: &str) -> Result<Outcomes, Fault> {
    let wrong = |_| damaged(format!("ends of runs that are none: {text}"));
    text.parse().map_err(wrong)
}

fn job(bytes: &mut Writer, job: &Job) {
    bytes.u64(job.id);
    bytes.u32(job.assoc);
    bytes.u32(job.machine);
    bytes.i64(job.submit);
    bytes.i64(job.nice);
    bytes.option(job.expected, Writer::u64);
    bytes.option(job.limit, Writer::u64);
    bytes.u32(job.rate);
    bytes.option(job.started, Writer::i64);
}

fn read_job(reader: &mut Reader<'_>) -> Result<Job, Fault> {
    Ok(Job {
        id: reader.u64()?,
        assoc: reader.u32()?,
        node: 0,
        machine: reader.u32()?,
        submit: reader.i64()?,
        nice: reader.i64()?,
        expected: reader.option(Reader::u64)?,
        limit: reader.option(Reader::u64)?,
        rate: reader.u32()?,
        started: reader.option(Reader::i64)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::queue::{NewJob, Next};
    use crate::usage::EndState;

    fn queue() -> Queue {
        let row = |id, parent, shares| Assoc {
            id,
            parent,
            kind: AssocKind::Account,
            shares,
        };
        let tree = Tree::from_rows([
            row(1, None, Shares::Raw(1)),
            row(2, Some(1), Shares::Raw(2)),
            row(3, Some(1), Shares::Raw(1)),
            row(4, Some(2), Shares::Parent),
        ])
        .unwrap();
        let flex = AccountRule {
            minutes: Some(10),
            counted: Some(Counted::Since(-5)),
        };
        let settings = Settings {
            level: Level::Depth(2),
            counted: Counted::Window(1_000),
            outcomes: "COMPLETED,FAILED:3:4".parse().unwrap(),
            accounts: vec![(3, flex)],
            ..Settings::default()
        };
        let mut queue = Queue::new(&tree, settings, 0).unwrap();
        queue.add_machine("mé", 2).unwrap();
        queue.add_machine("idle", 1).unwrap();
        queue.set_paused("idle", true).unwrap();
        for (id, assoc) in (1..).zip([2, 3, 4, 2, 3, 3, 2]) {
            let new = NewJob {
                id,
                assoc,
                machine: "mé",
                submit: 9 - id as i64,
                nice: 0,
                expected: (id % 2 == 0).then_some(100),
                limit: Some(200),
                rate: id as u32,
            };
            queue.add(&new).unwrap();
        }
        for now in [100, 400, 700] {
            let Next::Job(job) = queue.next("mé", now).unwrap() else {
                panic!("jobs wait")
            };
            queue.start(job, now).unwrap();
            if now < 700 {
                let end = EndState::Completed;
                queue.finish(job, end, 0, 150, now + 200).unwrap();
            }
        }
        queue
    }

    #[test]
    fn restored_goes_on_as_what_was_saved() {
        let mut saved = queue();
        let bytes = saved.save();
        let mut restored = Queue::restore(&bytes).unwrap();
        assert_eq!(restored.save(), bytes);
        for now in [700, 900, 1_100, 1_200, 1_300, 5_000] {
            for id in [2, 3, 4] {
                assert_eq!(restored.standing(id, now), saved.standing(id, now));
            }
            let positions = saved.positions_at("mé", now);
            assert_eq!(restored.positions_at("mé", now), positions);
            assert_eq!(restored.next("idle", now), saved.next("idle", now));
            assert_eq!(restored.estimate("mé", now), saved.estimate("mé", now));
            let Next::Job(job) = saved.next("mé", now).unwrap() else {
                continue;
            };
            for queue in [&mut saved, &mut restored] {
                queue.start(job, now).unwrap();
                queue.requeue(job, EndState::Completed, 0, 0, now).unwrap();
            }
        }
    }

    /// Two runs of the highest rate for all time from 1970 on.
    #[test]
    fn the_longest_and_widest_runs_are_saved_and_restored() {
        let mut queue = queue();
        let settings = Settings {
            counted: Counted::Since(0),
            ..Settings::default()
        };
        let tree = queue.tree().clone();
        queue.change(&tree, settings).unwrap();
        let before = queue.standing(3, 700).unwrap().used;
        for id in [20, 21] {
            let new = NewJob {
                id,
                assoc: 3,
                machine: "wide",
                submit: 0,
                nice: 0,
                expected: Some(1),
                limit: None,
                rate: u32::MAX,
            };
            if id == 20 {
                queue.add_machine("wide", 2).unwrap();
            }
            queue.add(&new).unwrap();
            queue.start(id, 700).unwrap();
        }
        let length = i64::MAX - 700;
        for id in [20, 21] {
            let end = EndState::Completed;
            queue.finish(id, end, 0, length, i64::MAX).unwrap();
        }
        let used = queue.standing(3, 0).unwrap().used;
        let both = 2 * u128::from(u32::MAX) * length as u128;
        assert!(used >= before + both);
        let mut restored = Queue::restore(&queue.save()).unwrap();
        assert_eq!(restored.standing(3, 0).unwrap().used, used);
    }

    /// Sums as in bytes whose checksum is right.
    #[test]
    fn more_use_than_is_counted_is_refused_before_it_comes() {
        let parts = |used| {
            let mut parts = queue().parts();
            parts.settings = Settings {
                counted: Counted::Since(0),
                ..Settings::default()
            };
            parts.jobs.iter_mut().for_each(|job| job.started = None);
            (parts.runs, parts.moments) = (Vec::new(), vec![0]);
            parts.sums = vec![(3, 0, used), (2, 0, used)];
            parts
        };
        let most = 1 << 126;
        let mut full = Queue::from_parts(parts(most)).unwrap();
        let before = full.save();
        let waits = full.positions("mé").unwrap()[0];
        let refused = full.start(waits, i64::MAX).unwrap_err();
        assert!(
            matches!(refused, QueueError::TooMuchUse { .. }),
            "{refused}"
        );
        assert_eq!(full.save(), before);
        assert!(Queue::restore(&before).is_ok());
        for more in [most + 1, u128::MAX] {
            let refused = Queue::from_parts(parts(more)).unwrap_err();
            assert!(
                matches!(refused, QueueError::TooMuchUse { .. }),
                "{refused}"
            );
        }
    }

    /// A state of format 1, which a program made with version 1.0.0-rc.1 of ABI 0. By hand: hub 2 has
    /// users 4 and 5, jobs 1 to 6 belong to 5, 6, 4, 5, 6, 4; job 1 ran 50 s of user 5 and failed with
    /// a code that counts, job 2 40 s of account 3, job 3 runs since second 70, 60 s are expected.
    #[test]
    fn a_state_of_the_earlier_format_is_restored() {
        let bytes = include_bytes!("../../../tests/abi/0/1.0.0-rc.1/queue.state");
        let mut queue = Queue::restore(bytes).unwrap();
        assert_eq!(queue.now(), 70_000_000);
        assert!(queue.settings().users_compete);
        let used = |queue: &mut Queue, id| queue.standing(id, 80_000_000).unwrap().used;
        let seconds = [(2, 60), (3, 40), (4, 10), (5, 50), (6, 40)];
        for (id, seconds) in seconds {
            assert_eq!(used(&mut queue, id), seconds * 1_000_000, "{id}");
        }
        let machines: Vec<_> = (queue.machine_states())
            .map(|it| (it.name, it.slots, it.running, it.waiting, it.paused))
            .collect();
        assert_eq!(machines, [("ion", 2, 1, 2, false), ("trap", 1, 0, 1, true)]);
        let held = queue.held(80_000_000);
        assert_eq!((held[0].job, held[0].since), (3, 70_000_000));
        // It is saved in the present format.
        let again = Queue::restore(&queue.save()).unwrap();
        assert_eq!(again.save(), queue.save());
        assert_eq!(queue.save()[8], 2);
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = queue().save();
        for len in 0..bytes.len() {
            assert!(Queue::restore(&bytes[..len]).is_err(), "{len} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Queue::restore(&damaged).is_err(), "byte {at}");
        }
        let mut newer = bytes;
        newer[8] = 3;
        let error = Queue::restore(&newer).unwrap_err();
        assert_eq!(error, MachineError::Version { found: 3, read: 2 }.into());
    }

    /// Bytes whose checksum is right, but whose numbers are not.
    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let bytes = queue().save();
        let mut refused = 0;
        for at in 20..bytes.len() - 4 {
            let mut wrong = bytes.clone();
            wrong.truncate(bytes.len() - 4);
            wrong[at] = !wrong[at];
            let checksum = crc32fast::hash(&wrong);
            wrong.extend(checksum.to_le_bytes());
            // Whatever comes of it: no panic, and no memory for lists that are not there.
            refused += usize::from(Queue::restore(&wrong).is_err());
        }
        assert!(refused > 100, "{refused}");
    }
}
