//! The tree in a terminal, with bars.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::forest::{Forest, Node};

/// How the tree looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// True to use colours.
    pub color: bool,
    /// True if the terminal shows more than ASCII.
    pub unicode: bool,
}

/// Columns that are not the name's or the bar's: two numbers and blanks, and the factor.
const NUMBERS: usize = 2 * 9;
const FACTOR: usize = 11;
const MIN_BAR: usize = 8;
const MAX_BAR: usize = 60;
const MIN_NAME: usize = 12;

const BLUE: &str = "\x1b[38;5;32m";
const ORANGE: &str = "\x1b[38;5;208m";
const FAINT: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Writes one line per node: its name in the tree, its share and its use, a bar of both, its
/// factor; then a line that explains the bars.
///
/// The bar is as long as the use; a mark shows the share. A terminal too narrow for the
/// bars gets the numbers alone.
///
/// # Errors
/// Those of `out`.
pub fn write_tree(out: &mut impl Write, forest: &Forest, look: Look) -> io::Result<()> {
    let names = drawn(forest, look.unicode);
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let factors = forest.nodes.iter().any(|node| node.fs_factor.is_some());
    let fixed = NUMBERS + if factors { FACTOR } else { 0 };
    let left = look.width.saturating_sub(fixed);
    let name_width = widest
        .min(left.saturating_sub(MIN_BAR).max(MIN_NAME))
        .max(7);
    let bar_width = left.saturating_sub(name_width + 2).min(MAX_BAR);
    let bar_width = if bar_width < MIN_BAR { 0 } else { bar_width };
    let columns = Columns {
        name: name_width,
        bar: bar_width,
        factors,
        look,
    };
    columns.header(out)?;
    for (node, name) in forest.nodes.iter().zip(&names) {
        columns.row(out, node, name)?;
    }
    columns.legend(out, forest.of.words())
}

/// More levels than any terminal has columns for: what is deeper is cut off anyway.
const MOST_LEVELS: usize = 200;

/// The names with the lines of the tree before them.
fn drawn(forest: &Forest, unicode: bool) -> Vec<String> {
    let [branch, last, through] = if unicode {
        ["├─ ", "└─ ", "│  "]
    } else {
        ["|- ", "`- ", "|  "]
    };
    // By depth, whether more siblings follow.
    let mut follows: Vec<bool> = Vec::new();
    let mut later = vec![false; forest.nodes.len()];
    let mut seen: Vec<bool> = Vec::new();
    for (at, node) in forest.nodes.iter().enumerate().rev() {
        // What is seen deeper is below another account.
        seen.resize(node.depth + 1, false);
        later[at] = std::mem::replace(&mut seen[node.depth], true);
    }
    let mut names = Vec::with_capacity(forest.nodes.len());
    for (at, node) in forest.nodes.iter().enumerate() {
        follows.resize(node.depth, false);
        let mut name = String::new();
        for follows in follows.iter().skip(1).take(MOST_LEVELS) {
            name.push_str(if *follows { through } else { "   " });
        }
        if node.depth > 0 {
            name.push_str(if later[at] { branch } else { last });
        }
        // A name could hold what steers a terminal.
        name.extend(
            node.name
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c }),
        );
        names.push(name);
        follows.push(later[at]);
    }
    names
}

struct Columns {
    name: usize,
    bar: usize,
    factors: bool,
    look: Look,
}

impl Columns {
    fn paint<'a>(&self, paint: &'a str) -> (&'a str, &'static str) {
        if self.look.color {
            (paint, PLAIN)
        } else {
            ("", "")
        }
    }

    fn header(&self, out: &mut impl Write) -> io::Result<()> {
        let (bold, plain) = self.paint(BOLD);
        let mut line = format!(
            "{:<name$} {:>8} {:>8}",
            "Account",
            "Share",
            "Use",
            name = self.name
        );
        if self.bar > 0 {
            let scale = format!(
                "{:<half$}{:>rest$}",
                "0%",
                "100%",
                half = 2,
                rest = self.bar - 2
            );
            line.push_str(&format!("  {scale}"));
        }
        if self.factors {
            line.push_str("  FairShare");
        }
        writeln!(out, "{bold}{}{plain}", line.trim_end())
    }

    fn row(&self, out: &mut impl Write, node: &Node, name: &str) -> io::Result<()> {
        let percent = |value: Option<f64>| match value {
            Some(value) => format!("{:.1}%", value * 100.0),
            None => String::new(),
        };
        let (name, share, usage) = (
            fit(name, self.name, self.look.unicode),
            percent(node.share),
            percent(node.usage),
        );
        let mut line = format!("{name} {share:>8} {usage:>8}");
        if self.bar > 0 {
            line.push_str("  ");
            match node.usage {
                Some(_) => line.push_str(&self.bar(node)),
                None => line.extend(std::iter::repeat_n(' ', self.bar)),
            }
        }
        if let Some(factor) = node.fs_factor.filter(|_| self.factors) {
            line.push_str(&format!("  {factor:>9.6}"));
        }
        writeln!(out, "{}", line.trim_end())
    }

    /// Use as a bar, share as a mark in it.
    fn bar(&self, node: &Node) -> String {
        const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
        let (usage, share) = (node.usage.unwrap_or(0.0), node.share);
        let eighths = (usage.clamp(0.0, 1.0) * self.bar as f64 * 8.0).round() as usize;
        let mark = share.map(|share| {
            ((share.clamp(0.0, 1.0) * self.bar as f64).round() as usize).min(self.bar - 1)
        });
        let (color, plain) = self.paint(if node.over() { ORANGE } else { BLUE });
        let mut within = eighths > 0;
        let mut text = String::from(if within { color } else { "" });
        for cell in 0..self.bar {
            let filled = eighths.saturating_sub(cell * 8).min(8);
            if filled == 0 && within {
                text.push_str(plain);
                within = false;
            }
            let unicode = self.look.unicode;
            text.push(match (Some(cell) == mark, filled) {
                (true, 8) if unicode => '┃',
                (true, _) if unicode => '│',
                (true, _) => '|',
                (false, 8) if unicode => '█',
                (false, part) if unicode => PARTS[part],
                (false, part) if part >= 4 => '#',
                (false, _) => ' ',
            });
        }
        if within {
            text.push_str(plain);
        }
        text
    }

    fn legend(&self, out: &mut impl Write, of: &str) -> io::Result<()> {
        if self.bar == 0 {
            return Ok(());
        }
        let (fill, mark) = if self.look.unicode {
            ('█', '│')
        } else {
            ('#', '|')
        };
        let (blue, plain) = self.paint(BLUE);
        let (orange, _) = self.paint(ORANGE);
        let (faint, _) = self.paint(FAINT);
        let colors = match self.look.color {
            true => {
                format!(": {blue}within its share{plain}{faint}, {plain}{orange}beyond it{plain}")
            }
            false => String::new(),
        };
        writeln!(
            out,
            "{faint}{mark} share of {of}   {fill} use of it{plain}{colors}"
        )
    }
}

/// A name in `width` columns, cut if necessary.
fn fit(name: &str, width: usize, unicode: bool) -> String {
    let own = name.width();
    if own <= width {
        return format!("{name}{}", " ".repeat(width - own));
    }
    let mut cut = String::new();
    let mut used = 1;
    for c in name.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        cut.push(c);
    }
    cut.push(if unicode { '…' } else { '+' });
    let own = cut.width();
    format!("{cut}{}", " ".repeat(width.saturating_sub(own)))
}
