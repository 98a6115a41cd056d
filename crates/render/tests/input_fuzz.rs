//! Readers given anything: an answer or an error with a place, never a panic.

use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree_analysis::history::{OwnerHistory, from_history, own_site};
use fairtree_analysis::{share, simulate};
use fairtree_model::input::workload::{JobUse, LoggedJob};
use fairtree_model::input::{InputError, sacct, site, sshare, stream, swf};
use fairtree_model::listed::Listed;
use fairtree_render::chart::{Picture, Theme, page, poster_svg};
use fairtree_render::{share as table, simulate as render_simulate};
use fairtree_sim::scheduler::Kind;
use fairtree_sim::workload::Workload;
use proptest::prelude::*;

/// Reads, and goes all the way through a report where there is something to report.
fn through(text: &[u8]) -> Result<(), InputError> {
    let site = site::read("f", text).map(|site| {
        share::from_site(&site, site.config.ranking(), site.config.compat);
    });
    let listing = sshare::read("f", text).and_then(|listing| {
        let ranking = share::ranking_of(&listing);
        let listed = Listed::new(&listing, ranking)?;
        let whole = share::Fractions::Computed;
        let report = share::from_listed(&listed, Compat::Documented, None, whole);
        share::check(&listed, &report);
        let shown = share::select(&report, &share::Select::default());
        let table = table::Table {
            fields: sshare::Column::ALL.map(sshare::Field::from).to_vec(),
            header: true,
            separator: table::Separator::Columns,
            rates_accounts: share::rates_accounts(&listing),
        };
        table
            .write(&mut Vec::new(), &report, &shown)
            .expect("memory");
        table::to_json(&mut Vec::new(), &report, &shown).expect("memory");
        Ok(())
    });
    site.or(listing)
}

/// Reads a log, and draws its content.
fn log_through(text: &[u8], columns: Option<&str>) -> Result<(), InputError> {
    let config = Config::default();
    let mut history = OwnerHistory::new(config.priority_decay_half_life_secs, Default::default());
    let options = sacct::Options {
        columns,
        cluster: None,
    };
    let mut each = |job: &JobUse<'_>| {
        assert!(job.end > job.start && job.billing > 0.0);
        history.charge(job);
    };
    let read = match text.starts_with(b";") {
        true => swf::read("f", text, &mut each),
        false => sacct::read("f", text, options, &mut each),
    };
    let placed = own_site("f", &config, &history)?;
    let timeline = from_history(&history, &placed, config.ranking(), config.compat);
    let rows: Vec<usize> = (0..timeline.latest.rows.len()).collect();
    assert!(page(&timeline, &rows, Theme::Auto).contains("</html>"));
    assert!(!poster_svg(&timeline, Picture::All, Theme::Auto).contains("NaN"));
    read.map(drop)
}

/// Reads a log for a replay, replays it on a small machine, and writes all that is made of it.
fn replay_through(text: &[u8], columns: Option<&str>) -> Result<(), InputError> {
    let options = sacct::Options {
        columns,
        cluster: None,
    };
    let mut workload = Workload::new(64);
    let mut each = |job: &LoggedJob<'_>| workload.add(job);
    let read = match text.starts_with(b";") {
        true => swf::read_jobs("f", text, &mut each),
        false => sacct::read_jobs("f", text, options, &mut each),
    };
    workload.sort();
    for kind in [Kind::Easy, Kind::Fcfs, Kind::Conservative] {
        let replayed = simulate::run(&workload, kind, 10, &mut || true);
        let left_out = simulate::LeftOut::of(&workload, 0, 0);
        let parts = vec![0.5; workload.accounts.names.len()];
        let report = simulate::Report::new(&workload, &replayed, &parts, left_out);
        assert_eq!(report.all.jobs, workload.jobs.len() as u64);
        let mut out = Vec::new();
        render_simulate::to_json(&mut out, "f", &report).expect("memory");
        render_simulate::write_jobs(&mut out, &workload, &replayed).expect("memory");
        render_simulate::write_schedule(&mut out, "f", 0, &workload, &replayed).expect("memory");
        assert!(!String::from_utf8_lossy(&out).contains("NaN"));
    }
    read.map(drop)
}

