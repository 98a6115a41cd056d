//! Explanations as parts of pages: tables of terms, sentences, and what would change an order.

use maud::{Markup, html};

use super::Explanation;
use super::text;
use crate::page::{cell, cell_of, figure, points, text as words};
use fairtree_analysis::explain::wait::Waits;
use fairtree_analysis::explain::{Answer, JobExplanation, JobsCompared, Remedy, Term};

/// An explanation as headings, tables and sentences.
pub fn to_html(explanation: Explanation<'_>) -> Markup {
    match explanation {
        Explanation::Job(job) => of_job(job),
        Explanation::Jobs(compared) => of_jobs(compared),
        Explanation::Users(_) | Explanation::Place(_) | Explanation::Places(_) => {
            sentences(&explanation.to_string())
        }
    }
}

/// Lines of text: those that are indented become a list below the line before them.
fn sentences(text: &str) -> Markup {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let indented = |line: &&str| line.starts_with("  ");
    html! {
        @for part in lines.chunk_by(|a, b| indented(a) == indented(b)) {
            @if part.first().is_some_and(indented) {
                ul { @for line in part { li { (line.trim().trim_start_matches("- ")) } } }
            } @else {
                @for line in part { p { (line) } }
            }
        }
    }
}

fn of_job(job: &JobExplanation) -> Markup {
    let shown: Vec<&Term> = job
        .terms
        .iter()
        .filter(|term| !term.is_unweighted())
        .collect();
    let silent: Vec<String> = job
        .terms
        .iter()
        .filter(|term| term.is_unweighted())
        .map(|term| term.name.to_string())
        .collect();
    html! {
        p { (text::job::headline(job)) }
        div class="scroll" {
            table {
                caption { "How the priority comes about" }
                thead { tr {
                    th { "Term" } th class="n" { "Factor" } th class="n" { "Weight" }
                    th class="n" { "Points" } th { "Because" }
                } }
                tbody {
                    @for term in shown {
                        @let name = term.name.to_string();
                        tr {
                            (words(&name))
                            (cell(term.factor.map(|factor| {
                                figure(&format!("factor:{name}"), factor, &format!("{factor:.7}"))
                            })))
                            (cell(term.weight.map(|weight| points(&format!("weight:{name}"), weight))))
                            (cell(Some(points(&format!("points:{name}"), term.points))))
                            (words(&text::job::formula(&term.formula)))
                        }
                    }
                    tr class="sum" {
                        td colspan="3" { "Sum" }
                        (cell(Some(points("sum", job.sum))))
                        (words(&text::job::bound(job)))
                    }
                    tr class="sum" {
                        td colspan="3" { "Priority" }
                        (cell_of("priority", f64::from(job.priority), &job.priority.to_string()))
                        td {}
                    }
                }
            }
        }
        @if !silent.is_empty() {
            p class="hint" { "Without a weight, so without a say: " (silent.join(", ")) "." }
        }
        @if !job.variants.is_empty() {
            div class="scroll" {
                table {
                    caption { "It is in the queue once for each way to run it" }
                    thead { tr {
                        th { "Partition" } th { "QOS" } th class="n" { "Partition points" }
                        th class="n" { "QOS points" } th class="n" { "TRES points" }
                        th class="n" { "Priority" }
                    } }
                    tbody {
                        @for variant in &job.variants {
                            @let name = variant.partition.as_deref().unwrap_or("none");
                            tr {
                                (words(name))
                                (words(variant.qos.as_deref().unwrap_or("")))
                                (cell(Some(points("partition_points", variant.partition_points))))
                                (cell(Some(points("qos_points", variant.qos_points))))
                                (cell(Some(points("tres_points", variant.tres_points))))
                                (cell_of(&format!("priority:{name}"), f64::from(variant.priority), &variant.priority.to_string()))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn of_jobs(compared: &JobsCompared) -> Markup {
    let [a, b] = &compared.jobs;
    let difference = i64::from(a.priority) - i64::from(b.priority);
    html! {
        p { (text::jobs::headline(compared)) }
        @for job in &compared.jobs {
            @if let Some(remark) = text::jobs::remark(job) { p { (remark) } }
        }
        div class="scroll" {
            table {
                caption { "Term by term" }
                thead { tr {
                    th { "Term" } th class="n" { (a.name) } th class="n" { (b.name) }
                    th class="n" { "Difference" } th {}
                } }
                tbody {
                    @for term in compared.terms.iter().filter(|term| term.points != [0.0, 0.0]) {
                        @let name = term.name.to_string();
                        tr class=[term.decides.then_some("decides")] {
                            (words(&name))
                            (cell(Some(points(&format!("first:{name}"), term.points[0]))))
                            (cell(Some(points(&format!("second:{name}"), term.points[1]))))
                            (cell(Some(points(&format!("difference:{name}"), term.difference))))
                            td { @if term.decides { "decides" } }
                        }
                    }
                    tr class="sum" {
                        td { "Priority" }
                        (cell_of("first:priority", f64::from(a.priority), &a.priority.to_string()))
                        (cell_of("second:priority", f64::from(b.priority), &b.priority.to_string()))
                        (cell_of("difference:priority", difference as f64, &difference.to_string()))
                        td {}
                    }
                }
            }
        }
        @if let Some(users) = compared.users.as_ref().filter(|_| text::jobs::fairshare_differs(compared)) {
            h3 { "Why their fair shares differ" }
            (sentences(&text::order(users)))
        }
        (remedies(&compared.moves.of(&compared.jobs).name, &compared.remedies))
    }
}

/// Changes that would put `name` ahead: those that would, then those that would not.
fn remedies(name: &str, remedies: &[Remedy]) -> Markup {
    let (help, never): (Vec<&Remedy>, Vec<&Remedy>) = remedies
        .iter()
        .partition(|remedy| matches!(remedy.answer, Answer::Least(_)));
    html! {
        @if !remedies.is_empty() {
            h3 { "What would put " (name) " ahead, all else as it is" }
            @if help.is_empty() { p { "Nothing that was tried." } }
            ul { @for remedy in help { li { (text::remedy(remedy)) } } }
            @if !never.is_empty() {
                details {
                    summary { "What would not" }
                    ul { @for remedy in never { li { (text::remedy(remedy)) } } }
                }
            }
        }
    }
}

/// What would help a job that waits: what its user can do, and the rest. `id`: the job.
pub fn help(id: u32, waits: &Waits) -> Markup {
    let help = text::wait::help(id, waits);
    html! {
        p { (text::wait::heading(help.helps)) @if help.own.is_empty() { "." } @else { ":" } }
        @if !help.own.is_empty() { ul { @for line in help.own { li { (line) } } } }
        @if let Some((heading, lines)) = help.others {
            details {
                summary { (heading) }
                ul { @for line in lines { li { (line) } } }
            }
        }
    }
}
