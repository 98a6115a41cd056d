//! Every kind of page that the command writes, in a real browser: at the width of a phone and of a desk, light and dark,
//! text has 12 pixels or more and contrast, and nothing is wider than the window.

#[allow(dead_code)] // Tests of other packages use the rest.
#[path = "../../testbed/src/browser.rs"]
mod browser;
mod command;

use std::path::{Path, PathBuf};

use browser::{Browser, FAULTS, SMALLEST, UNFOLD};
use command::fairtree;

/// Three accounts over ten days.
const LOG: &str = "JobID|User|Account|Start|End|NCPUS\n\
    1|anna|physics|2026-01-01T00:00:00|2026-01-11T00:00:00|3\n\
    2|bert|physics|2026-01-01T00:00:00|2026-01-11T00:00:00|1\n\
    3|carl|biology|2026-01-06T00:00:00|2026-01-11T00:00:00|2\n\
    4|dora|idle|2026-01-01T00:00:00|2026-01-01T00:00:01|1\n";

/// A page or picture in a file, by its extension.
fn place(name: &str, end: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{name}.{end}"))
}

fn run(args: &[&str], input: &str) -> String {
    let ran = fairtree(args, input.as_bytes());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran.out
}

/// Writes what a command prints.
fn printed(name: &str, args: &[&str], input: &str) -> PathBuf {
    let path = place(name, "html");
    std::fs::write(&path, run(args, input)).expect("a page");
    path
}

/// What a command writes to the file after the option `last` of `args`.
fn written(name: &str, args: &[&str], input: &str) -> PathBuf {
    let path = place(name, "html");
    // A page of a run before would be measured.
    let _ = std::fs::remove_file(&path);
    let file = path.display().to_string();
    let at = args.iter().position(|word| *word == "PAGE").expect("PAGE");
    let mut args = args.to_vec();
    args[at] = &file;
    run(&args, input);
    path
}

/// A tree of 300 groups.
fn groups() -> String {
    (0..300)
        .map(|at| {
            format!(
                "[accounts.g{at}]\nshares = {}\nusers.u{at} = {{ usage = {at} }}\n",
                at + 1
            )
        })
        .collect()
}

/// The plan of a sweep in a folder of its own: results are kept beside it.
fn sweep_plan() -> String {
    let folder = command::folder("page-sweep");
    let examples = command::checkout().join("examples");
    for file in ["sweep.toml", "day.sacct"] {
        std::fs::copy(examples.join(file), folder.join(file)).expect("a copy");
    }
    let text = std::fs::read_to_string(folder.join("sweep.toml")).expect("the plan");
    let site = format!("site = \"{}\"", examples.join("cluster").display());
    let text = text.replace("site = \"cluster\"", &site);
    let plan = folder.join("sweep.toml");
    std::fs::write(&plan, text).expect("the plan");
    plan.display().to_string()
}

/// All pages, by name.
fn pages() -> Vec<(&'static str, PathBuf)> {
    let groups = groups();
    let site = "examples/fair_tree.toml";
    let hubs = "examples/hubs.toml";
    let change = ["what-if", "--shares", "g7=900", "--html", "PAGE", "-"];
    let ahead = ["what-if", "--shares", "a_group1=1", "--html", "PAGE", hubs];
    let nodes = "examples/nodes.toml";
    let later = "what-if --hold 3 --after 2:00:00 --all --html PAGE".split(' ');
    let later: Vec<&str> = later.chain([nodes]).collect();
    let plan = sweep_plan();
    let sweep = ["sweep", "--chart", "PAGE", "-q", &plan];
    vec![
        (
            "share",
            printed("share", &["share", "-q", "--html", site], ""),
        ),
        (
            "share-large",
            printed("share-large", &["share", "-q", "--html", "-"], &groups),
        ),
        (
            "shares",
            printed(
                "shares",
                &["shares", "--html", "--below", "hub_a", hubs],
                "",
            ),
        ),
        (
            "chart-time",
            written(
                "chart-time",
                &["chart", "--half-life", "0", "-q", "-o", "PAGE"],
                LOG,
            ),
        ),
        (
            "chart-tree",
            written("chart-tree", &["chart", "-q", "-o", "PAGE", "-"], &groups),
        ),
        (
            "chart-site",
            written("chart-site", &["chart", "-q", "-o", "PAGE", site], ""),
        ),
        ("what-if", written("what-if", &change, &groups)),
        ("what-if-hubs", written("what-if-hubs", &ahead, "")),
        ("what-if-after", written("what-if-after", &later, "")),
        ("sweep", written("sweep", &sweep, "")),
    ]
}

#[test]
fn pages_are_readable_narrow_and_wide_light_and_dark() {
    let Some(mut browser) = Browser::start(1400, 900) else {
        return;
    };
    let mut faults = Vec::new();
    for (name, page) in pages() {
        for (width, scheme) in [
            (400, "light"),
            (400, "dark"),
            (1400, "light"),
            (1400, "dark"),
        ] {
            browser.resize(width, 900);
            browser.prefers(scheme);
            browser.open(&page);
            browser.value(UNFOLD);
            let found = browser.value(FAULTS);
            for fault in found.as_array().expect("a list") {
                faults.push(format!("{name} {width} {scheme}: {fault}"));
            }
            let smallest = browser.value(SMALLEST);
            if smallest[0].as_f64().expect("a size") < 12.0 {
                faults.push(format!("{name} {width}: {smallest}"));
            }
            if (width == 400) == (scheme == "light") {
                browser.keep(&place(&format!("{name}-{width}"), "png"));
            }
        }
    }
    assert_eq!(browser.complaints(), [] as [&str; 0]);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

// 300 groups: 40 by themselves, 260 as one.
#[test]
fn a_chart_of_many_groups_folds_the_small_ones() {
    let Some(mut browser) = Browser::start(1200, 800) else {
        return;
    };
    browser.open(&written(
        "folded",
        &["chart", "-q", "-o", "PAGE", "-"],
        &groups(),
    ));
    let cells = browser.value("document.querySelectorAll('#icicle .node').length");
    // The root, 40 groups with a user each, and the others.
    assert_eq!(cells, 82);
    let names = browser.text("document.body.innerText");
    assert!(names.contains("260 more accounts"), "{names}");
    assert_eq!(browser.complaints(), [] as [&str; 0]);
}

// A ladder is wider than a phone: it scrolls by itself, and a line above says so, on a narrow window only.
#[test]
fn a_ladder_says_that_it_scrolls() {
    let Some(mut browser) = Browser::start(400, 900) else {
        return;
    };
    let hubs = "examples/hubs.toml";
    let args = ["what-if", "--shares", "a_group1=1", "--html", "PAGE", hubs];
    let page = written("ladder", &args, "");
    let hints =
        "[...document.querySelectorAll('figure .narrow')].filter(e => e.checkVisibility()).length";
    let wider = "[...document.querySelectorAll('figure .scroll')].filter(e => e.scrollWidth > e.clientWidth).length";
    for (width, scrolls) in [(400, true), (1400, false)] {
        browser.resize(width, 900);
        browser.open(&page);
        let (hints, wider) = (browser.value(hints), browser.value(wider));
        assert_eq!(hints, wider, "{width}");
        assert_eq!(hints.as_u64() > Some(0), scrolls, "{width}");
    }
}
