//! The tree with bars of share against use, as a picture.

use maud::{Markup, html};

use super::canvas::{document, fit, label, n, percent};
use super::forest::{Forest, Node};
use super::style::{Theme, css};
use fairtree_model::input::sshare::RowKind;

const WIDTH: f64 = 860.0;
const ROW: f64 = 22.0;
const TOP: f64 = 84.0;
const SHARE: f64 = 360.0;
const USE: f64 = 430.0;
const BAR: f64 = 450.0;
const BAR_END: f64 = 760.0;
const FACTOR: f64 = 848.0;

/// The picture of a forest: a line for each node, its name in the tree, share and use of the
/// account above, a bar of both, its fair-share factor.
pub fn bars_svg(forest: &Forest, title: &str, subtitle: &str, theme: Theme) -> String {
    let height = TOP + forest.nodes.len() as f64 * ROW + 16.0;
    let content = html! {
        (label(20.0, 30.0, 17.0, "ink bold", &fit(title, 17.0, WIDTH - 40.0).unwrap_or_default()))
        (label(20.0, 50.0, 11.5, "soft", &fit(subtitle, 11.5, WIDTH - 40.0).unwrap_or_default()))
        (label(20.0, TOP - 10.0, 11.0, "soft", "Account"))
        (label(SHARE, TOP - 10.0, 11.0, "soft end", "Share"))
        (label(USE, TOP - 10.0, 11.0, "soft end", "Use"))
        (label(BAR, TOP - 10.0, 11.0, "soft", "0 %"))
        (label(BAR_END, TOP - 10.0, 11.0, "soft end", "100 %"))
        (label(FACTOR, TOP - 10.0, 11.0, "soft end", "FairShare"))
        @for (at, node) in forest.nodes.iter().enumerate() {
            (line(node, TOP + at as f64 * ROW))
        }
    };
    document(WIDTH, height, title, &css(theme), &content)
}

fn line(node: &Node, y: f64) -> Markup {
    let indent = 20.0 + node.indent() as f64 * 16.0;
    let account = node.kind == RowKind::Account;
    let class = if account { "ink bold" } else { "ink" };
    let base = y + 15.0;
    let name = fit(&node.name, 12.0, SHARE - 60.0 - indent).unwrap_or_default();
    html! {
        @if account {
            rect class="back" x="12" y=(n(y)) width=(n(WIDTH - 24.0)) height=(n(ROW)) {}
        }
        (label(indent, base, 12.0, class, &name))
        @if node.usage.is_some() {
            (label(SHARE, base, 11.5, "soft end", &percent(node.share)))
            (label(USE, base, 11.5, "ink end", &percent(node.usage)))
            (bar(node, BAR, y + 6.0, BAR_END - BAR, 10.0))
        }
        @if let Some(factor) = node.fs_factor {
            (label(FACTOR, base, 11.5, "ink end", &format!("{factor:.4}")))
        }
    }
}

/// Use as a bar, share as a mark in it, of what the account above has.
pub(super) fn bar(node: &Node, x: f64, y: f64, width: f64, height: f64) -> Markup {
    bar_of((node.share, node.usage), x, y, width, height)
}

/// The same of a share and a usage that are parts of one whole.
pub(crate) fn bar_of(
    (share, usage): (Option<f64>, Option<f64>),
    x: f64,
    y: f64,
    width: f64,
    height: f64,
) -> Markup {
    let part = |value: f64| value.clamp(0.0, 1.0) * width;
    let usage = usage.unwrap_or(0.0);
    let within = share.map_or(usage, |share| usage.min(share));
    html! {
        rect class="rn" x=(n(x)) y=(n(y)) width=(n(width)) height=(n(height)) {}
        @if within > 0.0 {
            rect class="within" x=(n(x)) y=(n(y)) width=(n(part(within))) height=(n(height)) {}
        }
        @if usage > within {
            rect class="beyond" x=(n(x + part(within))) y=(n(y))
                width=(n(part(usage) - part(within))) height=(n(height)) {}
        }
        @if let Some(share) = share {
            line class="share" x1=(n(x + part(share))) x2=(n(x + part(share)))
                y1=(n(y - 2.0)) y2=(n(y + height + 2.0)) {}
        }
    }
}
