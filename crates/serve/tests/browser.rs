//! The pages in a real browser: readable in a narrow and a wide window, light and dark, with scripts and without;
//! fields have labels, text has contrast (WCAG 2.2, 1.4.3 and 3.3.2); people sign in, edit shares, apply them and take
//! them back.

#[allow(dead_code)] // Tests of other packages use the rest.
#[path = "../../testbed/src/browser.rs"]
mod browser;
mod running;
mod site;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use browser::{Browser, FAULTS, SMALLEST, UNFOLD};
use running::{Place, credential, token};
use serde_json::json;

/// One browser at a time.
static ONE: Mutex<()> = Mutex::new(());

/// A service that is stopped at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is as good as stopped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &Path, user: &str) -> (Running, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree-serve"))
        .arg("--from")
        .arg(folder)
        .args(["--as", user, "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the service");
    let mut line = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let url = line
        .trim()
        .strip_prefix("listening on ")
        .expect("an address");
    (Running(child), url.to_owned())
}

/// The place of a picture for people.
fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}.png"))
}

const PAGES: [&str; 9] = [
    "/me",
    "/job/301",
    "/job/301/versus/302",
    "/account/medicine",
    "/account/science",
    "/account/medicine/shares",
    "/cost",
    "/changes",
    "/site",
];

#[test]
fn pages_are_readable_and_shares_are_edited() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut browser) = Browser::start(1400, 900) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    site::copy(folder.path(), &[]);
    // dave is an operator: every page shows all that it has.
    let (_running, url) = serve(folder.path(), "ft2-dave");
    for (width, scheme, scripts) in [
        (400, "light", false),
        (400, "dark", true),
        (1400, "light", true),
        (1400, "dark", false),
    ] {
        browser.resize(width, 900);
        browser.prefers(scheme);
        browser.scripts(scripts);
        for page in PAGES {
            browser.visit(&format!("{url}{page}"));
            measured(&mut browser, &format!("{page} {width} {scheme} {scripts}"));
            if !scripts || width == 400 {
                let name = page.trim_start_matches('/').replace('/', "-");
                browser.keep(&kept(&format!("{name}-{width}-{scheme}")));
            }
        }
    }
    browser.resize(400, 900);
    browser.prefers("light");
    browser.visit(&format!("{url}/account/medicine/shares"));
    browser.keep(&kept("narrow-light"));
    editing(&mut browser, &url);
    // The style sheet is the only thing that pages ask for.
    let complaints = browser.complaints().iter();
    let other = complaints.filter(|text| !text.contains("/style.css"));
    assert_eq!(other.collect::<Vec<_>>(), [] as [&String; 0]);
}

/// Gives genomics 2 shares beside the 3 of imaging, and keeps that as a plan.
fn editing(browser: &mut Browser, url: &str) {
    browser.resize(1400, 900);
    browser.prefers("dark");
    browser.visit(&format!("{url}/account/medicine/shares"));
    browser.fill("input[name='shares:genomics']", "2");
    browser.follow("form[method=get] button");
    let after = "[...document.querySelectorAll('[data-name=share_of_level_after]')].map(e => +e.dataset.value)";
    assert_eq!(browser.value(after), json!([0.4, 0.6]));
    browser.keep(&kept("preview-dark"));
    browser.follow("form[action='/plan'] button");
    assert_eq!(browser.text("location.pathname"), "/plan/1");
    assert!(
        browser
            .text("document.body.innerText")
            .contains("fairtree apply 1")
    );
    readable(browser, "plan");
    browser.follow("nav a[href='/changes']");
    assert_eq!(
        browser.value("document.querySelectorAll('tr[data-row=\"1\"]').length"),
        1
    );
}

