//! Pages over recorded captures of Slurm 22.05.8 and 24.11.5 (`tests/captures`), handlers in process.
//! Expected values: what sshare, sprio and squeue printed when the captures were made.

mod site;

use axum::http::StatusCode;
use site::{Site, numbers};

#[test]
fn me_shows_what_sshare_printed() {
    let site = Site::recorded("cluster", "ft2-bob");
    let page = site.page("/me");
    // sshare: physics|ft2-bob: NormShares 0.666667 of its level, RawUsage 654, FairShare 0.875.
    assert_eq!(numbers(&page, "fs_factor"), [0.875]);
    assert_eq!(numbers(&page, "used"), [654.0]);
    assert_eq!(numbers(&page, "share_of_level"), [2.0 / 3.0]);
    // 60 of 101 shares, 2 of 3 of these, 2 of 3 of these.
    let [whole] = numbers(&page, "share_of_whole")[..] else {
        panic!("{page}")
    };
    assert!((whole - 60.0 / 101.0 * 4.0 / 9.0).abs() < 1e-12, "{whole}");
    // Factors above 0.875: only root's.
    assert!(page.contains("1 of 8 come first"), "{page}");
    assert!(page.contains("job/301"), "{page}");
    // squeue's reason of job 301 is Resources.
    assert!(page.contains("Resources (not enough is free"), "{page}");
}

#[test]
fn the_job_page_has_what_sprio_printed() {
    let site = Site::recorded("cluster", "ft2-bob");
    let page = site.page("/job/301");
    assert_eq!(numbers(&page, "points:fairshare"), [87500.0]);
    assert_eq!(numbers(&page, "points:job_size"), [250.0]);
    assert_eq!(numbers(&page, "priority"), [88687.0]);
    assert!(page.contains("2026-11-21 10:36:30 UTC"), "eligible: {page}");
    // 305 has two ways: main and debug, printed with 77905 and 82405.
    let page = Site::recorded("cluster", "ft2-alice").page("/job/305");
    assert_eq!(numbers(&page, "priority:main"), [77905.0]);
    assert_eq!(numbers(&page, "priority:debug"), [82405.0]);
}

