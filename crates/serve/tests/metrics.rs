//! `/metrics`: the two formats, the families of the command, counters. Expected: Prometheus' text format 0.0.4 and
//! OpenMetrics 1.0; counts by hand.

mod running;
mod site;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use axum::http::StatusCode;
use running::Place;
use site::{Site, checkout};

const OPEN: &str = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";

#[test]
fn the_format_is_the_one_that_is_accepted() {
    let site = Site::recorded("cluster", "root");
    let plain = site.metrics("");
    assert_eq!(plain.status, StatusCode::OK);
    assert_eq!(
        plain.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    assert!(
        plain
            .text
            .contains("# TYPE fairtree_captures_total counter\n")
    );
    assert!(!plain.text.contains("# EOF"));
    let open = site.metrics(OPEN);
    assert_eq!(
        open.header("content-type"),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(open.text.contains("# TYPE fairtree_captures counter\n"));
    assert!(open.text.ends_with("\n# EOF\n"));
    // A family is in one piece and has one name.
    let types = plain
        .text
        .lines()
        .filter(|line| line.starts_with("# TYPE "));
    let types: Vec<&str> = types.collect();
    let names: BTreeSet<&str> = types.iter().copied().collect();
    assert_eq!(types.len(), names.len());
    for family in [
        "fairtree_up",
        "fairtree_account_shares",
        "fairtree_capture_age_seconds",
        "fairtree_check_differences",
        "fairtree_priority_points",
    ] {
        assert!(
            plain.text.contains(&format!("\n{family}"))
                || plain.text.contains(&format!("# HELP {family} ")),
            "{family}"
        );
    }
    assert!(!plain.text.contains("user="), "users have no series");
}

#[test]
fn requests_are_counted_by_page_and_status() {
    let site = Site::recorded("cluster", "ft2-bob");
    site.page("/me");
    site.page("/me");
    assert_eq!(site.get("/job/999999").status, StatusCode::NOT_FOUND);
    let text = site.metrics("").text;
    for (page, status, count) in [("me", 200, 2), ("job", 404, 1)] {
        let sample = format!("page=\"{page}\",status=\"{status}\"}} {count}\n");
        assert!(text.contains(&sample), "{text}");
    }
    // Pages and metrics have listeners of their own.
    assert_eq!(site.get("/metrics").status, StatusCode::NOT_FOUND);
}

/// The service has every family that the dashboard names, once a picture was taken.
#[test]
fn the_dashboard_shows_what_there_is() {
    let place = Place::recorded();
    let service = place.start();
    service.await_picture(&place, 0);
    service.get("/me", "ft2-bob").expect("an answer");
    service.post(
        "/plan",
        place.user(),
        "account=medicine&shares%3Agenomics=2",
    );
    let known = service.metrics();
    let text = std::fs::read_to_string(checkout().join("examples/metrics/dashboard.json"));
    let text = text.expect("a file");
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c));
    let named: BTreeSet<&str> = words.filter(|word| word.starts_with("fairtree_")).collect();
    for name in &named {
        assert!(
            known.contains(&format!("# TYPE {name} ")),
            "{name}: {known}"
        );
    }
    for own in [
        "page_requests_total",
        "changes_total",
        "captures_total",
        "capture_duration_seconds",
    ] {
        assert!(named.contains(&*format!("fairtree_{own}")), "{own}");
    }
    assert!(known.contains("outcome=\"planned\"} 1\n"), "{known}");
    // Charges are differences between two passes: one picture has none yet.
    let charged = known
        .lines()
        .filter(|line| line.starts_with("fairtree_account_charged_tres_seconds_total{"));
    let charged: Vec<&str> = charged.collect();
    assert!(charged.len() > 1, "{known}");
    assert!(
        charged.iter().all(|line| line.ends_with(" 0")),
        "{charged:?}"
    );
}

/// Prometheus' own check, where it is installed (Debian: prometheus).
#[test]
fn promtool_accepts_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("metrics");
    let site = Site::changed("ft2-dave", &[]);
    site.page("/site");
    std::fs::write(&path, site.metrics("").text).expect("written");
    let input = std::fs::File::open(&path).expect("a file");
    let ran = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::from(input))
        .current_dir(checkout())
        .output();
    match ran {
        Ok(ran) => {
            let said = [ran.stdout, ran.stderr].concat();
            assert!(
                ran.status.success() && said.is_empty(),
                "{}",
                String::from_utf8_lossy(&said)
            );
        }
        Err(error) => println!("promtool: {error}; not checked"),
    }
}