/// A link of `fairtree login`, a plan of genomics with 2 shares, applied with a token, and taken back, by the user of
/// this process, who is an operator.
#[test]
fn people_sign_in_apply_and_take_back() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut browser) = Browser::start(1400, 900) else {
        return;
    };
    let place = Place::recorded();
    let shares = || {
        let text = std::fs::read_to_string(place.answers().join("assocs.txt")).expect("text");
        let row = text
            .lines()
            .find(|line| line.starts_with("fairtree|genomics|||"));
        row.and_then(|row| row.split('|').nth(4).map(str::to_owned))
            .expect("a row")
    };
    let service = place.start();
    service.await_picture(&place, 0);
    let url = service.url.clone();
    // Scripts are off: pages and forms work without.
    browser.scripts(false);
    browser.visit(&format!("{url}/me"));
    assert_eq!(browser.text("location.pathname"), "/login");
    readable(&mut browser, "login");
    sign_in(&mut browser, &place, &url, 1);
    // The same link again: munge has decoded it.
    browser.follow("footer form button");
    assert_eq!(browser.text("location.pathname"), "/login");
    open_link(&mut browser, &place, &url, 1);
    assert!(
        browser
            .text("document.body.innerText")
            .contains("was used before")
    );
    readable(&mut browser, "used");
    sign_in(&mut browser, &place, &url, 2);
    browser.visit(&format!("{url}/account/medicine/shares"));
    browser.fill("input[name='shares:genomics']", "2");
    browser.follow("form[method=get] button");
    browser.follow("form[action='/plan'] button");
    assert_eq!(browser.text("location.pathname"), "/plan/1");
    readable(&mut browser, "plan");
    apply(&mut browser, &place, "1");
    assert_eq!(shares(), "2");
    browser.keep(&kept("applied"));
    browser.follow("form[action='/plan/1/undo'] button");
    assert_eq!(browser.text("location.pathname"), "/plan/2");
    readable(&mut browser, "undo");
    // The picture has the shares of before: the next one, which a start takes, has those of now.
    let calls = place.calls();
    drop(service);
    let service = place.start();
    service.await_picture(&place, calls);
    let url = service.url.clone();
    sign_in(&mut browser, &place, &url, 3);
    browser.visit(&format!("{url}/plan/2"));
    apply(&mut browser, &place, "2");
    assert_eq!(shares(), "1");
    browser.follow("nav a[href='/changes']");
    let applied = "[...document.querySelectorAll('tr[data-row]')].filter(e => e.innerText.includes('applied')).length";
    assert_eq!(
        browser.value(applied),
        2,
        "{}",
        browser.text("document.body.innerText")
    );
    readable(&mut browser, "changes");
    browser.keep(&kept("taken-back"));
}

/// Measures a page, narrow and wide, light and dark.
fn readable(browser: &mut Browser, what: &str) {
    for (width, scheme) in [
        (400, "light"),
        (400, "dark"),
        (1400, "light"),
        (1400, "dark"),
    ] {
        browser.resize(width, 900);
        browser.prefers(scheme);
        measured(browser, &format!("{what} {width} {scheme}"));
        if width == 400 {
            browser.keep(&kept(&format!("{what}-{width}-{scheme}")));
        }
    }
}

/// Measures a page as it is.
fn measured(browser: &mut Browser, what: &str) {
    browser.value(UNFOLD);
    assert_eq!(browser.value(FAULTS), json!([]), "{what}");
    let smallest = browser.value(SMALLEST);
    assert!(smallest[0].as_f64() >= Some(12.0), "{what}: {smallest}");
}

/// Opens a link as `fairtree login` prints it, and confirms.
fn open_link(browser: &mut Browser, place: &Place, url: &str, number: u32) {
    let uid = nix::unistd::Uid::current().as_raw();
    let credential = credential(place.user(), uid, number);
    let escaped = credential.replace(':', "%3A").replace('/', "%2F");
    browser.visit(&format!("{url}/login?c={escaped}"));
    readable(browser, "link");
    browser.follow("form button");
}

/// Signs in; the page of the person comes next.
fn sign_in(browser: &mut Browser, place: &Place, url: &str, number: u32) {
    open_link(browser, place, url, number);
    assert_eq!(browser.text("location.pathname"), "/me");
    let title = browser.text("document.querySelector('h1').innerText");
    assert_eq!(title, format!("Fair share of {}", place.user()));
}

/// Applies the plan of the page with a token of the person.
fn apply(browser: &mut Browser, place: &Place, plan: &str) {
    browser.fill("input[name=jwt]", &token(place.user()));
    browser.follow(&format!("form[action='/plan/{plan}/apply'] button"));
    let outcome = browser.text("document.querySelector('[data-name=outcome]')?.dataset.value");
    assert_eq!(
        outcome,
        "applied",
        "{}",
        browser.text("document.body.innerText")
    );
}