/// Pieces that logs of sacct are made of, right and wrong.
const LOG_PIECES: [&str; 19] = [
    "JobID|User|Account|Start|End|Elapsed|AllocTRES|JobName\n",
    "JobID|JobName|SubmitLine|User|Account|Start|ElapsedRaw|NCPUS|\n",
    "7",
    "7.batch",
    "anna",
    "root",
    "</script>",
    "|",
    "||",
    "\n",
    "\n8|bert|a|2026-01-01T00:00:00|2026-01-02T00:00:00|1-00:00:00|billing=4|x",
    "\n9|carl|b|2026-03-01T00:00:00|Unknown|00:10:00|cpu=2,mem=1G|y|z",
    "2026-11-21T10:04:14",
    "9999-12-31T23:59:59",
    "-9999-01-01T00:00:00",
    "Unknown",
    "99999999-23:59:59",
    "billing=18446744073709551614",
    "4294967295",
];

/// Pieces that listings are made of, right and wrong.
const PIECES: [&str; 27] = [
    "Account",
    "User",
    "RawShares",
    "RawUsage",
    "LevelFS",
    "FairShare",
    "NormShares",
    "|",
    "||",
    " ",
    "   ",
    "\n",
    "\n ",
    "\n  ",
    "root",
    "phys+",
    "parent",
    "inf",
    "nan",
    "0",
    "18446744073709551613",
    "1.5085e+04",
    "0.000000",
    "m\u{f8}",
    "----------",
    "$ sshare -o A,U\n",
    "CLUSTER: x\n",
];

proptest! {
    #[test]
    fn bytes(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Err(error) = through(&text) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn pieces_of_listings(picks in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        if let Err(error) = through(text.as_bytes()) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn damaged_listings(at in 0usize..600, byte in any::<u8>(), cut in 0usize..600) {
        let mut text = include_bytes!("../../../tests/golden/week-long.txt").to_vec();
        let length = text.len();
        text[at % length] = byte;
        text.truncate(length - cut % length);
        let _ = through(&text);
    }

    #[test]
    fn pieces_of_logs(picks in proptest::collection::vec(0..LOG_PIECES.len(), 0..50)) {
        let text: String = picks.into_iter().map(|pick| LOG_PIECES[pick]).collect();
        for columns in [None, Some("JobID,User,Account,Start,Elapsed,NCPUS")] {
            for read in [log_through, replay_through] {
                if let Err(error) = read(text.as_bytes(), columns) {
                    prop_assert!(!error.explained().is_empty());
                }
            }
        }
    }

    #[test]
    fn numbers_of_logs(numbers in proptest::collection::vec(
        prop_oneof![-2i64..2000, any::<i64>(), -1i64..1 << 41], 0..80)) {
        let mut text = String::from("; UnixStartTime: 4294967295\n");
        for (at, number) in numbers.iter().enumerate() {
            text.push_str(&format!("{number}{}", if at % 18 == 17 { '\n' } else { ' ' }));
        }
        for read in [log_through, replay_through] {
            if let Err(error) = read(text.as_bytes(), None) {
                prop_assert!(!error.explained().is_empty());
            }
        }
    }

    #[test]
    fn jobs_of_any_length(jobs in proptest::collection::vec(
        (0i64..=1 << 40, 0i64..=1 << 40, 0i64..=1 << 40, -1i64..70), 1..20)) {
        let mut text = String::from("; UnixStartTime: 4294967295\n");
        for (submit, run, limit, size) in jobs {
            text.push_str(&format!("1 {submit} 0 {run} {size} -1 -1 -1 {limit} -1 1 1 1 -1 -1 -1 -1 -1\n"));
        }
        replay_through(text.as_bytes(), None).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }

    #[test]
    fn damaged_json(at in 0usize..90_000, byte in any::<u8>(), cut in 0usize..90_000) {
        let packed = &include_bytes!("../../../tests/sshare-json/24.11.5.json.gz")[..];
        let mut text = Vec::new();
        let mut input = stream::open(packed).expect("a stream").input;
        std::io::Read::read_to_end(&mut input, &mut text).expect("memory");
        let length = text.len();
        text[at % length] = byte;
        text.truncate(length - cut % length);
        if let Err(error) = sshare::json::read("f", &text[..]) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn damaged_sites(at in 0usize..900, byte in any::<u8>()) {
        let mut text = include_bytes!("../../../tests/sites/week.toml").to_vec();
        let length = text.len();
        text[at % length] = byte;
        let _ = through(&text);
    }
}
