//! Every reader of a file through every report that takes it, and every output form of the report:
//! no form has a control character, JSON is valid, a file compared with itself has no changes, and
//! a site whose shares do not change has no moves.
#![no_main]

use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::tree::{AssocIndex, Shares};
use fairtree_analysis::cost::{Request, cost};
use fairtree_analysis::explain::{
    RankedSite, compare_jobs, compare_printed, compare_users, explain_job, explain_printed,
};
use fairtree_analysis::history::{OwnerHistory, Timeline, from_history, own_site};
use fairtree_analysis::share::Fractions;
use fairtree_analysis::what_if::{SiteChange, compare};
use fairtree_analysis::{compare as compared, prio, share};
use fairtree_model::cluster::Cluster;
use fairtree_model::input::site::{Site, from_assocs};
use fairtree_model::input::sshare::Listing;
use fairtree_model::input::{Format, InputError, sacct, site, sprio, sshare, stream, swf};
use fairtree_model::listed::Listed;
use fairtree_render::chart::{
    Forest, Look, Picture, Theme, bars_svg, page, poster_svg, write_tree,
};
use fairtree_render::explain::Explanation;
use fairtree_render::{chart, cost as cost_text, explain, prio as prio_json, share as share_json};
use fairtree_render::{what_if, what_if::Shown};
use libfuzzer_sys::fuzz_target;

/// Number of jobs and users for questions.
const FEW: usize = 3;

fn through(bytes: &[u8]) -> Result<(), InputError> {
    let stream = stream::open(bytes).map_err(|error| InputError::new("f", error))?;
    match Format::detect("f", &String::from_utf8_lossy(&stream.head))? {
        Format::Sshare => shares(&sshare::read("f", stream.input)?),
        Format::SshareJson => shares(&sshare::json::read("f", stream.input)?),
        Format::Sprio => {
            queue(&sprio::read("f", stream.input)?);
            Ok(())
        }
        Format::Site => of_site(site::read("f", stream.input)?),
        Format::Dump => of_site(from_assocs::dumped("f", &String::from_utf8_lossy(bytes))?),
        Format::Assocs => of_site(from_assocs::listed("f", &String::from_utf8_lossy(bytes))?),
        format => log(format, stream.input),
    }
}

/// A report as bytes: text that a terminal or a browser may get.
fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    let odd = text
        .chars()
        .find(|c| c.is_control() && !"\n\t".contains(*c));
    assert!(odd.is_none(), "{odd:?} in {text}");
    text
}

/// Asserts that the output is one JSON object.
fn json(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
    let text = written(write);
    assert!(
        serde_json::from_str::<serde_json::Value>(&text).is_ok(),
        "{text}"
    );
}

fn shares(listing: &Listing) -> Result<(), InputError> {
    assert!(compared::shares(listing, listing).is_empty());
    let ranking = share::ranking_of(listing);
    let listed = Listed::new(listing, ranking)?;
    let of = |fractions| share::from_listed(&listed, Compat::default(), None, fractions);
    share::check(&listed, &of(Fractions::Computed));
    show(of(Fractions::Printed));
    if let Ok(mut cluster) = Cluster::from_listed(&listed, Compat::default(), None) {
        ask(&mut cluster);
    }
    Ok(())
}

fn show(report: share::ShareReport) {
    let shown: Vec<usize> = (0..report.rows.len()).collect();
    json(|out| share_json::to_json(out, &report, &shown));
    let look = Look {
        width: 80,
        color: false,
        unicode: true,
    };
    written(|out| write_tree(out, &Forest::new(&report, &shown, usize::MAX), look));
    let bars = bars_svg(&Forest::drawn(&report, &shown), "t", "s", Theme::Auto);
    written(|out| std::io::Write::write_all(out, bars.as_bytes()));
    time(&report.into());
}

fn time(timeline: &Timeline) {
    let shown: Vec<usize> = (0..timeline.latest.rows.len().min(20)).collect();
    json(|out| chart::to_json(out, timeline));
    for text in [
        page(timeline, &shown, Theme::Auto),
        poster_svg(timeline, Picture::default(), Theme::Light),
    ] {
        written(|out| std::io::Write::write_all(out, text.as_bytes()));
    }
}

