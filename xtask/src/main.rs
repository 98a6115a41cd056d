//! Builds and checks fairtree: `cargo xtask help`.

mod msrv;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use xtask::deps::Need;
use xtask::packages::{self, Packager, Wish};
use xtask::prefix;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{deps, interrupt, plugin, root, source};

/// Builds and checks fairtree. What runs Slurm: `cargo testbed help`.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Install the Debian packages that building, testing and the demo need
    Deps {
        /// What they are for
        #[arg(value_enum, default_value = "test")]
        need: Need,
    },
    /// Fetch and configure the source of a Slurm release; prints its folder
    SlurmSrc {
        /// For instance 22.05.8
        release: Release,
    },
    /// Make the root folder of the Debian release that ships a Slurm release; prints its folder
    SlurmRoot {
        /// For instance 24.11.5
        release: Release,
    },
    /// Build priority_fairtree.so; prints where it is
    Plugin {
        /// Slurm's release; its source is fetched
        #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
        slurm: Release,
        /// A configured source tree of Slurm to use instead
        #[arg(long, env = "SLURM_SRC")]
        slurm_src: Option<PathBuf>,
    },
    /// Make packages of command and library, and of the plugin for a release of Slurm; prints where
    /// they are
    Packages {
        /// Slurm's release; its source is fetched
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
        /// A configured source tree of Slurm to use instead
        #[arg(long, env = "SLURM_SRC")]
        slurm_src: Option<PathBuf>,
        /// Who packaged that Slurm: slurm-wlm (Debian) or slurm-smd (SchedMD)
        #[arg(long, env = "PACKAGER", default_value = "slurm-wlm")]
        packager: Packager,
        /// cargo's profile
        #[arg(long, env = "PROFILE", default_value = "release")]
        profile: String,
        /// RPM packages, too; without dpkg these alone are made
        #[arg(long)]
        rpm: bool,
    },
    /// Make packages quickly, and try them: lintian; install, upgrade, remove, purge; contents of RPM
    CheckPackages {
        /// Slurm's release
        #[arg(long, env = "SLURM", default_value = "22.05.8")]
        slurm: Release,
    },
    /// Run the tests of every commit, with fixed seeds; ends with `N passed, N failed`
    Test {
        /// Only this release of Slurm; without it, that of SLURM_PREFIX, or those that Debian ships
        #[arg(long, env = "SLURM")]
        slurm: Option<Release>,
    },
    /// Run every test, with fresh seeds; after an interruption, those that are not finished
    TestAll {
        /// Only this release of Slurm; without it, that of SLURM_PREFIX, or those that Debian ships
        #[arg(long, env = "SLURM")]
        slurm: Option<Release>,
    },
    /// List the sections of the tests, and how often each runs
    Sections,
    /// Build with the oldest compiler that is promised, that of Debian trixie
    Msrv,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    interrupt::exit_code(run(arguments.tool))
}

fn run(tool: Tool) -> Result<()> {
    interrupt::install()?;
    let progress = Progress::new();
    match tool {
        Tool::Deps { need } => deps::install(need, &progress),
        Tool::SlurmSrc { release } => {
            progress.print(source::fetch(&release, &progress)?.display().to_string());
            Ok(())
        }
        Tool::SlurmRoot { release } => {
            deps::install(Need::Test, &progress)?;
            let root = root::Root::of(&release, &progress)?;
            progress.print(root.path().display().to_string());
            Ok(())
        }
        Tool::Plugin { slurm, slurm_src } => {
            // make passes an empty word if none was given.
            let source = slurm_src.filter(|folder| !folder.as_os_str().is_empty());
            let plugin = plugin::build(&slurm, source.as_deref(), &progress)?;
            progress.print(plugin.display().to_string());
            Ok(())
        }
        Tool::Test { slurm } => suite::commit(slurm, &progress),
        Tool::TestAll { slurm } => suite::all(slurm, &progress),
        Tool::Sections => {
            progress.print(suite::listed().trim_end());
            Ok(())
        }
        Tool::Packages {
            slurm,
            slurm_src,
            packager,
            profile,
            rpm,
        } => {
            let source = slurm_src.filter(|folder| !folder.as_os_str().is_empty());
            let wish = Wish {
                release: slurm,
                source,
                packager,
                profile,
                rpm,
            };
            for package in packages::build(&wish, &progress)? {
                progress.print(package.display().to_string());
            }
            Ok(())
        }
        Tool::CheckPackages { slurm } => {
            deps::install(Need::TestAll, &progress)?;
            for (what, check) in packages::check::CHECKS {
                progress.title(what);
                check(&slurm, &progress)?;
            }
            Ok(())
        }
        Tool::Msrv => {
            deps::install(Need::TestAll, &progress)?;
            msrv::check(&progress)
        }
    }
}
