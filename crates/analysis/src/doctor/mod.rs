//! Is a site ready: for its next start of slurmctld, for its next upgrade, and does what runs agree
//! with what is computed here?
//!
//! [`Facts`] are what a host, its package manager and Slurm say; [`examine`] turns them into one or
//! more [`Finding`]s per check. A check that lacks a fact says so ([`Level::Unknown`]) and why.
//!
//! | check | asks |
//! |---|---|
//! | `slurmctld` | which release is installed, and is it the one that runs |
//! | `plugin` | does the next start of the installed slurmctld find its plugin |
//! | `upgrade` | does the slurmctld that the next upgrade brings find its plugin |
//! | `plugin-dir` | are all folders of `PluginDir` there, and is every plugin in them one |
//! | `state-folder` | may SlurmUser write to `StateSaveLocation`, and is there space |
//! | `last-pass` | is the last pass recent |
//! | `numbers` | are the numbers that sshare and sprio print those that are computed |
//! | `clock` | do the clocks of this host, of slurmctld and of the last pass agree |
//! | `slurmdbd` | is there a database, and does it answer |
//! | `limits` | are associations enforced, and do passes follow each other closely enough |
//! | `in-force` | are the priority settings in force those of slurm.conf, and does a restart take these |
//! | `settings` | does the linter find anything in slurm.conf |

mod facts;
mod finding;
mod numbers;
mod plugin;
mod running;
mod settings;

pub use facts::{
    Daemon, Facts, Folder, InForce, Known, Live, Next, Packager, SettingApart, Settings, State,
};
pub use finding::{Diagnosis, Finding, Level};
pub use numbers::{Apart, Numbers, compare};

/// Every check, in the order of the table above.
pub fn examine(facts: &Facts) -> Diagnosis {
    let mut found = Diagnosis::default();
    plugin::slurmctld(facts, &mut found);
    plugin::installed(facts, &mut found);
    plugin::upgrade(facts, &mut found);
    plugin::plugin_dir(facts, &mut found);
    running::state_folder(facts, &mut found);
    running::last_pass(facts, &mut found);
    numbers::agree(facts, &mut found);
    running::clock(facts, &mut found);
    settings::slurmdbd(facts, &mut found);
    settings::limits(facts, &mut found);
    settings::in_force(facts, &mut found);
    settings::linted(facts, &mut found);
    found
}

#[cfg(test)]
mod tests;
