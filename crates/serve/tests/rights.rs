//! Pages and numbers that each kind of person sees under each value of `PrivateData`. Expected: slurm.conf(5), and
//! `assoc_mgr_get_shares` and `_hide_job_user_rec` of Slurm 22.05, read.

mod site;

use axum::http::StatusCode;
use site::{Site, numbers};

/// alice and bob are plain users, frank coordinates medicine with genomics and imaging, dave is an
/// operator.
const PEOPLE: [&str; 4] = ["ft2-alice", "ft2-bob", "ft2-frank", "ft2-dave"];

/// Jobs that wait: of bob in physics, of carol in biology, of frank in genomics.
const JOBS: [u32; 3] = [301, 307, 309];

fn private(value: &str, user: &str) -> Site {
    Site::changed(
        user,
        &[(
            "config.txt",
            "PrivateData             = none",
            &format!("PrivateData = {value}"),
        )],
    )
}

/// Paths that exist for this reader.
fn visible(site: &Site, paths: &[String]) -> Vec<bool> {
    let found = |path: &String| match site.get(path).status {
        StatusCode::OK => true,
        StatusCode::NOT_FOUND => false,
        other => panic!("{path}: {other}"),
    };
    paths.iter().map(found).collect()
}

#[test]
fn jobs_of_others() {
    let paths = JOBS.map(|id| format!("/job/{id}"));
    for (value, expected) in [
        ("none", [[true; 3]; 4]),
        ("usage,users,accounts", [[true; 3]; 4]),
        (
            "jobs",
            [
                [false; 3],
                [true, false, false],
                [false, false, true],
                [true; 3],
            ],
        ),
    ] {
        for (user, expected) in PEOPLE.into_iter().zip(expected) {
            let site = private(value, user);
            assert_eq!(visible(&site, &paths), expected, "{value} {user}");
        }
    }
}

// sprio shows no job that squeue hides, and so no factor of one.
#[test]
fn factors_of_jobs_that_are_hidden() {
    let terms = |value: &str, user: &str| {
        let document = private(value, user).json("/api/v1/site");
        document["terms"].as_array().expect("a list").len()
    };
    assert!(terms("none", "ft2-alice") > 0);
    assert_eq!(terms("jobs", "ft2-alice"), 0);
    assert!(terms("jobs", "ft2-dave") > 0);
}

#[test]
fn usage_of_others() {
    let paths = ["physics", "genomics", "medicine", "root"].map(|name| format!("/account/{name}"));
    for (value, expected) in [
        ("jobs", [[true; 4]; 4]),
        (
            "usage",
            [
                [false; 4],
                [false; 4],
                [false, true, true, false],
                [true; 4],
            ],
        ),
        // Own accounts and those above: alice is in physics and genomics.
        (
            "accounts",
            [
                [true; 4],
                [true, false, false, true],
                [false, true, true, true],
                [true; 4],
            ],
        ),
    ] {
        for (user, expected) in PEOPLE.into_iter().zip(expected) {
            let site = private(value, user);
            assert_eq!(visible(&site, &paths), expected, "{value} {user}");
        }
    }
}

#[test]
fn under_usage_a_plain_user_sees_no_number_of_others() {
    let site = private("usage,jobs,users,accounts", "ft2-alice");
    let me = site.page("/me");
    assert_eq!(numbers(&me, "fs_factor"), [0.125, 0.75]);
    for path in [
        "/me",
        "/me.csv",
        "/api/v1/me",
        "/job/305",
        "/api/v1/job/305",
        "/job/305.csv",
        "/site",
        "/api/v1/site",
    ] {
        let text = site.get(path).text;
        for name in [
            "ft2-bob",
            "ft2-carol",
            "ft2-dave",
            "ft2-erin",
            "ft2-frank",
            "biology",
            "imaging",
        ] {
            assert!(!text.contains(name), "{path}: {name}\n{text}");
        }
    }
    // Counts stay: seven jobs of others and own ones are ahead of the last.
    assert!(numbers(&me, "ahead").iter().any(|ahead| *ahead > 0.0));
}

#[test]
fn what_may_not_be_seen_answers_as_what_does_not_exist() {
    let site = private("jobs,usage,accounts", "ft2-alice");
    for (hidden, absent) in [
        ("/job/301", "/job/99999"),
        ("/job/301/versus/305", "/job/99999/versus/305"),
        ("/account/biology", "/account/nobody"),
        ("/api/v1/job/301", "/api/v1/job/99999"),
        ("/job/301.csv", "/job/99999.csv"),
    ] {
        let (hidden, absent) = (site.get(hidden), site.get(absent));
        assert_eq!((hidden.status, &hidden.text), (absent.status, &absent.text));
        assert_eq!(hidden.status, StatusCode::NOT_FOUND);
    }
}

