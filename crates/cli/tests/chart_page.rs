//! Pages and pictures in a real browser: they render, hover, fold and zoom work, the console stays
//! empty, nothing is asked of the network. Expected values: hand calculation from
//! `tests/sites/week.toml` and from the jobs below.

#[allow(dead_code)] // Tests of other packages use the rest.
#[path = "../../testbed/src/browser.rs"]
mod browser;
mod command;

use std::path::PathBuf;

use browser::Browser;
use command::fairtree;

/// Three accounts over ten days: physics uses four processors all the time, biology two from the
/// sixth day on, idle nothing but a second.
const LOG: &str = "JobID|User|Account|Start|End|NCPUS\n\
    1|anna|physics|2026-01-01T00:00:00|2026-01-11T00:00:00|3\n\
    2|bert|physics|2026-01-01T00:00:00|2026-01-11T00:00:00|1\n\
    3|carl|biology|2026-01-06T00:00:00|2026-01-11T00:00:00|2\n\
    4|dora|idle|2026-01-01T00:00:00|2026-01-01T00:00:01|1\n";

fn written(name: &str, args: &[&str], input: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = path.display().to_string();
    let ran = fairtree(&[args, &["-q", "-o", &output]].concat(), input);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    path
}

/// The place of a picture for people.
fn kept(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"))
}

/// Asserts that the page said and asked for nothing.
fn quiet(browser: &Browser) {
    assert_eq!(browser.complaints(), [] as [&str; 0]);
}

#[test]
fn a_page_over_time_renders_hovers_zooms_and_folds() {
    let Some(mut browser) = Browser::start(1200, 900) else {
        return;
    };
    let page = written(
        "over-time.html",
        &["chart", "--half-life", "0"],
        LOG.as_bytes(),
    );
    browser.open(&page);
    assert!(browser.text("document.title").starts_with("Fair share"));
    // The page's policy names its style sheet by the hash: it is applied.
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('table')).borderCollapse"),
        "collapse"
    );
    // Below root and below physics; four users; ten nodes with root.
    assert_eq!(
        browser.value("document.querySelectorAll('#time details').length"),
        2
    );
    assert_eq!(
        browser.value("document.querySelectorAll('#factors path.line').length"),
        4
    );
    assert_eq!(
        browser.value("document.querySelectorAll('#icicle .node').length"),
        8
    );
    assert_eq!(
        browser.value("document.querySelectorAll('tr[data-i]').length"),
        8
    );
    browser.keep(&kept("over-time-light"));

    // Of 40 processor-days of physics and 10 of biology physics has used 80 %, and one of three
    // accounts is due a third.
    browser.hover("#time .panel", 0.95, 0.5);
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(tip.starts_with("physics"), "{tip}");
    assert!(
        tip.contains("share 33 %") && tip.contains("use 80 %"),
        "{tip}"
    );
    assert_eq!(
        browser.value("document.querySelectorAll('#time .cursor').length"),
        1
    );
    // Far left physics alone has used anything but that second.
    browser.hover("#time .panel", 0.14, 0.5);
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(
        tip.contains("use 100 %") && tip.contains("2026-01-01"),
        "{tip}"
    );

    browser.hover("#factors", 0.8, 0.05);
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(
        tip.starts_with("dora@idle") && tip.contains("fair-share factor 1"),
        "{tip}"
    );
    assert_eq!(
        browser.value("document.querySelectorAll('#factors .pick').length"),
        1
    );

    zooming(&mut browser);
    folding(&mut browser);
    dark(&mut browser);
    browser.keep(&kept("over-time-dark"));
    quiet(&browser);
}

/// The cell of a node by its name.
fn cell(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('#icicle .node')]\
         .find(e => JSON.parse(document.getElementById('data').textContent)\
         .associations[e.dataset.i].name === '{name}')"
    )
}

