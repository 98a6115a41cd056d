//! Pictures of shares and use.
//!
//! One model, several renderings:
//!
//! | noun | what it is |
//! |---|---|
//! | [`Forest`] | the associations of a report as they are drawn: names, what was due, what was used |
//! | [`write_tree`] | the forest in a terminal |
//! | [`scatter_svg`] | points in a plane |
//! | [`bars_svg`], [`poster_svg`] | the forest, and a timeline, as pictures |
//! | [`columns()`] | a number of each day, as a part of a page |
//! | [`panels()`] | share against use over time, as a part of a page |
//! | [`page()`] | all of it as one page of HTML that needs nothing else |
//! | [`png()`] | a picture in pixels |
//! | [`to_json`] | the numbers (`docs/json.md`) |
//!
//! What is drawn are the numbers of [`ShareReport`] and [`Timeline`]. Due is what shares promise,
//! used is what was used; blue is use within what was due, orange is use beyond it. The two colours
//! are those of the Okabe-Ito palette, which people with any colour vision can tell apart.
//!
//! [`ShareReport`]: fairtree_analysis::share::ShareReport
//! [`Timeline`]: fairtree_analysis::history::Timeline

mod bars;
mod canvas;
mod choice;
mod columns;
mod forest;
mod icicle;
mod json;
mod lines;
mod page;
mod panels;
mod png;
mod poster;
mod scale;
mod scatter;
mod style;
mod terminal;

pub(crate) use bars::bar_of;
pub use bars::bars_svg;
pub(crate) use canvas::{percent, xml};
pub use choice::Choice;
pub use columns::{Column, columns};
pub use forest::{Forest, Node, Whole};
pub use json::{SCHEMA, to_json};
pub use page::page;
pub use panels::panels;
pub use png::{PngError, png};
pub use poster::{Picture, poster_svg};
pub use scale::span;
pub(crate) use scatter::scatter_figure;
pub use scatter::{Axis, Dot, scatter_svg};
pub use style::Theme;
pub(crate) use style::page_css;
pub use terminal::{Look, write_tree};
