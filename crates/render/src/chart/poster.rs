//! A timeline as one picture.

use maud::{Markup, html};

use super::canvas::{document, fit, label, n};
use super::choice::{Choice, Group};
use super::forest::Forest;
use super::scale::{moment, span};
use super::style::{Theme, css};
use super::{icicle, lines, panels};
use fairtree_analysis::history::Timeline;

/// The content of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picture {
    /// Everything below.
    #[default]
    All,
    /// Share against use over time.
    Use,
    /// Fair-share factors over time.
    Factor,
    /// The tree at the last moment.
    Tree,
}

const WIDTH: f64 = 1120.0;
const LEFT: f64 = 20.0;
/// Pictures side by side.
const ACROSS: usize = 3;
const APART: f64 = 20.0;

/// Draws a timeline. If it has a single moment, draws the tree alone.
pub fn poster_svg(timeline: &Timeline, picture: Picture, theme: Theme) -> String {
    let report = &timeline.latest;
    let all: Vec<usize> = (0..report.rows.len()).collect();
    let forest = Forest::drawn(report, &all);
    let choice = Choice::new(timeline, &forest);
    let mut sheet = Sheet {
        y: 24.0,
        parts: Vec::new(),
    };
    let (title, subtitle) = titles(timeline);
    sheet.text(17.0, "ink bold", &title);
    sheet.text(11.5, "soft", &subtitle);
    let wanted = |one| picture == Picture::All || picture == one;
    if wanted(Picture::Use) {
        if let Some(group) = choice.groups.first() {
            panels_of(&mut sheet, timeline, &forest, group);
        }
    }
    if wanted(Picture::Factor) && !choice.lines.is_empty() {
        sheet.heading("Fair-share factor over time");
        let plot = lines::lines(timeline, &forest, &choice);
        sheet.place(LEFT, lines::HEIGHT, &plot);
    }
    if wanted(Picture::Tree) || choice.lines.is_empty() {
        sheet.heading(&format!("The tree{}: as wide as due", at_end(timeline)));
        sheet.place(LEFT, 22.0, &icicle::legend(0.0, 8.0));
        sheet.place(LEFT, icicle::height(&forest), &icicle::icicle(&forest));
    }
    sheet.y += 14.0;
    for note in &timeline.notes {
        sheet.text(10.5, "soft", note);
    }
    let content = html! { @for part in &sheet.parts { (part) } };
    document(WIDTH, sheet.y + 8.0, &title, &css(theme), &content)
}

/// The title of a timeline, and its sources.
pub(super) fn titles(timeline: &Timeline) -> (String, String) {
    let title = match &timeline.machine {
        Some(machine) => format!("Fair share on {machine}"),
        None => "Fair share".to_owned(),
    };
    let mut parts = Vec::new();
    if let [first, .., last] = timeline.times[..] {
        parts.push(format!("{} to {}", moment(first), moment(last)));
    }
    parts.push(timeline.latest.ranking.name().replace('_', " "));
    match timeline.half_life_secs {
        Some(0) if timeline.window_secs.is_some() => {
            let length = timeline.window_secs.unwrap_or_default();
            parts.push(format!("used within {}", span(length)));
        }
        Some(0) => parts.push("usage never decays".into()),
        Some(secs) => parts.push(format!("half-life {}", span(secs))),
        None => {}
    }
    parts.push(timeline.latest.source.clone());
    (title, parts.join(" · "))
}

/// ` at 2026-…` where times are known.
pub(super) fn at_end(timeline: &Timeline) -> String {
    match timeline.times[..] {
        [_, .., last] => format!(" at {}", moment(last)),
        _ => String::new(),
    }
}

fn panels_of(sheet: &mut Sheet, timeline: &Timeline, forest: &Forest, group: &Group) {
    let account = &forest.nodes[group.account].name;
    let more = match group.left_out {
        0 => String::new(),
        more => format!(" ({more} with less use are not drawn)"),
    };
    sheet.heading(&format!("Share and use over time, below {account}{more}"));
    sheet.place(LEFT, 20.0, &panels::legend(0.0, 8.0, forest.of));
    let rows = group.members.iter().filter_map(|at| forest.nodes[*at].row);
    let most = panels::most(rows.map(|row| &timeline.courses[row]));
    for row in group.members.chunks(ACROSS) {
        for (column, &at) in row.iter().enumerate() {
            let node = &forest.nodes[at];
            let Some(position) = node.row else { continue };
            let plot = panels::panel(node, &timeline.courses[position], &timeline.times, most);
            let x = LEFT + column as f64 * (panels::WIDTH + APART);
            sheet.overlay(x, &plot);
        }
        sheet.y += panels::HEIGHT + 6.0;
    }
}

/// A picture that grows downwards.
struct Sheet {
    y: f64,
    parts: Vec<Markup>,
}

impl Sheet {
    fn text(&mut self, size: f64, class: &str, text: &str) {
        self.y += size + 4.0;
        let text = fit(text, size, WIDTH - 2.0 * LEFT).unwrap_or_default();
        self.parts.push(label(LEFT, self.y, size, class, &text));
    }

    fn heading(&mut self, text: &str) {
        self.y += 22.0;
        self.text(14.0, "ink bold", text);
        self.y += 12.0;
    }

    fn overlay(&mut self, x: f64, content: &Markup) {
        let place = format!("translate({} {})", n(x), n(self.y));
        self.parts.push(html! { g transform=(place) { (content) } });
    }

    fn place(&mut self, x: f64, height: f64, content: &Markup) {
        self.overlay(x, content);
        self.y += height;
    }
}
