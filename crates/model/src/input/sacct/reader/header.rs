//! The columns of a listing.

use crate::input::sacct::columns::Kind;

/// Columns of what a job asked for and got, where [`read_requests`](super::read_requests) reads; all may be missing.
pub(super) const MORE: [&str; 11] = [
    "JobIDRaw",
    "Eligible",
    "ReqMem",
    "ReqTRES",
    "AllocTRES",
    "NNodes",
    "NodeList",
    "Constraints",
    "SubmitLine",
    "JobName",
    "ReqGRES",
];

/// Positions of the columns.
#[derive(Default)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    /// `sacct -p`: a bar at the end of each record, too.
    pub(super) bar_after: bool,
    pub(super) id: Option<usize>,
    pub(super) user: Option<usize>,
    pub(super) account: Option<usize>,
    pub(super) cluster: Option<usize>,
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) elapsed: Option<usize>,
    pub(super) suspended: Option<usize>,
    pub(super) tres: Option<usize>,
    pub(super) processors: Option<usize>,
    /// These five only where runs or jobs are asked for.
    pub(super) state: Option<usize>,
    pub(super) exit_code: Option<usize>,
    pub(super) partition: Option<usize>,
    pub(super) job: Option<usize>,
    pub(super) comment: Option<usize>,
    /// These four only where jobs are asked for.
    pub(super) qos: Option<usize>,
    pub(super) submit: Option<usize>,
    pub(super) limit: Option<usize>,
    pub(super) requested: Option<usize>,
    /// Of [`MORE`].
    pub(super) more: [Option<usize>; MORE.len()],
}

impl Header {
    /// The columns that `text` names, `|` between them.
    pub(super) fn new(line: &str, text: &str) -> Result<Header, String> {
        let bar_after = text.ends_with('|');
        let text = text.strip_suffix('|').unwrap_or(text);
        // A width, as sacct takes it in a list of columns, changes nothing with -P.
        let plain = |name: &str| name.split('%').next().unwrap_or("").trim().to_owned();
        let names: Vec<String> = text.split('|').map(plain).collect();
        let find = |wanted: &[&str]| {
            wanted
                .iter()
                .find_map(|w| names.iter().position(|name| name.eq_ignore_ascii_case(w)))
        };
        let header = Header {
            kinds: names.iter().map(|name| Kind::of(name)).collect(),
            bar_after,
            id: find(&["JobID", "JobIDRaw"]),
            user: find(&["User"]),
            account: find(&["Account"]),
            cluster: find(&["Cluster"]),
            start: find(&["Start"]),
            end: find(&["End"]),
            elapsed: find(&["ElapsedRaw", "Elapsed"]),
            suspended: find(&["Suspended"]),
            tres: find(&["AllocTRES"]),
            processors: find(&["AllocCPUS", "NCPUS"]),
            names: names.clone(),
            state: None,
            exit_code: None,
            partition: None,
            job: None,
            comment: None,
            qos: None,
            submit: None,
            limit: None,
            requested: None,
            more: [None; MORE.len()],
        };
        let missing = if header.user.is_none() {
            "User"
        } else if header.start.is_none() {
            "Start"
        } else if header.end.is_none() && header.elapsed.is_none() {
            "End, Elapsed or ElapsedRaw"
        } else if header.tres.is_none() && header.processors.is_none() {
            "AllocTRES, AllocCPUS or NCPUS"
        } else {
            return Ok(header);
        };
        Err(format!(
            "the column {missing} is not there, among {:?}",
            line.trim()
        ))
    }

    /// The place of a column.
    pub(super) fn find(&self, wanted: &str) -> Option<usize> {
        let mut names = self.names.iter();
        names.position(|name| name.eq_ignore_ascii_case(wanted))
    }

    /// Finds the columns of what a job asked for.
    pub(super) fn find_jobs(&mut self) -> Result<(), String> {
        let limit = self.find("TimelimitRaw").or(self.find("Timelimit"));
        let (submit, job) = (self.find("Submit"), self.id);
        let missing = match (job, submit, limit) {
            (None, ..) => "JobID",
            (_, None, _) => "Submit",
            (.., None) => "Timelimit or TimelimitRaw",
            _ => {
                (self.job, self.submit, self.limit) = (job, submit, limit);
                (self.state, self.qos) = (self.find("State"), self.find("QOS"));
                (self.partition, self.requested) = (self.find("Partition"), self.find("ReqCPUS"));
                return Ok(());
            }
        };
        Err(self.lacks(missing))
    }

    fn lacks(&self, missing: &str) -> String {
        let names = self.names.join("|");
        format!("the column {missing} is not there, among {names}")
    }

    /// Finds the other columns that describe a run.
    pub(super) fn find_runs(&mut self) -> Result<(), String> {
        let found = ["State", "ExitCode", "Partition"].map(|wanted| self.find(wanted));
        let missing = match (found[0], self.elapsed, self.id) {
            (None, ..) => "State",
            (_, None, _) => "Elapsed or ElapsedRaw",
            (.., None) => "JobID",
            _ => {
                [self.state, self.exit_code, self.partition] = found;
                self.job = self.id;
                self.comment = self.find("AdminComment");
                return Ok(());
            }
        };
        Err(self.lacks(missing))
    }

    /// The columns that hold what users write: not AdminComment, which Slurm lets only
    /// administrators set.
    pub(super) fn free(&self) -> Vec<&str> {
        let both = self.names.iter().zip(&self.kinds).enumerate();
        let both = both.filter(|(at, _)| self.comment != Some(*at));
        let free = both
            .map(|(_, both)| both)
            .filter(|(_, kind)| **kind == Kind::Free);
        free.map(|(name, _)| name.as_str()).collect()
    }

    /// The columns that count, which must be known for certain. Of the cluster alone one reading
    /// among several will do.
    pub(super) fn wanted(&self) -> impl Iterator<Item = usize> {
        let all = [
            self.id,
            self.user,
            self.account,
            self.start,
            self.end,
            self.elapsed,
            self.suspended,
            self.tres,
            self.processors,
            self.state,
            self.exit_code,
            self.partition,
            self.comment,
            self.qos,
            self.submit,
            self.limit,
            self.requested,
        ];
        all.into_iter().flatten()
    }
}
