//! Saving an on-demand queue into bytes, and restoring it.
//!
//! The frame is that of [`crate::engine::bytes`], `FTDEMAND` of version 2; in it are the ends
//! that are billed, the moment, machines, limits of accounts, reservations, jobs, those refused
//! that were not reported yet, what is billed, bindings and the default of the run time. Version 1 has
//! neither the last two, nor a default or a removal of a machine, nor prices of runs and
//! reservations: they have those of their machine.

use super::bill::{BillLine, Billed};
use super::error::OnDemandError;
use super::reservation::Reservation;
use super::{Job, Limit, OnDemand, Prices};
use crate::engine::MachineError;
use crate::engine::bytes::{Fault, Format, Reader, Writer, damaged};
use crate::engine::queue::SECOND;
use crate::usage::Outcomes;

const FORMAT: Format = Format {
    magic: b"FTDEMAND",
    version: 2,
};

impl From<Fault> for OnDemandError {
    fn from(fault: Fault) -> OnDemandError {
        MachineError::from(fault).into()
    }
}

impl OnDemand {
    /// All that it holds as bytes, with a version and a checksum; the same on every machine.
    pub fn save(&self) -> Vec<u8> {
        FORMAT.save(|bytes| write(bytes, self))
    }

    /// The queue that was saved.
    ///
    /// # Errors
    /// [`MachineError::Damaged`], [`MachineError::Version`].
    pub fn restore(bytes: &[u8]) -> Result<OnDemand, OnDemandError> {
        Ok(FORMAT.restore(bytes, read)?)
    }
}

fn write(bytes: &mut Writer, queue: &OnDemand) {
    bytes.text(&queue.billed.to_string());
    bytes.i64(queue.now);
    bytes.list(&queue.machines, |bytes, machine| {
        bytes.text(&machine.name);
        bytes.option(machine.limit, Writer::u32);
        bytes.u64(machine.prices.execution_microsecond);
        bytes.u64(machine.prices.reserved_second);
        bytes.u8(machine.paused.into());
        bytes.option(machine.default_length, Writer::u64);
        bytes.u8(machine.removed.into());
    });
    bytes.option(queue.account_limit, Writer::u32);
    let mut limits: Vec<_> = queue.account_limits.iter().collect();
    limits.sort_unstable();
    bytes.list(&limits, |bytes, (account, limit)| {
        bytes.u32(**account);
        bytes.option(**limit, Writer::u32);
    });
    let mut reservations: Vec<_> = queue.reservations.iter().collect();
    reservations.sort_unstable_by_key(|one| one.0);
    bytes.list(&reservations, |bytes, (id, reservation)| {
        bytes.u64(**id);
        bytes.u32(reservation.machine);
        bytes.u32(reservation.owner);
        bytes.i64(reservation.start);
        bytes.i64(reservation.end);
        bytes.option(reservation.price, Writer::u64);
    });
    let mut jobs: Vec<_> = queue.jobs.iter().collect();
    jobs.sort_unstable_by_key(|job| job.0);
    bytes.list(&jobs, |bytes, (id, job)| {
        bytes.u64(**id);
        write_job(bytes, job);
    });
    bytes.list(&queue.refused, |bytes, (id, error)| {
        bytes.u64(*id);
        write_refusal(bytes, error);
    });
    let lines: Vec<_> = queue.ledger.lines().collect();
    bytes.list(&lines, |bytes, &(end, line)| {
        bytes.i64(end);
        bytes.u32(line.account);
        bytes.u32(line.machine);
        let (reserved, number) = match line.billed {
            Billed::Executed(micros) => (false, micros),
            Billed::Reserved(secs) => (true, secs),
        };
        bytes.u8(reserved.into());
        bytes.u64(number);
        bytes.u64(line.price);
    });
    let bindings: Vec<_> = queue.bindings.iter().collect();
    bytes.list(&bindings, |bytes, (account, machines)| {
        bytes.u32(**account);
        bytes.list(machines, |bytes, machine| bytes.text(machine));
    });
    bytes.option(queue.default_length, Writer::u64);
}

fn write_job(bytes: &mut Writer, job: &Job) {
    bytes.u32(job.account);
    bytes.u32(job.machine);
    bytes.list(&job.parts, |bytes, part| bytes.u32(*part));
    bytes.u64(job.expected);
    bytes.i64(job.submit);
    bytes.option(job.queued, Writer::i64);
    bytes.option(job.started, Writer::i64);
    bytes.u64(job.price);
}

/// Jobs are only refused for want of room.
fn write_refusal(bytes: &mut Writer, error: &OnDemandError) {
    let OnDemandError::Full {
        limit,
        size,
        waiting,
    } = error
    else {
        unreachable!("refused for want of room: {error}")
    };
    match limit {
        Limit::Account(account) => {
            bytes.u8(0);
            bytes.u32(*account);
        }
        Limit::Machine(name) => {
            bytes.u8(1);
            bytes.text(name);
        }
    }
    bytes.u32(*size);
    bytes.u32(*waiting);
}

