//! Progress on standard error: a moving line on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Variable for programs: a different program already has a moving line on the terminal.
pub const QUIET: &str = "FAIRTREE_QUIET";

/// The display of one run.
pub struct Progress {
    start: Instant,
    bar: Option<ProgressBar>,
    /// The output, if it is held back.
    held: Option<Mutex<String>>,
    /// True if a different display uses the terminal.
    quiet: bool,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// A display without a moving line, for a program whose output is mixed with that of others. It
    /// does not print the start of steps if [`QUIET`] is set.
    pub fn plain() -> Progress {
        Progress {
            start: Instant::now(),
            bar: None,
            held: None,
            quiet: std::env::var_os(QUIET).is_some(),
        }
    }

    /// A display that starts its clock now.
    pub fn new() -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_style(spinner());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress {
            start: Instant::now(),
            bar,
            held: None,
            quiet: false,
        }
    }

    /// A display for work in parallel to this one: its output is held back until
    /// [`Progress::take`]. On a terminal this display keeps the moving line.
    pub fn held(&self) -> Progress {
        Progress {
            start: self.start,
            bar: None,
            held: Some(Mutex::default()),
            quiet: std::io::stderr().is_terminal(),
        }
    }

    /// Returns the output that was held back.
    pub fn take(&self) -> String {
        let held = self.held.as_ref().map(Mutex::lock);
        held.map_or_else(String::new, |held| {
            std::mem::take(&mut held.unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// Prints the title of the next part, with the time since the start.
    pub fn title(&self, text: &str) {
        let secs = self.start.elapsed().as_secs();
        self.print(format!("\n== {text} [{}:{:02}]", secs / 60, secs % 60));
    }

    /// Shows the step that begins now.
    pub fn step(&self, what: impl AsRef<str>) {
        let what = what.as_ref();
        match &self.bar {
            Some(bar) => {
                bar.set_style(spinner());
                bar.set_message(what.to_owned());
            }
            None if self.quiet => {}
            None => eprintln!("[{:5.1} s] {what}", self.start.elapsed().as_secs_f64()),
        }
    }

    /// Returns true if steps are drawn on a terminal, each in place of the last.
    pub fn is_drawn(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows that `total` steps of one kind begin now; [`Progress::count`] counts them.
    pub fn steps(&self, total: usize, what: &str) {
        self.step(what);
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(0);
            bar.set_style(counter());
        }
    }

    /// Shows how many of them are done.
    pub fn count(&self, done: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }

    /// Prints to standard output without damaging the moving line, or later if output is held back.
    pub fn print(&self, text: impl AsRef<str>) {
        if let Some(held) = &self.held {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            held.push_str(text.as_ref());
            held.push('\n');
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| println!("{}", text.as_ref())),
            None => println!("{}", text.as_ref()),
        }
    }

    /// Prints a warning to standard error, also on a display that is quiet; with the other output
    /// where that is held back.
    pub fn warn(&self, text: impl AsRef<str>) {
        let text = format!("warning: {}", text.as_ref());
        match &self.bar {
            _ if self.held.is_some() => self.print(text),
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Seconds since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}").expect("a valid template")
}

fn counter() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {elapsed:>4} {msg} [{bar:30}] {pos}/{len}")
        .expect("a valid template")
        .progress_chars("=> ")
}