#[test]
fn documents_are_those_of_the_command() {
    let site = Site::recorded("cluster", "root");
    let job = site.json("/api/v1/job/301");
    assert_eq!(job["schema"], "fairtree.explain/1");
    assert_eq!(job["question"], "job");
    assert_eq!(job["answer"]["priority"], 88687);
    let versus = site.json("/api/v1/job/301/versus/309");
    assert_eq!(versus["question"], "jobs");
    assert_eq!(versus["answer"]["ahead"], "first");
    let account = site.json("/api/v1/account/physics");
    assert_eq!(account["schema"], "fairtree.share/1");
    let rows = account["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["raw_usage"], 1670);
    // sshare's own digits, as `fairtree share --json` has them.
    assert_eq!(rows[0]["cluster"], "fairtree");
    assert_eq!(rows[0]["norm_usage"], 0.219431);
    assert_eq!(rows[0]["effective_usage"], 0.618287);
    assert_eq!(rows[0]["level_fs"], 1.078247);
    assert_eq!(account["assumptions"], serde_json::json!([]));
    let me = site.json("/api/v1/me");
    assert_eq!(me["accounts"][0]["account"], "root");
}

#[test]
fn every_page_comes_in_three_forms_from_both_releases() {
    for capture in ["cluster", "cluster-24.11.5"] {
        let site = Site::recorded(capture, "root");
        let job = site.any_waiting_job();
        let mut paths = vec!["/me".to_owned(), "/site".into(), "/account/root".into()];
        paths.push(format!("/job/{job}"));
        for path in paths {
            let page = site.page(&path);
            assert!(
                page.starts_with("<!DOCTYPE html>") && !page.contains("<script"),
                "{path}"
            );
            assert!(page.contains("data-name=\"picture_age_secs\""), "{path}");
            assert!(
                !page.contains(" style="),
                "the policy refuses style attributes: {path}"
            );
            site.json(&format!("/api/v1{path}"));
            let csv = site.get(&format!("{path}.csv"));
            assert_eq!(csv.status, StatusCode::OK, "{path}");
            assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
            assert_eq!(csv.text, site.get(&format!("/api/v1{path}.csv")).text);
        }
        let site_page = site.page("/site");
        assert_eq!(numbers(&site_page, "check_differences"), [0.0], "{capture}");
    }
}

#[test]
fn what_does_not_exist_is_not_found() {
    let site = Site::recorded("cluster", "ft2-bob");
    for path in [
        "/job/99999",
        "/account/nobody",
        "/nothing",
        "/job/301/versus/99999",
        "/plan/1",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        let api = site.get(&format!("/api/v1{path}"));
        assert_eq!(api.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(
        site.get("/job/301/versus/301").status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(site.get("/healthz").text, "ok\n");
    assert_eq!(site.json("/api/v1/healthz")["health"], "ok");
    assert_eq!(site.get("/").header("location"), "/me");
}

#[test]
fn every_answer_has_the_policy_and_is_kept_by_no_cache() {
    let site = Site::recorded("cluster", "ft2-bob");
    for path in ["/me", "/job/99999", "/api/v1/me", "/style.css"] {
        let answer = site.get(path);
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
    // A name that a page of another site could give this host.
    assert_eq!(
        site.get_as("/me", "evil.example:80").status,
        StatusCode::MISDIRECTED_REQUEST
    );
    assert_eq!(site.get_as("/me", "127.0.0.1:8765").status, StatusCode::OK);
    assert_eq!(site.post("/me").status, StatusCode::METHOD_NOT_ALLOWED);
}

// slurm.conf(5), AllowAccounts: frank is in genomics.
#[test]
fn a_partition_that_refuses_the_account_does_not_help() {
    let advice = "scontrol update job=309 partition=debug";
    let recorded = Site::recorded("cluster", "ft2-frank");
    assert!(recorded.page("/job/309").contains(advice));
    let found = "PartitionName=debug AllowGroups=ALL AllowAccounts=ALL";
    let refuses = "PartitionName=debug AllowGroups=ALL AllowAccounts=physics";
    let site = Site::changed("ft2-frank", &[("partitions.txt", found, refuses)]);
    assert!(!site.page("/job/309").contains(advice));
}

// By hand: 4 CPUs for an hour in a partition without weights are 4 TRES-hours.
#[test]
fn the_cost_of_a_job_before_it_is_submitted() {
    let site = Site::recorded("cluster", "ft2-bob");
    assert!(site.page("/cost").contains("<form method=\"get\""));
    let page = site.page("/cost?account=physics&partition=main&tres=cpu%3D4&time=1%3A00%3A00");
    assert_eq!(numbers(&page, "charged"), [14400.0]);
    let document = site.json("/api/v1/cost?tres=cpu%3D4&time=1%3A00%3A00");
    assert_eq!(document["charged"], 14400.0);
    let refused = |path: &str| {
        let answer = site.get(path);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
        answer.text
    };
    let page = refused("/cost?tres=cpu%3D4&time=soon");
    assert!(page.contains("allowed is a time above 0"), "{page}");
    refused("/cost?user=root");
    let page = refused("/cost?account=nosuch&partition=main&tres=cpu%3D4&time=1%3A00%3A00");
    assert!(page.contains("cluster: found no user ft2-bob@nosuch") && !page.contains("captures/"));
    // The form is there to be mended.
    assert!(page.contains("<form method=\"get\""));
    assert!(refused("/api/v1/cost?tres=cpu%3D4&time=soon").contains("fairtree.error/1"));
    assert!(refused("/api/v1/cost").contains("say how long"));
}

/// Charts of what the reader may see: of bob himself, of the children of science, and of those of the root.
#[test]
fn use_over_time_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let setting = "PrivateData = usage";
    site::copy(
        folder.path(),
        &[("config.txt", "PrivateData             = none", setting)],
    );
    for (user, path, charts) in [
        ("ft2-bob", "/me", 1),
        // Usage of others is private.
        ("ft2-bob", "/site", 0),
        ("ft2-dave", "/account/science", 2),
        ("ft2-dave", "/site", 2),
    ] {
        let site = Site::over_time(folder.path(), user, 3);
        let page = site.page(path);
        assert_eq!(
            page.matches("<svg class=\"panel\"").count(),
            charts,
            "{user} {path}"
        );
    }
    // One moment is no course.
    let page = Site::over_time(folder.path(), "ft2-bob", 1).page("/me");
    assert!(!page.contains("<svg class=\"panel\""));
}
