//! A site factor plugin for the cluster (`tests/daemon/site_factor.c`).

use std::process::Command;

use anyhow::Result;

use super::Cluster;
use xtask::command::checked;
use xtask::project;
use xtask::source;

impl Cluster {
    /// Adds a plugin that gives jobs site factors, from slurmctld's next start on.
    ///
    /// # Errors
    /// Fails if the plugin does not compile against the release's source.
    pub fn give_site_factors(&mut self) -> Result<()> {
        let source = project::slurm_source(self.release());
        let plugin = self.folder.join("plugins/site_factor_cpus.so");
        let mut compile = Command::new("gcc");
        compile.args(["-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1"]);
        compile.args(["-Wall", "-Wextra", "-Werror"]);
        for headers in source::headers(&source)? {
            compile.arg("-isystem").arg(headers);
        }
        compile.arg(project::root().join("tests/daemon/site_factor.c"));
        checked(compile.arg("-o").arg(&plugin))?;
        self.conf_mut()
            .set("PrioritySiteFactorPlugin", "site_factor/cpus");
        self.write_conf()
    }
}
