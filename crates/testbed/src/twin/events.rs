//! Random events after `boot`: jobs, time, an administrator, and queries.

use super::admin;
use super::jobs;
use super::life_writer::LifeWriter;

/// Number of jobs above which the first ones are not dumped one by one.
const MANY: u32 = 1000;

/// Writes jobs and events after `boot`.
pub fn live(writer: &mut LifeWriter<'_>, jobs: u32, events: u32) {
    let other_period = |line: &String| line.contains("PriorityCalcPeriod");
    writer.steady = writer.draw.chance(10) && !writer.life.lines.iter().any(other_period);
    if jobs > MANY {
        writer.life.push("quiet");
    }
    jobs::first(writer, jobs);
    if jobs > MANY {
        writer.life.push("loud");
    }
    for _ in 0..events {
        match writer.draw.weighted(&[45, 30, 15, 5, 5]) {
            0 => jobs::happen(writer),
            1 => time_passes(writer),
            2 => admin::happen(writer),
            3 => sprio(writer),
            _ => writer.life.push("sshare"),
        }
    }
    let verb = if writer.steady { "elapse" } else { "pass" };
    writer.life.push(format!("{verb} {PERIOD}"));
    for line in ["sprio", "sshare"] {
        writer.life.push(line);
    }
}

/// Seconds from one pass to the next, unless a life sets it.
const PERIOD: i64 = 300;

/// Moves time, mostly forward.
fn time_passes(writer: &mut LifeWriter<'_>) {
    let draw = &mut *writer.draw;
    if writer.steady {
        // At most one period: stock repeats all missed passes, one by one.
        let seconds = match draw.weighted(&[60, 30, 10]) {
            0 => draw.between(1, PERIOD),
            1 => PERIOD,
            _ => 0,
        };
        writer.life.push(format!("elapse {seconds}"));
        return;
    }
    let verb = if draw.chance(70) { "pass" } else { "step" };
    let seconds = match draw.weighted(&[48, 18, 10, 10, 9, 5]) {
        0 => draw.between(1, 600),
        1 => 300,
        2 => draw.between(600, 100_000),
        3 => 0,
        4 => draw.between(100_000, 10_000_000),
        _ => -draw.between(1, 10_000),
    };
    writer.life.push(format!("{verb} {seconds}"));
}

/// Queries of sprio, with the filters that older releases send.
fn sprio(writer: &mut LifeWriter<'_>) {
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let mut line = "sprio".to_owned();
    if draw.chance(20) {
        line.push_str(&format!(" {}", draw.between(10_000, 10_100)));
    }
    if draw.chance(20) {
        let id = draw.below(writer.jobs.count() + 1) + 1;
        line.push_str(&format!(" jobs={id},{}", id + 1));
    }
    if draw.chance(20) {
        line.push_str(&format!(" parts={}", jobs::part_names(draw, inventory)));
    }
    if draw.chance(20) {
        line.push_str(&format!(" uids={}", draw.between(10_000, 10_020)));
    }
    writer.life.push(line);
}
