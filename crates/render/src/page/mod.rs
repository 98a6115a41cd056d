//! Pages of HTML in one style: light and dark, readable without a script, on paper and on a narrow
//! screen.
//!
//! [`alone`] makes a page that needs nothing else: no network, no files. A service puts [`sheet`] at
//! an address of its own and uses [`shell`].

mod figure;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::{Theme, page_css};
use crate::page_policy::page_policy;

pub use figure::{cell, cell_of, count, figure, hours, meter, moment, percent, points, span, text};

/// The style sheet of all pages: colours in light and dark, and the rules that use them.
pub fn sheet() -> String {
    format!("{}{}", page_css(), include_str!("page.css"))
}

/// Content of a page, and the parts that only this page has.
pub struct Alone<'a> {
    /// Title, also of the window.
    pub title: &'a str,
    /// Surroundings that it is for.
    pub theme: Theme,
    /// Rules beside [`sheet`].
    pub style: &'a str,
    /// Its script; `None`: nothing may run.
    pub script: Option<&'a str>,
    /// Everything within `body`, except the script.
    pub body: Markup,
}

/// A page that contains its styles and its script, and a policy that allows these alone.
pub fn alone(page: Alone<'_>) -> String {
    let css = format!("{}{}", sheet(), page.style);
    let policy = page_policy(&css, page.script);
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(policy);
        style { (PreEscaped(&css)) }
    };
    let body = html! {
        (page.body)
        @if let Some(script) = page.script { script { (PreEscaped(script)) } }
    };
    let mut text = shell(page.title, page.theme, &head, &body).into_string();
    text.push('\n');
    text
}

/// The frame of a page: `head` is added to its head, `body` is its content.
pub fn shell(title: &str, theme: Theme, head: &Markup, body: &Markup) -> Markup {
    let theme = match theme {
        Theme::Auto => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    };
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                (head)
                title { (title) }
            }
            body { (body) }
        }
    }
}
