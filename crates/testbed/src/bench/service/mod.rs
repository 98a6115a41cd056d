//! Waiting time for pages of the service, while many people read and a new picture is taken.

mod figures;
mod past;
mod readers;
mod site;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use xtask::command::{cargo_in_checkout, checked};
use xtask::progress::Progress;
use xtask::project;

use super::capture::Size;
use super::table::{Measurement, Table, Unit};
use super::workload::count;
use figures::{Figures, Reached, quantile};
use readers::{PAGES, Read};

/// People who read at once, each the next page as soon as the last one has come.
const READERS: u32 = 50;

/// A site that is measured.
struct Part {
    size: Size,
    /// It is the site of the bounds.
    bounded: bool,
    /// A part that is not over after this time ends, and reports how far it came.
    deadline: Duration,
}

/// A site whose pages cost little more than their way to the reader: the peer.
const SMALL: Part = Part {
    size: Size {
        accounts: 10,
        users: 9,
        jobs: 220,
        running: 20,
    },
    bounded: false,
    deadline: Duration::from_secs(120),
};

/// The site of the bounds: 50,000 associations, 100,000 jobs that wait.
const LARGE: Part = Part {
    size: Size {
        accounts: 500,
        users: 99,
        jobs: 102_000,
        running: 2_000,
    },
    bounded: true,
    deadline: Duration::from_secs(300),
};

/// A million jobs: reported only.
const HUGE: Part = Part {
    size: Size::LARGE,
    bounded: false,
    deadline: Duration::from_secs(900),
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

/// Measures each site, and gives its table to `print` before the next one is measured.
///
/// # Errors
/// Fails if the service does.
pub fn measure(
    program: &Path,
    quick: bool,
    progress: &Progress,
    print: &mut dyn FnMut(String),
) -> Result<()> {
    let mut peer = None;
    let parts = [SMALL, LARGE, HUGE];
    for part in &parts[..if quick { 2 } else { 3 }] {
        let found = Figures::of(program, &part.size, part.deadline, progress)?;
        print(part.report(&found, peer.as_ref()));
        peer.get_or_insert(found);
    }
    Ok(())
}

impl Part {
    /// Its table, and how far it came if it was not over in time.
    fn report(&self, found: &Figures, peer: Option<&Figures>) -> String {
        let table = self.table(found, peer).to_string();
        let secs = self.deadline.as_secs();
        match found.reached {
            Reached::End => table,
            Reached::Nothing => format!(
                "{}: the first picture was not shown within {secs} s.\n",
                self.title()
            ),
            Reached::FirstPicture => format!(
                "{table}\nWithin {secs} s the second picture was not shown. The figures are those until then.\n"
            ),
        }
    }

    fn title(&self) -> String {
        let size = &self.size;
        let (assocs, jobs) = (count(size.assocs()), count(size.jobs - size.running));
        format!("{assocs} associations, {jobs} jobs wait, {READERS} readers")
    }

    fn table(&self, found: &Figures, peer: Option<&Figures>) -> Table {
        let number = |what: String, unit, of: &dyn Fn(&Figures) -> f64| {
            let measured = Measurement::new(what, unit, of(found));
            match peer {
                Some(peer) => measured.beside(of(peer)),
                None => measured,
            }
        };
        let bounded = |row: Measurement, most: f64| match self.bounded {
            true => row.at_most(most),
            false => row,
        };
        let ms = |what: String, of: &dyn Fn(&Figures) -> f64| number(what, Unit::Milliseconds, of);
        let last = |reads: &[Read]| quantile(reads, 0.99);
        let mut rows = vec![
            ms("p50 of pages".to_owned(), &|f| quantile(&f.quiet, 0.5)),
            bounded(ms("p99 of pages".to_owned(), &|f| last(&f.quiet)), P99_MS),
            bounded(
                ms("p99 while a picture is taken".to_owned(), &|f| {
                    last(&f.during)
                }),
                P99_MS,
            ),
        ];
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
        let plain =
            |what: &str, unit, of: &dyn Fn(&Figures) -> f64| number(what.to_owned(), unit, of);
        let refused = |f: &Figures| {
            let all = f.quiet.iter().chain(&f.during);
            all.filter(|read| read.refused).count() as f64
        };
        rows.extend([
            ms("processor time of a page".to_owned(), &|f| f.page_ms),
            ms("a picture".to_owned(), &|f| f.alone_ms),
            ms("processor time of it".to_owned(), &|f| f.alone_processor_ms),
        ]);
        if found.reached == Reached::End {
            rows.push(ms("a picture, people read".to_owned(), &|f| f.picture_ms));
        }
        rows.extend([
            bounded(
                plain("most memory", Unit::Megabytes, &|f| f.megabytes),
                MEMORY_MB,
            ),
            plain("pages", Unit::Count, &|f| {
                (f.quiet.len() + f.during.len()) as f64
            }),
            bounded(plain("pages refused", Unit::Count, &refused), 0.0),
            plain("calls to Slurm meanwhile", Unit::Count, &|f| f.calls as f64)
                .at_most(site::CALLS as f64),
        ]);
        Table {
            title: self.title(),
            heads: ("service", if peer.is_some() { "small site" } else { "" }),
            rows,
        }
    }
}
