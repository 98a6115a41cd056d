//! A real browser, headless, told what to do through its debugging pipe: Chromium of Debian. Tests of other
//! packages include this file by its path.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The smallest text of a page in pixels of the screen, and what it says.
pub const SMALLEST: &str = "(() => { let found = [1e9, '']; \
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); \
    while (walk.nextNode()) { const text = walk.currentNode.data.trim(); \
    const at = walk.currentNode.parentElement; \
    if (!text || at.closest('script,style,[hidden]') || !at.getClientRects().length) continue; \
    let size = parseFloat(getComputedStyle(at).fontSize); \
    const drawn = at.closest('svg'); \
    if (drawn && at.getScreenCTM) size *= at.getScreenCTM().a; \
    if (size < found[0]) found = [size, text]; } \
    return found; })()";

/// Faults of a page, empty if there are none: texts outside pictures with less contrast than 4.5 (3 for large ones) against the nearest background, fields
/// without a label, tables without a heading, not one `h1`, a page wider than its window (WCAG 2.2, 1.4.3 and 3.3.2).
pub const FAULTS: &str = r#"(() => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const faults = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
    if (!text || e.closest('svg,script,style') || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parse(style.color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
    if (!e.labels.length && !e.getAttribute('aria-label')) faults.push(`no label: ${e.name}`);
  }
  for (const e of document.querySelectorAll('table')) {
    if (!e.querySelector('th')) faults.push('a table without a heading');
  }
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) faults.push(`${over} pixels too wide`);
  return faults;
})()"#;

/// Opens what a page folds, so that it is measured, too.
pub const UNFOLD: &str = "document.querySelectorAll('details').forEach(e => { e.open = true })";

/// Longer than a machine under load takes for anything here.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub struct Browser {
    child: Child,
    pipe: File,
    answers: Receiver<Value>,
    events: VecDeque<Value>,
    session: Option<String>,
    last: u64,
    /// What the page said or asked for that it should not have.
    complaints: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser; `None`, after a note on stderr, where it is not installed. Where `CI`
    /// is set, that is a failure.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        if !Path::new("/usr/bin/chromium").exists() {
            let message = "chromium is not installed";
            assert!(std::env::var_os("CI").is_none(), "{message}");
            eprintln!("skipped: {message}");
            return None;
        }
        let profile = tempfile::tempdir().expect("a folder");
        let fifo = |name: &str| {
            let path = profile.path().join(name);
            let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
            assert!(made.success());
            path
        };
        let (to, from) = (fifo("to"), fifo("from"));
        let child = Command::new("sh")
            .args([
                "-c",
                "exec chromium \"$@\" 3<\"$TO\" 4>\"$FROM\"",
                "chromium",
            ])
            // As root Chromium runs without its sandbox only; the pages are our own.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let pipe = OpenOptions::new().write(true).open(&to).expect("the pipe");
        let out = BufReader::new(File::open(&from).expect("the pipe"));
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for message in out.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser {
            child,
            pipe,
            answers,
            events: VecDeque::new(),
            session: None,
            last: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer; what happens meanwhile is kept.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.pipe.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self
                .answers
                .recv_timeout(PATIENCE)
                .expect("the browser answers");
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.notice(answer);
        }
    }

    fn notice(&mut self, event: Value) {
        let params = &event["params"];
        let complaint = match event["method"].as_str().unwrap_or("") {
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Network.requestWillBeSent" => params["type"] != "Document",
            _ => false,
        };
        if complaint {
            self.complaints.push(event.to_string());
        }
        self.events.push_back(event);
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        self.visit(&format!("file://{}", path.display()));
    }

    /// Opens an address and waits until the page is loaded.
    pub fn visit(&mut self, url: &str) {
        self.events.clear();
        self.ask("Page.navigate", json!({"url": url}));
        self.loaded();
    }

    /// Waits until the next page is loaded, as after a click on a link.
    pub fn loaded(&mut self) {
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let event = self.answers.recv_timeout(PATIENCE).expect("the page loads");
            self.notice(event);
        }
    }

    /// Clicks on an element that leads to another page, and waits until that is loaded.
    pub fn follow(&mut self, selector: &str) {
        self.events.clear();
        self.click(selector);
        self.loaded();
    }

    /// Puts text in place of that of a field.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!("document.querySelector({selector:?}).select()"));
        self.ask("Input.insertText", json!({"text": text}));
    }

    /// Another size of the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Pages run scripts, or none of their own.
    pub fn scripts(&mut self, on: bool) {
        self.ask(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": !on}),
        );
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", params);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// The same as text.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Moves the pointer onto an element: so far across and down it, 0..=1.
    pub fn hover(&mut self, selector: &str, across: f64, down: f64) -> (f64, f64) {
        let expression = format!(
            "(() => {{ const e = document.querySelector({selector:?}); \
             e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect(); \
             return [b.left + b.width * {across}, b.top + b.height * {down}]; }})()"
        );
        let place = self.value(&expression);
        let (x, y) = (
            place[0].as_f64().expect("a place"),
            place[1].as_f64().expect("a place"),
        );
        self.mouse("mouseMoved", x, y);
        (x, y)
    }

    /// Presses and lets go the button on an element.
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.hover(selector, 0.5, 0.5);
        self.mouse("mousePressed", x, y);
        self.mouse("mouseReleased", x, y);
    }

    fn mouse(&mut self, what: &str, x: f64, y: f64) {
        let button = if what == "mouseMoved" { "none" } else { "left" };
        let params = json!({"type": what, "x": x, "y": y, "button": button, "clickCount": 1});
        self.ask("Input.dispatchMouseEvent", params);
    }

    /// Dark or light surroundings.
    pub fn prefers(&mut self, scheme: &str) {
        let feature = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": feature}));
    }

    /// What the page said on the console, threw, or asked the network for.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Keeps a picture of the page for people.
    pub fn keep(&mut self, path: &Path) {
        use base64_of_png as bytes;
        let whole = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.ask("Page.captureScreenshot", whole);
        let png = bytes(answer["data"].as_str().expect("a picture"));
        assert!(png.starts_with(b"\x89PNG"), "a picture");
        std::fs::write(path, png).expect("the picture");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes of base64 with padding (RFC 4648).
fn base64_of_png(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&b| b != b'=').map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let value = four
            .iter()
            .fold(0_u32, |value, &digit| value << 6 | u32::from(digit));
        let value = value << (6 * (4 - four.len()));
        bytes.extend_from_slice(&value.to_be_bytes()[1..four.len()]);
    }
    bytes
}