fn read(reader: &mut Reader<'_>) -> Result<OnDemand, Fault> {
    let outcomes = reader.text()?;
    let outcomes: Outcomes = (outcomes.parse())
        .map_err(|_| damaged(format!("ends of runs that are none: {outcomes}")))?;
    let mut queue = OnDemand::new(outcomes, reader.i64()?);
    for _ in 0..reader.u32()? {
        let name = reader.text()?;
        let limit = reader.option(Reader::u32)?;
        let prices = Prices {
            execution_microsecond: reader.u64()?,
            reserved_second: reader.u64()?,
        };
        let added = queue.add_machine(&name, limit, prices);
        added.map_err(|error| damaged(error.to_string()))?;
        let machine = queue.machines.last_mut().expect("one was added");
        machine.paused = reader.flag()?;
        if reader.since(2) {
            machine.default_length = reader.option(Reader::u64)?;
            machine.removed = reader.flag()?;
        }
        if machine.removed {
            queue.names.remove(&name);
        }
    }
    queue.account_limit = reader.option(Reader::u32)?;
    for _ in 0..reader.u32()? {
        let account = reader.u32()?;
        let limit = reader.option(Reader::u32)?;
        queue.limit_account(Some(account), limit);
    }
    for _ in 0..reader.u32()? {
        read_reservation(reader, &mut queue)?;
    }
    for _ in 0..reader.u32()? {
        read_job(reader, &mut queue)?;
    }
    queue.refused = reader.list(|reader| Ok((reader.u64()?, read_refusal(reader)?)))?;
    for _ in 0..reader.u32()? {
        let end = reader.i64()?;
        let (account, machine) = (reader.u32()?, reader.machine(&queue)?);
        let billed = match reader.flag()? {
            true => Billed::Reserved(reader.u64()?),
            false => Billed::Executed(reader.u64()?),
        };
        let prices = queue.machines[machine as usize].prices;
        let price = match (reader.since(2), billed) {
            (true, _) => reader.u64()?,
            (false, Billed::Executed(_)) => prices.execution_microsecond,
            (false, Billed::Reserved(_)) => prices.reserved_second,
        };
        let line = BillLine {
            account,
            machine,
            billed,
            price,
        };
        queue.ledger.add(end, line);
    }
    if reader.since(2) {
        let bindings = reader.list(|reader| Ok((reader.u32()?, reader.list(Reader::text)?)))?;
        queue.bindings = bindings.into_iter().collect();
        queue.default_length = reader.option(Reader::u64)?;
    }
    Ok(queue)
}

impl Reader<'_> {
    fn machine(&mut self, queue: &OnDemand) -> Result<u32, Fault> {
        let machine = self.u32()?;
        match (machine as usize) < queue.machines.len() {
            true => Ok(machine),
            false => Err(damaged("a machine that is not there")),
        }
    }
}

fn read_reservation(reader: &mut Reader<'_>, queue: &mut OnDemand) -> Result<(), Fault> {
    let id = reader.u64()?;
    let reservation = Reservation {
        machine: reader.machine(queue)?,
        owner: reader.u32()?,
        start: reader.i64()?,
        end: reader.i64()?,
        price: match reader.since(2) {
            true => reader.option(Reader::u64)?,
            false => None,
        },
    };
    let removed = queue.machines[reservation.machine as usize].removed;
    let length = reservation.end.checked_sub(reservation.start);
    let sound = !removed
        && length.is_some_and(|length| length > 0 && length % SECOND == 0)
        && reservation.end > queue.now
        && !queue.reservations.contains_key(&id)
        && queue.overlapping(&reservation).is_none();
    if !sound {
        return Err(damaged(format!("reservation {id} cannot be")));
    }
    queue.book(id, reservation);
    Ok(())
}

fn read_job(reader: &mut Reader<'_>, queue: &mut OnDemand) -> Result<(), Fault> {
    let id = reader.u64()?;
    let mut job = Job {
        account: reader.u32()?,
        machine: reader.machine(queue)?,
        parts: reader.list(Reader::u32)?,
        expected: reader.u64()?,
        submit: reader.i64()?,
        queued: reader.option(Reader::i64)?,
        started: reader.option(Reader::i64)?,
        price: 0,
    };
    let machine = &queue.machines[job.machine as usize];
    job.price = match (reader.since(2), job.queued.and(job.started)) {
        (true, _) => reader.u64()?,
        (false, Some(_)) => machine.prices.execution_microsecond,
        (false, None) => 0,
    };
    let removed = machine.removed;
    let later = job.started > Some(queue.now);
    if later || removed || queue.jobs.contains_key(&id) {
        return Err(damaged(format!("job {id} cannot be")));
    }
    let (machine, runs) = (job.machine, job.started.is_some());
    queue.jobs.insert(id, job);
    if runs {
        queue.machines[machine as usize].running.push(id);
    } else {
        queue.wait(id);
    }
    Ok(())
}

