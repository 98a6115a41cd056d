//! Opening a site with its queue.

use std::io;
use std::path::Path;

use super::args::{FormatName, LiveArgs};
use super::input::{self, Input, no_shares};
use super::message::Messages;
use super::{Failure, compat_of, open};
use fairtree::compat::Compat;
use fairtree::config::{Config, ConfigError, PolicyFile};
use fairtree_analysis::policy::{notes, notes_beside_places};
use fairtree_analysis::share::ranking_of;
use fairtree_model::cluster::{Cluster, JobName, runs};
use fairtree_model::input::capture::follow;
use fairtree_model::input::slurm::config::{hides_jobs, hides_usage};
use fairtree_model::input::slurm::part::Wanted;
use fairtree_model::input::slurm::snapshot::{Purpose, Queued, Snapshot};
use fairtree_model::input::sshare::Listing;
use fairtree_model::input::{Format, InputError};
use fairtree_model::listed::Listed;

/// Where a command finds a site, and how to read it.
pub(super) struct Where<'a> {
    /// A capture, or Slurm itself.
    pub live: &'a LiveArgs,
    /// A file.
    pub file: Option<&'a Path>,
    /// Its format, where it is named.
    pub format: Option<FormatName>,
    /// `--compat`.
    pub compat: Option<&'a str>,
    /// `--policy`, where it names the policy that the site is taken to follow.
    pub policy: Option<&'a PolicyFile>,
}

/// The part of a site that a user may see.
pub(super) enum Readable {
    /// All of it.
    Cluster(Box<Cluster>),
    /// Not all of it: what the commands of Slurm printed.
    Rows(Box<Snapshot>),
}

/// Why less is told than of a site that is seen whole.
pub(super) fn hidden(snapshot: &Snapshot) -> String {
    let so = match hides_usage(&snapshot.queued.settings.private_data) {
        true => "this is what your own rows of sshare and sprio show",
        false => "points that depend on them are those that sprio printed",
    };
    hidden_so(snapshot, so)
}

/// A sentence on the hidden parts of a site, and their consequence.
pub(super) fn hidden_so(snapshot: &Snapshot, so: &str) -> String {
    let Queued {
        settings, hidden, ..
    } = &snapshot.queued;
    let words = settings.private_data.join(",");
    let unseen: Vec<&str> = [
        (
            hides_usage(&settings.private_data),
            "no shares and usage of others",
        ),
        (hides_jobs(&settings.private_data), "no jobs of others"),
        (hidden.partitions, "no partitions"),
        (hidden.nodes, "no nodes"),
    ]
    .into_iter()
    .filter_map(|(is_so, what)| is_so.then_some(what))
    .collect();
    let unseen = unseen.join(", ");
    format!(
        "PrivateData={words}: Slurm shows you {unseen}, so {so}; a capture by an administrator has the rest: \
         --from DIR"
    )
}

