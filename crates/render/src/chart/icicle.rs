//! The tree as an icicle: each level a row, each association as wide as what it was due.

use maud::{Markup, html};

use super::canvas::{fit, label, n, percent};
use super::forest::{Forest, Node};
use super::style::{STEPS, step};
use fairtree_model::input::sshare::RowKind;

/// Size of the picture; the height goes with the depth of the tree.
pub(super) const WIDTH: f64 = 1080.0;
const ROW: f64 = 44.0;
const SIZE: f64 = 12.0;

/// Height of the picture of a forest.
pub(super) fn height(forest: &Forest) -> f64 {
    let levels = forest
        .nodes
        .iter()
        .map(|node| node.depth + 1)
        .max()
        .unwrap_or(0);
    levels as f64 * ROW
}

/// Where nodes begin by what was due, as parts of the whole: side by side below the account above.
fn starts(forest: &Forest) -> Vec<f64> {
    let mut starts = vec![0.0; forest.nodes.len()];
    // The end of the last child of each node, and at the end of those without a node above.
    let mut ends: Vec<f64> = vec![0.0; forest.nodes.len() + 1];
    for (at, node) in forest.nodes.iter().enumerate() {
        let above = node.parent.unwrap_or(forest.nodes.len());
        starts[at] = ends[above];
        ends[above] += node.due;
        ends[at] = starts[at];
    }
    starts
}

/// The picture: one cell per node that is wide enough to be seen.
pub(super) fn icicle(forest: &Forest) -> Markup {
    let starts = starts(forest);
    // Without a root among the rows the parts need not add up to a whole.
    let tops = forest.nodes.iter().filter(|node| node.parent.is_none());
    let whole: f64 = tops
        .map(|node| node.due)
        .sum::<f64>()
        .max(f64::MIN_POSITIVE);
    let cell = |at: usize, node: &Node| {
        let x = starts[at] / whole * WIDTH;
        let wide = node.due / whole * WIDTH;
        let y = node.depth as f64 * ROW;
        let step = step(node.ratio());
        let class = step.map_or("rn".to_owned(), |step| format!("r{step}"));
        let ink = step.map_or("tn".to_owned(), |step| format!("t{step}"));
        let name = fit(&node.name, SIZE, wide - 10.0);
        let numbers = format!("{} of {}", percent(node.usage), percent(node.share));
        let numbers = (node.depth > 0)
            .then(|| fit(&numbers, SIZE, wide - 10.0))
            .flatten();
        let what = if node.kind == RowKind::Account {
            "account"
        } else {
            "user"
        };
        html! {
            g class=(format!("node {what}")) data-i=(at) {
                rect class=(format!("cell {class}")) x=(n(x)) y=(n(y)) width=(n(wide))
                    height=(n(ROW)) {}
                @if let Some(name) = name {
                    (label(x + 6.0, y + 18.0, SIZE, &format!("{ink} name"), &name))
                    @if let Some(numbers) = numbers {
                        (label(x + 6.0, y + 34.0, SIZE, &format!("{ink} sub"), &numbers))
                    }
                }
            }
        }
    };
    html! { @for (at, node) in forest.nodes.iter().enumerate() { (cell(at, node)) } }
}

/// Width of the legend.
pub(super) const LEGEND: f64 = 700.0;

/// The legend of the colours.
pub(super) fn legend(x: f64, y: f64) -> Markup {
    html! {
        (label(x, y, 12.0, "soft", "use over share"))
        @for (at, text) in STEPS.iter().enumerate() {
            @let left = x + 100.0 + at as f64 * 85.0;
            rect class=(format!("r{at}")) x=(n(left)) y=(n(y - 10.0)) width="14" height="12" {}
            (label(left + 19.0, y, 12.0, "soft", text))
        }
    }
}
