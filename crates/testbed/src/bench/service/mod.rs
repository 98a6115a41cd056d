//! Waiting time for pages of the service, while many people read and a new picture is taken.

mod readers;
mod site;

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

use xtask::command::{cargo_in_checkout, checked};
use xtask::progress::Progress;
use xtask::project;

use super::capture::{Moment, Size, generate};
use super::table::{Measurement, Table, Unit};
use super::workload::count;
use readers::{PAGES, Read, Readers};
use site::Service;

/// People who read at once, each the next page as soon as the last one has come.
const READERS: u32 = 50;

/// How long they read before a picture is taken.
const BEFORE: Duration = Duration::from_secs(10);

/// The site of the bound: 50,000 associations, 100,000 jobs that wait.
const LARGE: Size = Size {
    accounts: 500,
    users: 99,
    jobs: 102_000,
    running: 2_000,
};

/// A site whose pages cost little more than their way to the reader: the peer.
const SMALL: Size = Size {
    accounts: 10,
    users: 9,
    jobs: 220,
    running: 20,
};

/// The longest wait for one page of a hundred, ms.
const P99_MS: f64 = 500.0;

/// The most memory, MB.
const MEMORY_MB: f64 = 1500.0;

/// Builds the service; its path.
///
/// # Errors
/// Fails if it does not build.
pub fn build(progress: &Progress) -> Result<PathBuf> {
    progress.step("the service: building");
    let target = project::root().join("target");
    let mut cargo = cargo_in_checkout();
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "fairtree-serve",
    ]);
    checked(cargo.arg("--target-dir").arg(&target))?;
    Ok(target.join("release/fairtree-serve"))
}

/// The tables of this section.
///
/// # Errors
/// Fails if the service does, or refuses a page.
pub fn measure(program: &Path, quick: bool, progress: &Progress) -> Result<Vec<Table>> {
    let peer = Figures::of(program, &SMALL, progress)?;
    let large = Figures::of(program, &LARGE, progress)?;
    let mut tables = vec![table(&LARGE, &large, &peer, true)];
    if !quick {
        let huge = Figures::of(program, &Size::LARGE, progress)?;
        tables.push(table(&Size::LARGE, &huge, &peer, false));
    }
    Ok(tables)
}

/// The figures of one site.
struct Figures {
    /// Pages that came while no picture was taken.
    quiet: Vec<Read>,
    /// Pages that came, at least in part, while one was taken.
    during: Vec<Read>,
    /// The first picture, with no readers, ms.
    alone_ms: f64,
    /// The second one, while people read, ms.
    picture_ms: f64,
    /// Most memory of the process, MB.
    megabytes: f64,
    /// Calls to Slurm from the moment at which people began to read.
    calls: usize,
}

impl Figures {
    fn of(program: &Path, size: &Size, progress: &Progress) -> Result<Figures> {
        let jobs = count(size.jobs - size.running);
        progress.step(format!(
            "the service: answers of Slurm on {jobs} waiting jobs"
        ));
        let folder = tempfile::tempdir_in(project::root().join("target"))?;
        let answers = folder.path().join("answers");
        generate(&answers, size, Moment::First)?;
        progress.step("the service: the first picture");
        let service = Service::start(program, folder.path(), &answers)?;
        let alone_ms = service.await_picture(1)?;
        // The next one begins after the pause, and people a little before it.
        sleep(site::PAUSE.saturating_sub(BEFORE));
        progress.step(format!("the service: {READERS} people read"));
        let calls = service.calls()?;
        let readers = Readers::start(service.socket(), READERS, size);
        service.await_call(calls + 1)?;
        let began = Instant::now();
        let picture_ms = service.await_picture(2)?;
        let reads = readers.stop()?;
        let (quiet, during) = reads.into_iter().partition(|read| read.ended < began);
        Ok(Figures {
            quiet,
            during,
            alone_ms,
            picture_ms,
            megabytes: service.most_megabytes()?,
            calls: service.calls()? - calls,
        })
    }
}

/// A table of one site. `bounded`: it is the site of the bounds.
fn table(size: &Size, found: &Figures, peer: &Figures, bounded: bool) -> Table {
    let ms = |what: String, of: &dyn Fn(&Figures) -> f64| {
        Measurement::new(what, Unit::Milliseconds, of(found)).beside(of(peer))
    };
    let mut rows = Vec::new();
    let middle = |reads: &[Read]| quantile(reads, 0.5);
    let last = |reads: &[Read]| quantile(reads, 0.99);
    rows.push(ms("p50 of pages".to_owned(), &|f| middle(&f.quiet)));
    let mut p99 = [
        ms("p99 of pages".to_owned(), &|f| last(&f.quiet)),
        ms("p99 while a picture is taken".to_owned(), &|f| {
            last(&f.during)
        }),
    ];
    if bounded {
        p99 = p99.map(|row| row.at_most(P99_MS));
    }
    rows.extend(p99);
    for (at, page) in PAGES.iter().enumerate() {
        let of = |f: &Figures| {
            let reads = f.quiet.iter().chain(&f.during);
            last(
                &reads
                    .copied()
                    .filter(|read| read.page == at)
                    .collect::<Vec<_>>(),
            )
        };
        rows.push(ms(format!("p99 of {page}"), &of));
    }
    rows.push(ms("a picture".to_owned(), &|f| f.alone_ms));
    rows.push(ms("a picture, people read".to_owned(), &|f| f.picture_ms));
    let number = |what: &str, unit, of: &dyn Fn(&Figures) -> f64| {
        Measurement::new(what, unit, of(found)).beside(of(peer))
    };
    let memory = number("most memory", Unit::Megabytes, &|f| f.megabytes);
    rows.push(if bounded {
        memory.at_most(MEMORY_MB)
    } else {
        memory
    });
    let pages = |f: &Figures| (f.quiet.len() + f.during.len()) as f64;
    rows.push(number("pages", Unit::Count, &pages));
    rows.push(
        number("calls to Slurm meanwhile", Unit::Count, &|f| f.calls as f64)
            .at_most(site::CALLS as f64),
    );
    let (assocs, jobs) = (count(size.assocs()), count(size.jobs - size.running));
    Table {
        title: format!("{assocs} associations, {jobs} jobs wait, {READERS} readers"),
        heads: ("service", "small site"),
        rows,
    }
}

/// A quantile of the times of pages, ms: the smallest that this part, 0..=1, does not exceed; NaN without pages.
fn quantile(reads: &[Read], part: f64) -> f64 {
    let mut times: Vec<f64> = reads.iter().map(|read| read.ms).collect();
    times.sort_by(f64::total_cmp);
    let at = (times.len() as f64 * part).ceil() as usize;
    times.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
