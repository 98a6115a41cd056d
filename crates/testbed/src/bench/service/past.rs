//! Past jobs of a generated site, as sacct lists them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bench::capture::Size;

/// Days before now.
const DAYS: i64 = 30;

/// Writes the answer of sacct on jobs that started in the last 30 days, three for each job of the queue: each waited an
/// hour at most and ran for four at most.
///
/// # Errors
/// Fails with errors of the file system.
pub fn generate(file: &Path, size: &Size) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(
        out,
        "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|\
         ReqTRES|AllocCPUS|AllocTRES|NodeList"
    )?;
    let now = jiff::Timestamp::now().as_second();
    let tres = "billing=4,cpu=4,mem=1000M,node=1";
    for at in 0..3 * size.jobs {
        let (account, user) = (
            random.random_range(0..size.accounts),
            random.random_range(0..size.users),
        );
        let run = random.random_range(60..4 * 3600);
        let start = now - random.random_range(run..DAYS * 86_400);
        let eligible = start - random.random_range(0..3600);
        let [eligible, start, end] = [eligible, start, start + run].map(moment);
        let id = size.jobs + 1 + at;
        writeln!(
            out,
            "{id}|{id}|u{account}x{user}|a{account}|main|normal|COMPLETED|{eligible}|{eligible}|{start}|{end}|{run}|240|4|\
             {tres}|4|{tres}|n0"
        )?;
    }
    Ok(out.flush()?)
}

/// A moment in UTC in sacct's form.
fn moment(secs: i64) -> String {
    let text = jiff::Timestamp::from_second(secs).map(|moment| moment.to_string());
    text.unwrap_or_default().trim_end_matches('Z').to_owned()
}
