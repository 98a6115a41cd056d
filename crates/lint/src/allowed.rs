//! Rules whose findings the caller does not want.

use super::options::Options;
use super::rule::Rule;

/// A rule name that no rule has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule {id}{}", hint(.near.as_ref()))]
pub struct UnknownRule {
    /// The name.
    pub id: String,
    /// A rule with a similar name.
    pub near: Option<&'static str>,
}

fn hint(near: Option<&&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean {near}?"))
}

impl Options {
    /// Leaves out the findings of a rule.
    ///
    /// # Errors
    /// No rule has that name.
    ///
    /// ```
    /// use fairtree_lint::Options;
    /// let mut options = Options::default();
    /// options.allow("reset-now").unwrap();
    /// assert_eq!(options.allow("reset-nov").unwrap_err().near, Some("reset-now"));
    /// ```
    pub fn allow(&mut self, id: &str) -> Result<(), UnknownRule> {
        let Some(rule) = Rule::find(id) else {
            let known = Rule::all().map(|rule| rule.id);
            return Err(UnknownRule {
                id: id.to_string(),
                near: super::spelling::nearest(id, known),
            });
        };
        self.allowed.push(rule.id);
        Ok(())
    }

    pub(super) fn wants(&self, rule: &Rule) -> bool {
        !self.allowed.contains(&rule.id)
    }
}