fn zooming(browser: &mut Browser) {
    let wide = |name: &str| format!("+{}.firstElementChild.getAttribute('width')", cell(name));
    let is_shown = |name: &str| format!("{}.style.display !== 'none'", cell(name));
    let third = browser.value(&wide("physics")).as_f64().expect("a width");
    assert!((third - 360.0).abs() < 0.1, "{third}");
    let index = browser.value(&format!("{}.dataset.i", cell("physics")));
    let selector = format!(
        "#icicle .node[data-i='{}']",
        index.as_str().expect("an index")
    );
    browser.hover(&selector, 0.5, 0.5);
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(
        tip.contains("due of all: 33 %") && tip.contains("used of all: 80 %"),
        "{tip}"
    );
    browser.click(&selector);
    for (name, expected) in [("physics", 1080.0), ("anna", 540.0)] {
        let found = browser.value(&wide(name)).as_f64().expect("a width");
        assert!((found - expected).abs() < 0.1, "{name}: {found}");
    }
    assert_eq!(browser.value(&is_shown("carl")), false);
    assert_eq!(
        browser.text("document.getElementById('focus').textContent"),
        "physics"
    );
    browser.click("#up");
    assert_eq!(browser.value(&is_shown("carl")), true);
    browser.click("input[value=used]");
    let wide = browser.value(&wide("physics")).as_f64().expect("a width");
    assert!((wide - 864.0).abs() < 0.1, "80 % of 1080, but {wide}");
}

fn folding(browser: &mut Browser) {
    let visible = "[...document.querySelectorAll('tr[data-i]')].filter(r => r.offsetHeight).length";
    assert_eq!(browser.value(visible), 8);
    browser.click("tr[data-i] .twist");
    assert_eq!(browser.value(visible), 1, "root is folded");
    browser.click("tr[data-i] .twist");
    assert_eq!(browser.value(visible), 8);
    browser.click("#shut");
    assert_eq!(browser.value(visible), 4, "root and its accounts");
    browser.click("#open");
    assert_eq!(browser.value(visible), 8);
    let open = "document.querySelectorAll('#time details[open]').length";
    assert_eq!(browser.value(open), 1);
    browser.click("#time details:nth-of-type(2) summary");
    assert_eq!(browser.value(open), 2);
}

fn dark(browser: &mut Browser) {
    let paper = "getComputedStyle(document.body).backgroundColor";
    let fill = "getComputedStyle(document.querySelector('.panel .paper')).fill";
    browser.prefers("light");
    assert_eq!(browser.text(paper), "rgb(255, 255, 255)");
    browser.prefers("dark");
    assert_eq!(browser.text(paper), "rgb(20, 23, 26)");
    assert_eq!(browser.text(fill), "rgb(20, 23, 26)");
    browser.click("#theme");
    assert_eq!(browser.text(paper), "rgb(255, 255, 255)");
    assert_eq!(browser.text(fill), "rgb(255, 255, 255)");
    browser.click("#theme");
    assert_eq!(browser.text(paper), "rgb(20, 23, 26)");
}

#[test]
fn names_are_text_whatever_they_hold() {
    let Some(mut browser) = Browser::start(1200, 900) else {
        return;
    };
    let listing =
        b"Account|User|RawShares|RawUsage\nroot|||10\n a<script>alert(1)</script>||1|10\n  \
        a<script>alert(1)</script>|</script><img src=x onerror=alert(2)>|1|10\n";
    let ran = fairtree(&["share", "-q", "--html"], listing);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("names.html");
    std::fs::write(&path, ran.out).expect("the page");
    browser.open(&path);
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    let names = browser.text("document.querySelector('tbody').innerText");
    assert!(names.contains("a<script>alert(1)</script>"), "{names}");
    assert!(
        names.contains("</script><img src=x onerror=alert(2)>"),
        "{names}"
    );
    browser.hover("tbody tr:last-child", 0.5, 0.5);
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(tip.contains("onerror=alert(2)>@a<script>"), "{tip}");
    quiet(&browser);
}

#[test]
fn pictures_of_lines_render_in_light_and_dark() {
    let Some(mut browser) = Browser::start(1200, 900) else {
        return;
    };
    let picture = written(
        "over-time.svg",
        &["chart", "--half-life", "0"],
        LOG.as_bytes(),
    );
    browser.open(&picture);
    assert_eq!(browser.text("document.documentElement.nodeName"), "svg");
    assert_eq!(
        browser.value("document.querySelectorAll('path.line').length"),
        4
    );
    let paper = "getComputedStyle(document.querySelector('.paper')).fill";
    browser.prefers("light");
    assert_eq!(browser.text(paper), "rgb(255, 255, 255)");
    browser.prefers("dark");
    assert_eq!(browser.text(paper), "rgb(20, 23, 26)");
    // No text runs over the edge.
    let over = "[...document.querySelectorAll('text')].filter(t => { const b = t.getBBox(); \
        const p = t.getCTM(); return b.x + b.width + p.e > 1122 || b.x + p.e < 0; }).length";
    assert_eq!(browser.value(over), 0);
    quiet(&browser);
}