impl Where<'_> {
    /// Reads a site with all jobs, as far as the input has them.
    pub fn with_jobs(&self, messages: &Messages) -> Result<Cluster, Failure> {
        let compat = self.compat.map(compat_of).transpose()?;
        match input::snapshot(self.live, self.file, Purpose::Any, messages)? {
            Some(mut snapshot) => {
                self.follow(&mut snapshot.queued.settings.config)?;
                Ok(Cluster::from_snapshot(&snapshot, compat)?)
            }
            None => self.without_jobs(),
        }
    }

    /// As [`Where::with_jobs`], as far as `PrivateData` shows it; `purpose`: what it is for.
    pub fn with_jobs_or_rows(
        &self,
        purpose: Purpose,
        messages: &Messages,
    ) -> Result<Readable, Failure> {
        match input::snapshot(self.live, self.file, self.wide(purpose), messages)? {
            Some(snapshot) => self.readable(snapshot),
            None => Ok(Readable::Cluster(Box::new(self.without_jobs()?))),
        }
    }

    /// As [`Where::with_jobs`]; where `PrivateData` hides something, what the user sees, with a note.
    pub fn with_jobs_or_seen(&self, messages: &Messages) -> Result<Cluster, Failure> {
        let readable = self.with_jobs_or_rows(Purpose::Any, messages)?;
        self.seen_of(readable)
    }

    /// As [`Where::with_jobs_or_rows`], of the jobs that are named, as far as there are any, and those that
    /// run.
    pub fn with_these_or_rows(
        &self,
        jobs: &[JobName],
        purpose: Purpose,
        messages: &Messages,
    ) -> Result<Readable, Failure> {
        let wanted = Wanted {
            ids: jobs.iter().filter_map(|job| job.of_record()).collect(),
            arrays: jobs.iter().filter_map(|job| job.of_array()).collect(),
            in_state: runs,
        };
        let purpose = self.wide(purpose);
        match input::snapshot_part(self.live, self.file, &wanted, purpose, messages)? {
            Some(snapshot) => self.readable(snapshot),
            None => Ok(Readable::Cluster(Box::new(self.without_jobs()?))),
        }
    }

    /// As [`Where::with_these_or_rows`]; where `PrivateData` hides something, what the user sees, with a note.
    pub fn with_these_or_seen(
        &self,
        jobs: &[JobName],
        purpose: Purpose,
        messages: &Messages,
    ) -> Result<Cluster, Failure> {
        let readable = self.with_these_or_rows(jobs, purpose, messages)?;
        self.seen_of(readable)
    }

    /// A policy that is named may divide the minutes of all nodes.
    fn wide(&self, purpose: Purpose) -> Purpose {
        match self.policy {
            Some(_) => Purpose::Any,
            None => purpose,
        }
    }

    /// The site of a snapshot, or the snapshot where `PrivateData` hides something that the site is made of.
    fn readable(&self, mut snapshot: Snapshot) -> Result<Readable, Failure> {
        let compat = self.compat.map(compat_of).transpose()?;
        self.follow(&mut snapshot.queued.settings.config)?;
        let is_part = snapshot.queued.hidden.any();
        let cluster = match Cluster::from_snapshot(&snapshot, compat) {
            Ok(cluster) if !is_part => cluster,
            Err(error) if !is_part && !hides_usage(&snapshot.queued.settings.private_data) => {
                return Err(error.into());
            }
            _ => return Ok(Readable::Rows(Box::new(snapshot))),
        };
        // Of a large site giving back each name takes longer than the answer.
        std::mem::forget(snapshot);
        Ok(Readable::Cluster(Box::new(cluster)))
    }

    /// The site of a snapshot without partitions or nodes, with a note; `None`: shares of others are hidden.
    pub fn whole(&self, snapshot: &Snapshot) -> Option<Cluster> {
        let compat = self.compat.map(compat_of).transpose().ok()?;
        let mut cluster = Cluster::from_snapshot(snapshot, compat).ok()?;
        cluster.assumptions.push(hidden(snapshot));
        Some(cluster)
    }

    /// The part of a site that a user sees: without nodes and partitions, or [`Cluster::seen`], with a note.
    pub fn seen(&self, snapshot: &Snapshot) -> Result<Cluster, Failure> {
        let compat = self.compat.map(compat_of).transpose()?;
        let mut cluster = part(snapshot, compat)?;
        cluster.assumptions.push(hidden(snapshot));
        Ok(cluster)
    }

    fn seen_of(&self, readable: Readable) -> Result<Cluster, Failure> {
        match readable {
            Readable::Cluster(cluster) => Ok(*cluster),
            Readable::Rows(snapshot) => self.seen(&snapshot),
        }
    }

    /// Reads a site; of a capture and a live site only its settings and its shares.
    pub fn without_jobs(&self) -> Result<Cluster, Failure> {
        self.of(self.read()?)
    }

    /// Reads a file, or what is piped in, or of a capture and a live site what it says of shares.
    pub fn read(&self) -> Result<Input, Failure> {
        let format = self.format.map(Format::from);
        input::read_or_ask(self.live, self.file, format, self.policy)
    }

    /// Puts the policy that was named in the place of the site's: what the site has printed is read by
    /// its rules.
    fn follow(&self, config: &mut Config) -> Result<(), Failure> {
        if let Some(file) = self.policy {
            *config = config.clone().under_policy(file).map_err(refused)?;
        }
        Ok(())
    }

    /// The site of an input.
    pub fn of(&self, input: Input) -> Result<Cluster, Failure> {
        self.of_input(input, Cluster::from_listed)
    }

    /// As [`Where::of`], also of a listing without some of the rows, with a note.
    pub fn of_rows(&self, input: Input) -> Result<Cluster, Failure> {
        self.of_input(input, Cluster::from_rows)
    }

    fn of_input(
        &self,
        input: Input,
        of_listing: fn(&Listed<'_>, Compat, Option<Config>) -> Result<Cluster, String>,
    ) -> Result<Cluster, Failure> {
        let compat = self.compat.map(compat_of).transpose()?;
        match input {
            Input::Queue(queue) => Err(no_shares(&queue)),
            Input::Site(site) => Ok(Cluster::from_site(*site, compat)?),
            Input::Listing(listing, beside) => {
                let mut settings = beside.map(|beside| beside.config);
                if let Some(config) = &mut settings {
                    self.follow(config)?;
                }
                let (ranking, own) = match &settings {
                    Some(config) => (config.ranking(), config.compat),
                    None => (ranking_of(&listing), Compat::default()),
                };
                let listed = Listed::new(&listing, ranking)?;
                let compat = compat.unwrap_or(own);
                let cluster = of_listing(&listed, compat, settings);
                cluster.map_err(|why| incomplete(&listing, &why))
            }
        }
    }
}