fn read_refusal(reader: &mut Reader<'_>) -> Result<OnDemandError, Fault> {
    Ok(OnDemandError::Full {
        limit: match reader.flag()? {
            false => Limit::Account(reader.u32()?),
            true => Limit::Machine(reader.text()?),
        },
        size: reader.u32()?,
        waiting: reader.u32()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::on_demand::{NewJob, Next};
    use crate::usage::EndState;

    fn queue() -> OnDemand {
        let mut queue = OnDemand::new("COMPLETED,FAILED:3".parse().unwrap(), 0);
        let prices = Prices {
            execution_microsecond: 3,
            reserved_second: 5,
        };
        queue.add_machine("m", Some(3), prices).unwrap();
        queue.add_machine("n", None, prices).unwrap();
        queue.set_paused("n", true).unwrap();
        queue.limit_account(Some(9), Some(1));
        queue.limit_account(None, Some(4));
        let job = |id, account| NewJob {
            id,
            account,
            machine: "m",
            parts: &[1, 2],
            expected: 100,
        };
        queue.reserve(1, "m", 7, (SECOND, 3 * SECOND), 0).unwrap();
        queue
            .reserve(2, "m", 8, (9 * SECOND, 20 * SECOND), 0)
            .unwrap();
        queue.submit(&job(1, 8), 0).unwrap();
        queue.submit(&job(2, 8), 0).unwrap();
        for id in 3..8 {
            queue.submit(&job(id, 7), 2 * SECOND).unwrap();
        }
        // Two of them fit when the reservation ends.
        queue.start(1, 4 * SECOND).unwrap();
        queue
            .finish(1, EndState::Completed, 0, 70, 5 * SECOND)
            .unwrap();
        queue.start(2, 6 * SECOND).unwrap();
        queue
    }

    #[test]
    fn restored_goes_on_as_what_was_saved() {
        let mut saved = queue();
        let bytes = saved.save();
        let mut restored = OnDemand::restore(&bytes).unwrap();
        assert_eq!(restored.save(), bytes);
        for now in [6 * SECOND, 10 * SECOND, 21 * SECOND] {
            assert_eq!(restored.take_refused(now), saved.take_refused(now));
            assert_eq!(restored.positions("m", now), saved.positions("m", now));
            assert_eq!(restored.estimate("m", now), saved.estimate("m", now));
            assert_eq!(restored.next("n", now), Ok(Next::Paused));
            for queue in [&mut saved, &mut restored] {
                let id = 100 + now as u64;
                let (machine, parts, expected) = ("m", &[][..], 9);
                let account = 8;
                let new = NewJob {
                    id,
                    account,
                    machine,
                    parts,
                    expected,
                };
                let _full = queue.submit(&new, now);
                if queue.next("m", now) == Ok(Next::Halt(2)) {
                    queue.halted(2, now).unwrap();
                }
            }
            assert_eq!(restored.next("m", now), saved.next("m", now));
            assert_eq!(restored.bills(0..now + 1), saved.bills(0..now + 1));
            assert_eq!(restored.save(), saved.save());
        }
    }

    /// A state of format 1, which a program made with version 1.0.0-rc.1 of ABI 0. By hand: job 1 of
    /// account 8 ran 400 us at 3 on ion, job 3 runs on trap at 5; the first reservation lasted 2 s at
    /// 1000, the second, of account 7, runs to second 9, with its job 20. Of jobs 4 to 8 two were left
    /// room for.
    #[test]
    fn a_state_of_the_earlier_format_is_restored() {
        let bytes = include_bytes!("../../../tests/abi/0/1.0.0-rc.1/on_demand.state");
        let mut queue = OnDemand::restore(bytes).unwrap();
        let now = 6 * SECOND;
        let bills = queue.bills(0..now);
        assert_eq!(bills[&(8, "ion".to_owned())].amount, 1_200);
        assert_eq!(bills[&(7, "ion".to_owned())].amount, 2_000);
        assert_eq!(queue.positions("ion", now).unwrap(), [2, 4, 5]);
        assert_eq!(queue.refused(now).len(), 3);
        let told = queue.finish(3, EndState::Timeout, 0, 10, now).unwrap();
        assert_eq!((told.counts, told.price, told.cost), (true, 5, 50));
        let told = queue.finish(20, EndState::Completed, 0, 0, now).unwrap();
        assert_eq!((told.counts, told.price), (false, 0));
        let reservations = queue.reservations(now);
        assert_eq!(
            (reservations[0].reservation, reservations[0].price),
            (2, 1_000)
        );
        assert_eq!(queue.save()[8], 2);
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = queue().save();
        for len in 0..bytes.len() {
            assert!(OnDemand::restore(&bytes[..len]).is_err(), "{len} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(OnDemand::restore(&damaged).is_err(), "byte {at}");
            // With a checksum that is right: whatever comes of it, no panic.
            damaged.truncate(bytes.len() - 4);
            let checksum = crc32fast::hash(&damaged);
            damaged.extend(checksum.to_le_bytes());
            let _whatever = OnDemand::restore(&damaged);
        }
    }
}