fn queue(queue: &sprio::Queue) {
    let reports = prio::from_queue(queue);
    prio::check(queue, &reports);
    let mut ids = Vec::new();
    for report in &reports {
        json(|out| prio_json::to_json(out, &[(report, (0..report.rows.len()).collect())]));
        ids.extend(report.rows.iter().take(FEW).filter_map(|row| row.job_id));
    }
    for id in &ids {
        if let Ok(explained) = explain_printed(&reports, *id) {
            say(Explanation::Job(&explained));
        }
        if let Ok(compared) = compare_printed(&reports, [ids[0], *id]) {
            say(Explanation::Jobs(&compared));
        }
    }
}

fn of_site(site: Site) -> Result<(), InputError> {
    let (ranking, compat) = (site.config.ranking(), site.config.compat);
    show(share::from_site(&site, ranking, compat));
    if let Some(report) = prio::from_site(&site, None) {
        let report = report?;
        let rows = (0..report.rows.len()).collect();
        json(|out| prio_json::to_json(out, &[(&report, rows)]));
    }
    ask(&mut Cluster::from_site(site, None)?);
    Ok(())
}

/// Asks all questions about a site.
fn ask(cluster: &mut Cluster) {
    let users: Vec<AssocIndex> = cluster.tree().indices().collect();
    let users = users.into_iter().filter(|at| cluster.is_user(*at));
    let users: Vec<AssocIndex> = users.take(FEW).collect();
    let load = cluster.load();
    let entitlement = cluster.entitlement();
    let ranked = RankedSite::of(cluster, &load, &entitlement);
    for user in &users {
        if let Ok(compared) = compare_users(&ranked, cluster, [*user, users[0]]) {
            say(Explanation::Users(&compared));
        }
        let request = Request {
            assoc: *user,
            tres: vec![("cpu".to_owned(), 4), ("mem".to_owned(), 1 << 20)],
            secs: 86_400,
            partition: None,
            qos: None,
            weights: None,
            usage_factor: None,
            job: None,
        };
        let cost = cost(cluster, &request);
        json(|out| cost_text::to_json(out, &cost));
        written(|out| cost_text::write(out, &cost, Some(80)));
    }
    let jobs: Vec<_> = cluster.jobs().iter().take(FEW).collect();
    for job in &jobs {
        if let Ok(explained) = explain_job(&ranked, cluster, &job.job) {
            say(Explanation::Job(&explained));
        }
        if let Ok(compared) = compare_jobs(&ranked, cluster, [&job.job, &jobs[0].job]) {
            say(Explanation::Jobs(&compared));
        }
    }
    for shares in [None, Some(Shares::Raw(7))] {
        let change = |user: &AssocIndex| {
            let name = cluster.name(*user).to_string();
            shares.map(|shares| SiteChange::Shares(name, shares))
        };
        let changes: Vec<SiteChange> = users.iter().filter_map(change).collect();
        let nothing = changes.is_empty();
        let Ok(found) = compare(cluster, changes) else {
            continue;
        };
        assert!(!nothing || found.users.iter().all(|moved| moved.places() == 0));
        json(|out| what_if::to_json(out, &found));
        written(|out| what_if::to_html(out, &found));
        let shown = Shown {
            all: true,
            top: Some(FEW),
            width: Some(80),
        };
        written(|out| what_if::write(out, &found, shown));
    }
}

fn say(explanation: Explanation<'_>) {
    json(|out| explain::to_json(out, explanation));
}

/// Reads a log of jobs, and reports it over time.
fn log(format: Format, input: impl std::io::BufRead) -> Result<(), InputError> {
    let config = Config::default();
    let mut history = OwnerHistory::new(
        config.priority_decay_half_life_secs,
        config.priority_usage_reset_period,
    );
    let mut each = |job: &fairtree_model::input::workload::JobUse<'_>| history.charge(job);
    match format {
        Format::Swf => swf::read("f", input, &mut each)?,
        _ => sacct::read("f", input, sacct::Options::default(), &mut each)?,
    };
    let placed = own_site("f", &config, &history)?;
    let (ranking, compat) = (config.ranking(), Compat::default());
    time(&from_history(&history, &placed, ranking, compat));
    of_site(placed.site)
}

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = through(bytes) {
        let told = error.explained();
        let odd = |c: char| c.is_control() && !"\n\t".contains(c);
        assert!(!told.is_empty() && !told.contains(odd), "{told:?}");
    }
});
