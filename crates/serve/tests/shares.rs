//! The form of a level, plans and changes. Expected: sacctmgr's rights as slurmdbd gives them (a
//! coordinator changes the children of the account and all below; operators all), and hand calculation.

mod site;

use axum::http::StatusCode;
use site::{Site, numbers};

const ORIGIN: &str = "http://localhost";

/// frank coordinates medicine with genomics and imaging; dave is an operator.
#[test]
fn only_who_may_change_a_level_sees_its_form() {
    for (user, expected) in [
        ("ft2-alice", [false; 4]),
        ("ft2-carol", [false, false, false, true]),
        ("ft2-frank", [false, true, true, false]),
        ("ft2-dave", [true; 4]),
        ("root", [true; 4]),
    ] {
        let site = Site::changed(user, &[]);
        let paths = ["root", "medicine", "genomics", "biology"];
        let found = paths.map(|name| site.get(&format!("/account/{name}/shares")).status);
        let found = found.map(|status| status == StatusCode::OK);
        assert_eq!(found, expected, "{user}");
    }
    let disabled = [(
        "database.txt",
        "PrivateData             = none",
        "DisableCoordDBD = Yes",
    )];
    let site = Site::changed("ft2-frank", &disabled);
    assert_eq!(
        site.get("/account/medicine/shares").status,
        StatusCode::NOT_FOUND
    );
    let site = Site::changed("ft2-dave", &disabled);
    assert_eq!(site.get("/account/medicine/shares").status, StatusCode::OK);
}

#[test]
fn a_level_is_computed_kept_as_a_plan_and_listed() {
    let site = Site::changed("ft2-frank", &[]);
    let path = "/account/medicine/shares";
    let page = site.page(path);
    assert_eq!(numbers(&page, "raw_shares"), [1.0, 3.0]);
    assert_eq!(numbers(&page, "sum_raw_shares"), [4.0]);
    assert_eq!(numbers(&page, "share_of_level"), [0.25, 0.75]);
    // 2 of 5 shares.
    let fields = "shares%3Agenomics=2&shares%3Aimaging=3";
    let page = site.page(&format!("{path}?{fields}"));
    assert_eq!(numbers(&page, "share_of_level_after"), [0.4, 0.6]);
    assert!(page.contains("sacctmgr"), "{page}");
    let document = site.json(&format!("/api/v1{path}?{fields}"));
    assert_eq!(document["schema"], "fairtree.shares/1");

    let kept = site.form("/plan", &format!("account=medicine&{fields}"), ORIGIN);
    assert_eq!(kept.status, StatusCode::SEE_OTHER, "{}", kept.text);
    assert_eq!(kept.header("location"), "/plan/1");
    let plan = site.json("/api/v1/plan/1");
    assert_eq!(plan["shares"][0]["before"], "1");
    assert_eq!(plan["shares"][0]["after"], "2");
    assert_eq!(plan["shares"].as_array().map(Vec::len), Some(1));
    assert!(site.page("/plan/1").contains("sacctmgr"));
    assert!(site.page("/changes").contains("/plan/1"));
    assert_eq!(site.get("/plan/2").status, StatusCode::NOT_FOUND);
    assert_eq!(
        site.get("/plan/1.csv").text,
        "name,before,after\r\ngenomics,1,2\r\n"
    );
}

#[test]
fn what_is_refused() {
    let site = Site::changed("ft2-frank", &[]);
    let path = "/account/medicine/shares";
    for (fields, status) in [
        ("shares%3Agenomics=x", StatusCode::BAD_REQUEST),
        ("shares%3Agenomics=2147483647", StatusCode::BAD_REQUEST),
        ("shares%3Agenomics=-1", StatusCode::BAD_REQUEST),
        ("shares%3Aphysics=1", StatusCode::BAD_REQUEST),
        ("shares%3Agenomics=parent", StatusCode::OK),
    ] {
        assert_eq!(
            site.get(&format!("{path}?{fields}")).status,
            status,
            "{fields}"
        );
    }
    // A form of another site's page, an account that frank does not coordinate, no change.
    let fields = "account=medicine&shares%3Agenomics=2";
    assert_eq!(
        site.form("/plan", fields, "http://evil.example").status,
        StatusCode::FORBIDDEN
    );
    let fields = "account=science&shares%3Aphysics=9";
    assert_eq!(
        site.form("/plan", fields, ORIGIN).status,
        StatusCode::NOT_FOUND
    );
    let fields = "account=medicine&shares%3Agenomics=1";
    assert_eq!(
        site.form("/plan", fields, ORIGIN).status,
        StatusCode::BAD_REQUEST
    );
}

/// Only those who may change the shares apply a plan and take it back, and never by a right of the service.
#[test]
fn plans_are_applied_by_people() {
    let site = Site::changed("ft2-frank", &[]);
    let fields = "account=medicine&shares%3Agenomics=2";
    site.form("/plan", fields, ORIGIN);
    let page = site.page("/plan/1");
    assert!(page.contains("fairtree apply 1"), "{page}");
    // Here nobody signs in, so nobody gives a token.
    assert!(!page.contains("jwt"), "{page}");
    let token = "jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdW4iOiJmdDItZnJhbmsifQ.x";
    for (path, fields, status) in [
        ("/plan/1/apply", token, StatusCode::BAD_REQUEST),
        ("/plan/1/undo", "", StatusCode::BAD_REQUEST),
        ("/plan/9/undo", "", StatusCode::NOT_FOUND),
        ("/plan/x/undo", "", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(site.form(path, fields, ORIGIN).status, status, "{path}");
        let foreign = site.form(path, fields, "http://evil.example");
        assert_eq!(foreign.status, StatusCode::FORBIDDEN, "{path}");
    }
    let plan = site.json("/api/v1/plan/1");
    assert_eq!(
        plan["lines"][0],
        "sacctmgr -i modify account where name=genomics cluster=fairtree set fairshare=2"
    );
    // The whole level, whose shares the plan was made from.
    let rows = plan["levels"][0]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(
        (&rows[0]["account"], &rows[0]["shares"]),
        (&"genomics".into(), &"1".into())
    );
    assert!(plan["proposal"]["moves"].is_array() && plan["differences"] == serde_json::json!([]));
}

/// Under minutes=shares the form gives out minutes: 2 of 4 are of genomics and imaging, with 40 above them.
#[test]
fn minutes_as_shares() {
    // Ranks of seven users: root is not ranked. Factors of the recording are of eight.
    let mut policy = vec![(
        "config.txt",
        "PriorityParameters      = (null)",
        "PriorityParameters = usage=window:1-0,ranking=least_used:leaf,minutes=shares",
    )];
    for (eighths, sevenths) in [
        ("0.125000|0.761881", "0.142857|0.761881"),
        ("0.250000|1.454631", "0.285714|1.454631"),
        ("0.375000|1.000000", "0.428571|1.000000"),
        ("0.625000||", "0.714286||"),
        ("0.750000|0.547833", "0.857143|0.547833"),
        ("0.875000|1.702667", "1.000000|1.702667"),
    ] {
        policy.push(("sshare.txt", eighths, sevenths));
    }
    let site = Site::changed("ft2-dave", &policy);
    let page = site.page("/account/medicine/shares");
    assert_eq!(numbers(&page, "given_minutes"), [4.0]);
    assert_eq!(numbers(&page, "left_minutes"), [36.0]);
    assert!(page.contains("unassigned"), "{page}");
    // 41 of 40.
    let page = site.page("/account/medicine/shares?shares%3Agenomics=38");
    assert!(page.contains("allowed for genomics are up to 37"), "{page}");
}
