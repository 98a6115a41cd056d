//! Explanations: an [`Explanation`] shows itself in sentences; [`to_json`] is for programs.

mod html;
mod json;
mod text;

use fairtree_analysis::explain::wait::Cause;

pub use html::{help, to_html};
pub use json::{Explanation, SCHEMA, to_json};

/// Why a job waits, in words; `reason`: Slurm's word.
pub fn cause(reason: Option<&str>, cause: &Cause) -> String {
    text::wait::cause(reason, cause)
}
