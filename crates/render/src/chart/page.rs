//! A report, or a timeline, as one page of HTML that needs nothing else: no network, no files.
//!
//! The pictures are in the page; its script only adds tooltips, folding and zooming, from the
//! numbers that lie in the page as JSON.

use maud::{Markup, PreEscaped, html};

use super::canvas::{n, percent, xml};
use super::choice::{Choice, Group};
use super::forest::{Forest, Node};
use super::poster::{at_end, titles};
use super::style::Theme;
use super::{bars, icicle, json, lines, panels};
use crate::page::{Alone, alone};
use fairtree_analysis::history::Timeline;
use fairtree_model::input::sshare::RowKind;

const SCRIPT: &str = include_str!("page.js");

/// The page of a timeline; `shown` are rows of its latest report, ascending.
pub fn page(timeline: &Timeline, shown: &[usize], theme: Theme) -> String {
    let forest = Forest::drawn(&timeline.latest, shown);
    let choice = Choice::new(timeline, &forest);
    let (title, subtitle) = titles(timeline);
    let document = json::document(timeline, &forest, &choice.nodes());
    // A name like </script> is to end nothing.
    let data = serde_json::to_string(&document)
        .unwrap_or_default()
        .replace('<', "\\u003c");
    let body = html! {
        header {
            div { h1 { (title) } p class="sub" { (subtitle) } }
            button id="theme" title="light or dark" { "Light / dark" }
        }
        (over_time(timeline, &forest, &choice))
        (factors(timeline, &forest, &choice))
        (tree(timeline, &forest))
        (table(&forest))
        footer {
            @for note in &timeline.notes { p { (note) } }
            p { "Made by fairtree " (env!("CARGO_PKG_VERSION")) }
        }
        div id="tip" role="tooltip" hidden {}
        script type="application/json" id="data" { (PreEscaped(data)) }
    };
    xml(alone(Alone {
        title: &title,
        theme,
        style: include_str!("page.css"),
        script: Some(SCRIPT),
        body,
    }))
}

/// A picture within the page.
fn picture(id: Option<&str>, class: &str, size: (f64, f64), content: &Markup) -> Markup {
    let (width, height) = (n(size.0), n(size.1));
    html! {
        svg id=[id] class=(class) width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) { (content) }
    }
}

fn over_time(timeline: &Timeline, forest: &Forest, choice: &Choice) -> Markup {
    let one = |group: &Group, open: bool| {
        let account = &forest.nodes[group.account].name;
        let rows = group.members.iter().filter_map(|at| forest.nodes[*at].row);
        let most = panels::most(rows.map(|row| &timeline.courses[row]));
        html! {
            details open[open] {
                summary { "below " (account) }
                @if group.left_out > 0 {
                    p class="hint" { (group.left_out) " with less use are not drawn" }
                }
                div class="panels" {
                    @for &at in &group.members { (panel(timeline, forest, at, most)) }
                }
            }
        }
    };
    html! {
        @if !choice.groups.is_empty() {
            section id="time" {
                h2 { "Share and use over time" }
                div class="scroll" { (picture(None, "", (480.0, 20.0), &panels::legend(0.0, 12.0, forest.of))) }
                @for (at, group) in choice.groups.iter().enumerate() { (one(group, at == 0)) }
            }
        }
    }
}

fn panel(timeline: &Timeline, forest: &Forest, at: usize, most: f64) -> Markup {
    let node = &forest.nodes[at];
    let size = format!("0 0 {} {}", n(panels::WIDTH), n(panels::HEIGHT));
    html! {
        @if let Some(row) = node.row {
            svg class="panel" data-i=(at) viewBox=(size) data-left=(n(panels::LEFT))
                data-right=(n(panels::RIGHT)) data-top=(n(panels::TOP))
                data-bottom=(n(panels::BOTTOM)) {
                // The whole picture takes the pointer, not only what is drawn.
                rect class="paper" width=(n(panels::WIDTH)) height=(n(panels::HEIGHT)) {}
                (panels::panel(node, &timeline.courses[row], &timeline.times, most))
            }
        }
    }
}

fn factors(timeline: &Timeline, forest: &Forest, choice: &Choice) -> Markup {
    let size = format!("0 0 {} {}", n(lines::WIDTH), n(lines::HEIGHT));
    html! {
        @if !choice.lines.is_empty() {
            section {
                h2 { "Fair-share factor over time" }
                p class="hint" {
                    "The users with the most use have colours"
                    @if !choice.others.is_empty() { "; " (choice.others.len()) " more are pale" }
                    "."
                }
                div class="scroll" {
                    svg id="factors" width=(n(lines::WIDTH)) viewBox=(size)
                        data-left=(n(lines::LEFT)) data-right=(n(lines::RIGHT))
                        data-top=(n(lines::TOP)) data-bottom=(n(lines::BOTTOM)) {
                        rect class="paper" width=(n(lines::WIDTH)) height=(n(lines::HEIGHT)) {}
                        (lines::lines(timeline, forest, choice))
                    }
                }
            }
        }
    }
}

fn tree(timeline: &Timeline, forest: &Forest) -> Markup {
    html! {
        section {
            h2 { "The tree" (at_end(timeline)) }
            div class="scroll" { (picture(None, "", (icicle::LEGEND, 20.0), &icicle::legend(0.0, 12.0))) }
            div class="controls" {
                "Width:"
                label { input type="radio" name="by" value="due" checked; " what was due" }
                label { input type="radio" name="by" value="used"; " what was used" }
                button id="up" { "Up" }
                span class="hint" {
                    "Shown: " b id="focus" { "everything" } ". Click an account to zoom in, and again to zoom out."
                }
            }
            div class="scroll" {
                (picture(Some("icicle"), "", (icicle::WIDTH, icicle::height(forest)), &icicle::icicle(forest)))
            }
        }
    }
}

fn table(forest: &Forest) -> Markup {
    html! {
        section {
            h2 { "Share and use of each level" }
            div class="controls" {
                button id="shut" { "Collapse all" }
                button id="open" { "Expand all" }
            }
            div class="scroll" { (picture(None, "", (480.0, 20.0), &panels::legend(0.0, 14.0, forest.of))) }
            div class="scroll" {
                table class="wide" {
                    thead {
                        tr {
                            th { "Account" } th { "Share" } th { "Use" }
                            th class="bar" { "0 to 100 % of " (forest.of.words()) } th { "FairShare" }
                        }
                    }
                    tbody {
                        @for (at, node) in forest.nodes.iter().enumerate() { (row(at, node)) }
                    }
                }
            }
        }
    }
}

fn row(at: usize, node: &Node) -> Markup {
    let account = node.kind == RowKind::Account;
    html! {
        tr data-i=(at) class=[account.then_some("account")] {
            td {
                // Style attributes are refused by the page's policy.
                @for _ in 0..node.indent() { span class="pad" {} }
                @if node.below > 0 {
                    button class="twist" aria-expanded="true" aria-label="fold" {}
                } @else {
                    span class="pad" {}
                }
                (node.name)
            }
            @if node.usage.is_some() {
                td { (percent(node.share)) }
                td { (percent(node.usage)) }
                td class="bar" {
                    svg viewBox="0 0 100 14" preserveAspectRatio="none" {
                        (bars::bar(node, 0.0, 2.0, 100.0, 10.0))
                    }
                }
            } @else { td {} td {} td class="bar" {} }
            td { @if let Some(factor) = node.fs_factor { (format!("{factor:.6}")) } }
        }
    }
}
