//! What the caller knows of a site that its files do not say.

use std::collections::BTreeMap;

use fairtree::compat::Release;
use fairtree_model::input::slurm::plugin::PluginFile;

use super::rule::Rule;

/// Finds the plugins `priority/fairtree` in the folders of a value of `PluginDir`; `None`: none of these
/// folders is on this host.
pub type FindPlugins = fn(&str) -> Option<Vec<PluginFile>>;

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

/// What the caller knows of a conf, and which rules it does not want.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Number of user associations; `None`: not known.
    pub users: Option<u32>,
    /// The site's release; `None`: not known, and findings name the releases they hold for.
    pub release: Option<Release>,
    /// The account above each account, in lower case; `None`: not known.
    pub accounts: Option<BTreeMap<String, String>>,
    /// How plugins are found; `None`: they are not looked for.
    pub plugins: Option<FindPlugins>,
    allowed: Vec<&'static str>,
}

impl Options {
    /// Leaves out the findings of a rule.
    ///
    /// # Errors
    /// There is no rule of that name.
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