#[test]
fn a_setting_that_is_not_known_hides_everything() {
    let site = Site::changed(
        "ft2-bob",
        &[("config.txt", "PrivateData             = none", "Other = x")],
    );
    assert_eq!(site.get("/job/305").status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/account/physics").status, StatusCode::NOT_FOUND);
}

#[test]
fn hostile_names_are_text_in_every_page_and_no_formula() {
    let name = "=1+1<script>alert(1)</script>\"'&|x";
    let user = "-<img/src=x>";
    let account = "@<b>\"'";
    let site = Site::changed(
        user,
        &[
            ("names.txt", "301|wrap", &format!("301|{name}")),
            (
                "jobs.txt",
                "JobId=301 JobName=wrap",
                &format!("JobId=301 JobName={name}"),
            ),
            ("*", "ft2-bob", user),
            ("*", "physics", account),
        ],
    );
    let path = "/account/%40%3Cb%3E%22%27";
    for path in ["/me", "/job/301", "/job/301/versus/305", path, "/site"] {
        let page = site.page(path);
        for tag in ["<script", "<img", "<b>\"", "alert(1)</"] {
            assert!(!page.contains(tag), "{path}: {tag}: {page}");
        }
        site.json(&format!("/api/v1{path}"));
    }
    assert!(site.page("/me").contains("=1+1&lt;script&gt;"));
    let csv = site.get("/me.csv").text;
    assert!(
        csv.contains("'=1+1<script>") && csv.contains("'@<b>"),
        "{csv}"
    );
    for line in csv.lines().skip(1) {
        assert!(
            !line
                .split(',')
                .any(|cell| cell.starts_with(['=', '@', '-'])),
            "{line}"
        );
    }
    assert!(
        site.get(&format!("{path}.csv"))
            .text
            .contains("'-<img/src=x>")
    );
}

/// Job 301 of bob in physics waits for a limit of science, which is used up, and job 302 for job 309 of frank.
#[test]
fn what_a_reason_names() {
    let reasons = [
        (
            "jobs.txt",
            "JobId=301 JobName=wrap UserId=ft2-bob(1007) GroupId=ft2-bob(1007) MCS_label=N/A Priority=88687 Nice=0 Account=physics QOS=normal JobState=PENDING Reason=Resources",
            "JobId=301 JobName=wrap UserId=ft2-bob(1007) GroupId=ft2-bob(1007) MCS_label=N/A Priority=88687 Nice=0 Account=physics QOS=normal JobState=PENDING Reason=AssocGrpCPUMinutesLimit",
        ),
        (
            "jobs.txt",
            "JobId=302 JobName=wrap UserId=ft2-bob(1007) GroupId=ft2-bob(1007) MCS_label=N/A Priority=88687 Nice=0 Account=physics QOS=normal JobState=PENDING Reason=Priority Dependency=(null)",
            "JobId=302 JobName=wrap UserId=ft2-bob(1007) GroupId=ft2-bob(1007) MCS_label=N/A Priority=88687 Nice=0 Account=physics QOS=normal JobState=PENDING Reason=Dependency Dependency=afterok:309(unfulfilled)",
        ),
        ("sshare.txt", "1.673871||cpu=45", "1.673871|cpu=40|cpu=45"),
    ];
    for (private, user, sees_limit, sees_state) in [
        ("none", "ft2-bob", true, true),
        ("usage", "ft2-bob", false, true),
        ("jobs", "ft2-bob", true, false),
        ("usage,jobs", "ft2-dave", true, true),
    ] {
        let setting = format!("PrivateData = {private}");
        let mut changes = reasons.to_vec();
        changes.push(("config.txt", "PrivateData             = none", &setting));
        let site = Site::changed(user, &changes);
        let page = site.page("/job/301");
        let full = "GrpTRESMins of cpu of science allows 40 minutes, 45 minutes in use";
        assert_eq!(page.contains(full), sees_limit, "{private} {user}: {page}");
        assert!(page.contains("AssocGrpCPUMinutesLimit"), "{page}");
        let page = site.page("/job/302");
        let waits = "job 309, PENDING, which must end without an error";
        assert_eq!(page.contains(waits), sees_state, "{private} {user}: {page}");
        assert!(page.contains("Dependency (job 309"), "{page}");
        let me = site.get("/api/v1/me").text;
        assert_eq!(me.contains("\"most\": 40"), sees_limit && user == "ft2-bob");
    }
}