/// The part of a site that a user sees: without nodes and partitions, or [`Cluster::seen`].
pub(super) fn part(snapshot: &Snapshot, compat: Option<Compat>) -> Result<Cluster, Failure> {
    match Cluster::from_snapshot(snapshot, compat) {
        Ok(cluster) => Ok(cluster),
        Err(_) => Ok(Cluster::seen(snapshot, compat)?),
    }
}

/// Reads the policy file that an option names.
pub(super) fn policy_file(path: &Path) -> Result<PolicyFile, Failure> {
    let name = path.display().to_string();
    let text = open::conf(path).map_err(|error| InputError::new(&name, error))?;
    PolicyFile::parse(&text, &name, None).map_err(refused)
}

/// The policy file that a site's settings name and its text; none where they name none by a full path.
pub(super) fn own_policy(config: &Config) -> Option<(String, io::Result<String>)> {
    let path = config.policy_file().map(Path::new);
    let path = path.filter(|path| path.is_absolute())?;
    Some((path.display().to_string(), open::included(path)))
}

/// Follows the policy file that a live site's settings name, where this host has it. Where it does not,
/// or slurmctld would refuse it, the settings stay as they are, and a note reports it.
pub(super) fn follow_own(config: &mut Config) {
    if let Some((name, Ok(text))) = own_policy(config) {
        follow(config, &name, &text);
    }
}

/// A policy that is not the site's.
pub(super) fn refused(error: ConfigError) -> Failure {
    Failure::Usage(error.to_string())
}

fn incomplete(listing: &Listing, why: &str) -> Failure {
    Failure::Usage(format!(
        "{}: {why}\nhint: all associations are needed: sshare -a -l -P",
        listing.file
    ))
}

/// Shows what was taken for granted.
pub(super) fn note(cluster: &Cluster, messages: &Messages) {
    notes(cluster).iter().for_each(|note| messages.note(note));
}

/// As [`note`], for an answer that shows places in the order.
pub(super) fn note_beside_places(cluster: &Cluster, messages: &Messages) {
    let notes = notes_beside_places(cluster);
    notes.iter().for_each(|note| messages.note(note));
}
