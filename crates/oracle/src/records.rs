//! slurmctld's records from the trace: the fields that the plugin reads and writes.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use num_traits::Zero as _;

pub use super::conf::{Conf, flag};
use super::fields::Fields;
use super::number::{self, Fraction, Number};

/// `NO_VAL` of Slurm.
pub const NO_VAL: u32 = 4_294_967_294;

/// Shares that mean "use parent".
pub const USE_PARENT: u32 = 0x7fff_ffff;

/// A TRES count that means "not consumed".
pub const NO_CONSUME: u64 = 0xffff_ffff_ffff_fffd;

/// The position of energy among the TRES.
pub const ENERGY: usize = 2;

/// Bias of nice and of the site factor.
pub const NICE_OFFSET: i64 = 0x8000_0000;

/// Usage of an association or a QOS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Billing-TRES-seconds.
    pub raw: Fraction,
    /// Wall-clock seconds.
    pub wall: Fraction,
    /// TRES-seconds.
    pub tres: Vec<Fraction>,
}

impl Usage {
    fn parse(fields: &Fields, prefix: &str) -> Result<Usage> {
        let name = |field: &str| format!("{prefix}{field}");
        // The raw usage of `usage` and `leaf_usage` has different names from the rest.
        let raw = if prefix.is_empty() {
            "usage_raw"
        } else {
            "leaf_raw"
        };
        Ok(Usage {
            raw: fields.fraction(raw)?,
            wall: fields.fraction(&name("wall"))?,
            tres: fields.fractions(&name("tres_raw"))?,
        })
    }

    /// Zero usage of `tres` TRES.
    pub fn none(tres: usize) -> Usage {
        Usage {
            tres: vec![Fraction::zero(); tres],
            ..Usage::default()
        }
    }

    /// Returns true if any number is not 0.
    pub fn is_any(&self) -> bool {
        let mut all = [&self.raw, &self.wall].into_iter().chain(&self.tres);
        all.any(|value| !value.is_zero())
    }

    /// Applies a function to every number.
    pub fn each(&mut self, change: impl Fn(&mut Fraction)) {
        for value in [&mut self.raw, &mut self.wall]
            .into_iter()
            .chain(&mut self.tres)
        {
            if !value.is_zero() {
                change(value);
            }
        }
    }

    /// Adds other usage.
    pub fn add(&mut self, other: &Usage) {
        number::add(&mut self.raw, &other.raw);
        number::add(&mut self.wall, &other.wall);
        for (own, more) in self.tres.iter_mut().zip(&other.tres) {
            number::add(own, more);
        }
    }
}

/// The place of an association's own usage.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// Nowhere: an account without own usage.
    None,
    /// In `usage` itself: a user.
    Own,
    /// Separately: usage of removed users.
    Apart(Usage),
}

/// An association.
#[derive(Clone, Debug, PartialEq)]
pub struct Assoc {
    pub id: u32,
    /// Position in slurmctld's list.
    pub place: u32,
    pub acct: String,
    pub is_user: bool,
    pub parent: u32,
    pub fs_parent: u32,
    pub children: Vec<u32>,
    pub priority: u32,
    pub priority_norm: f64,
    pub shares_raw: u32,
    pub level_shares: u32,
    pub shares_norm: f64,
    pub usage: Usage,
    pub leaf: Leaf,
    pub run_secs: Vec<u64>,
    pub usage_norm: Number,
    pub usage_efctv: Number,
    pub level_fs: Number,
    pub fs_factor: Fraction,
}

impl Assoc {
    fn parse(fields: &Fields) -> Result<Assoc> {
        Ok(Assoc {
            id: fields.id,
            place: fields.int("place")?,
            acct: fields.word("acct")?.unwrap_or_default().to_owned(),
            is_user: fields.int::<u32>("is_user")? != 0,
            parent: fields.int("parent")?,
            fs_parent: fields.int("fs_parent")?,
            children: fields.list("children")?,
            priority: fields.int("priority")?,
            priority_norm: fields.float("priority_norm")?,
            shares_raw: fields.int("shares_raw")?,
            level_shares: fields.int("level_shares")?,
            shares_norm: fields.float("shares_norm")?,
            usage: Usage::parse(fields, "")?,
            leaf: match fields.int("leaf")? {
                0 => Leaf::None,
                2 => Leaf::Own,
                _ => Leaf::Apart(Usage::parse(fields, "leaf_")?),
            },
            run_secs: fields.ints("run_secs")?,
            usage_norm: fields.number("usage_norm")?,
            usage_efctv: fields.number("usage_efctv")?,
            level_fs: fields.number("level_fs")?,
            fs_factor: fields.fraction("fs_factor")?,
        })
    }

    /// An association without usage, right below an account or, for 0, at the top.
    pub fn bare(id: u32, is_user: bool, parent: u32) -> Assoc {
        Assoc {
            id,
            place: 0,
            acct: String::new(),
            is_user,
            parent,
            fs_parent: parent,
            children: vec![],
            priority: 0,
            priority_norm: 0.0,
            shares_raw: 0,
            level_shares: 0,
            shares_norm: 0.0,
            usage: Usage::default(),
            leaf: if is_user { Leaf::Own } else { Leaf::None },
            run_secs: vec![],
            usage_norm: number(0),
            usage_efctv: number(0),
            level_fs: number(0),
            fs_factor: Fraction::zero(),
        }
    }

    /// Returns true if it has `parent` shares.
    pub fn on_parent(&self) -> bool {
        self.shares_raw == USE_PARENT
    }
}

/// A QOS.
#[derive(Clone, Debug, PartialEq)]
pub struct Qos {
    pub name: String,
    pub priority: u32,
    pub norm_priority: f64,
    pub factor: f64,
    pub no_decay: bool,
    pub usage: Usage,
    pub run_secs: Vec<u64>,
    /// Run-seconds of `acct_NAME` and `user_UID`, in releases that keep them.
    pub used: BTreeMap<String, Vec<u64>>,
}

impl Qos {
    fn parse(fields: &Fields) -> Result<Qos> {
        Ok(Qos {
            name: fields.word("name")?.unwrap_or_default().to_owned(),
            priority: fields.int("priority")?,
            norm_priority: fields.float("norm_priority")?,
            factor: fields.float("factor")?,
            no_decay: fields.int::<u32>("no_decay")? != 0,
            usage: Usage::parse(fields, "")?,
            run_secs: fields.ints("run_secs")?,
            used: fields.arrays("used_")?,
        })
    }
}

/// A partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub factor: u32,
    pub norm: f64,
    pub max_time: u32,
    pub qos: u32,
    pub count: Vec<u64>,
}

impl Part {
    fn parse(fields: &Fields) -> Result<Part> {
        Ok(Part {
            name: fields.word("name")?.unwrap_or_default().to_owned(),
            factor: fields.int("factor")?,
            norm: fields.float("norm")?,
            max_time: fields.int("max_time")?,
            qos: fields.int("qos")?,
            count: fields.ints("count")?,
        })
    }
}

/// The weighted factors that a job's record holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    pub age: Fraction,
    pub assoc: Fraction,
    pub fs: Fraction,
    pub js: Fraction,
    pub part: Fraction,
    pub qos: Fraction,
    /// Biased.
    pub site: i64,
    /// Biased.
    pub nice: i64,
    /// One per TRES, or empty.
    pub tres: Vec<Fraction>,
}

impl Terms {
    /// Reads the terms of a record.
    ///
    /// # Errors
    /// Fails if a term is missing or is not a number.
    pub fn parse(fields: &Fields) -> Result<Terms> {
        Ok(Terms {
            age: fields.fraction("age")?,
            assoc: fields.fraction("assoc")?,
            fs: fields.fraction("fs")?,
            js: fields.fraction("js")?,
            part: fields.fraction("part")?,
            qos: fields.fraction("qos")?,
            site: fields.int("site")?,
            nice: fields.int("nice")?,
            tres: fields.fractions("tres")?,
        })
    }
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: u32,
    pub state: u32,
    pub priority: u32,
    pub direct: bool,
    /// Biased.
    pub site: i64,
    /// Biased.
    pub nice: i64,
    pub accrue_time: i64,
    pub start: i64,
    pub end: i64,
    /// `None` after its end was charged.
    pub end_time_exp: Option<i64>,
    pub resized: i64,
    pub limit: u32,
    pub assoc: u32,
    pub user: u32,
    pub qos: u32,
    pub qos_list: Vec<u32>,
    pub part: String,
    pub parts: Vec<String>,
    pub total_cpus: u32,
    pub min_cpus: u32,
    pub max_cpus: u32,
    pub min_nodes: u32,
    pub req: Vec<u64>,
    /// `None` until it starts.
    pub alloc: Option<Vec<u64>>,
    /// `None` if not computed.
    pub billing: Option<f64>,
    /// The billing if it were computed now.
    pub fresh_billing: f64,
    /// One priority per partition and QOS, if it has several.
    pub array: Vec<u32>,
    /// Time at which that array was made, in releases that record it.
    pub array_update: Option<i64>,
    pub terms: Terms,
}

impl Job {
    const BASE: u32 = 0xff;
    const RESIZING: u32 = 1 << 13;
    const COMPLETING: u32 = 1 << 15;

    fn parse(fields: &Fields) -> Result<Job> {
        let alloc: Vec<u64> = fields.ints("alloc")?;
        let end_time_exp: i64 = fields.int("end_time_exp")?;
        let billing = fields.float("billable_tres")?;
        Ok(Job {
            id: fields.id,
            state: fields.int("state")?,
            priority: fields.int("priority")?,
            direct: fields.int::<u32>("direct_set_prio")? != 0,
            site: fields.int("site_factor")?,
            nice: fields.int("job_nice")?,
            accrue_time: fields.int("accrue_time")?,
            start: fields.int("start")?,
            end: fields.int("end")?,
            end_time_exp: (end_time_exp != i64::from(NO_VAL)).then_some(end_time_exp),
            resized: fields.int("resized")?,
            limit: fields.int("limit")?,
            assoc: fields.int("assoc_id")?,
            user: fields.int("user_id")?,
            qos: fields.int("qos_id")?,
            qos_list: fields.list("qos_list")?,
            part: fields.word("in_part")?.unwrap_or_default().to_owned(),
            parts: fields.parts.clone(),
            total_cpus: fields.int("total_cpus")?,
            min_cpus: fields.int("min_cpus")?,
            max_cpus: fields.int("max_cpus")?,
            min_nodes: fields.int("min_nodes")?,
            req: fields.ints("req")?,
            alloc: (!alloc.is_empty()).then_some(alloc),
            billing: (billing != f64::from(NO_VAL)).then_some(billing),
            fresh_billing: fields.float("fresh_billing")?,
            array: fields.ints("array").unwrap_or_default(),
            array_update: fields.int("array_update").ok(),
            terms: Terms::parse(fields)?,
        })
    }

    pub fn is_pending(&self) -> bool {
        self.state & Job::BASE == 0
    }

    pub fn is_running(&self) -> bool {
        self.state & Job::BASE == 1
    }

    pub fn is_suspended(&self) -> bool {
        self.state & Job::BASE == 2
    }

    pub fn is_finished(&self) -> bool {
        self.state & Job::BASE > 2
    }

    pub fn is_completing(&self) -> bool {
        self.state & Job::COMPLETING != 0
    }

    pub fn is_resizing(&self) -> bool {
        self.state & Job::RESIZING != 0
    }
}

/// Everything at one moment. Moments share the records in which they do not differ.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub now: i64,
    /// The state file: last pass, last reset; `None` without a file.
    pub times: Option<(i64, i64)>,
    pub conf: Rc<Conf>,
    pub parts: BTreeMap<u32, Rc<Part>>,
    pub jobs: BTreeMap<u32, Rc<Job>>,
    pub assocs: BTreeMap<u32, Rc<Assoc>>,
    pub qos: BTreeMap<u32, Rc<Qos>>,
}

impl Records {
    /// Takes one line: a record that has changed, or `- KIND ID` for one that was removed.
    pub fn take(&mut self, line: &str) -> Result<()> {
        if let Some(gone) = line.strip_prefix("- ") {
            return self.drop_record(gone);
        }
        let fields = Fields::parse(line)?;
        let id = fields.id;
        match fields.kind {
            "daemon" => {
                self.now = fields.int("now")?;
                self.times = times(fields.word("priority_last_decay_ran")?)?;
            }
            "conf" => self.conf = Rc::new(Conf::parse(&fields)?),
            "part" => drop(self.parts.insert(id, Rc::new(Part::parse(&fields)?))),
            "job" => drop(self.jobs.insert(id, Rc::new(Job::parse(&fields)?))),
            "assoc" => drop(self.assocs.insert(id, Rc::new(Assoc::parse(&fields)?))),
            "qos" => drop(self.qos.insert(id, Rc::new(Qos::parse(&fields)?))),
            kind => bail!("a record of {kind}"),
        }
        Ok(())
    }

    fn drop_record(&mut self, gone: &str) -> Result<()> {
        let (kind, id) = gone.split_once(' ').context("no record")?;
        let id = id.parse()?;
        match kind {
            "job" => drop(self.jobs.remove(&id)),
            "assoc" => drop(self.assocs.remove(&id)),
            "qos" => drop(self.qos.remove(&id)),
            "part" => drop(self.parts.remove(&id)),
            kind => bail!("a record of {kind}"),
        }
        Ok(())
    }

    /// The partition with a name.
    pub fn part(&self, name: &str) -> Option<&Part> {
        let mut parts = self.parts.values();
        parts.find(|part| part.name == name).map(|part| &**part)
    }

    /// An association and those above it, the root last.
    pub fn line_up(&self, id: u32) -> Vec<u32> {
        let mut line = vec![];
        let mut next = self.assocs.get(&id);
        while let Some(assoc) = next {
            line.push(assoc.id);
            next = self.assocs.get(&assoc.parent);
        }
        line
    }
}

/// Parses two big-endian numbers in hexadecimal digits.
fn times(hex: Option<&str>) -> Result<Option<(i64, i64)>> {
    let Some(hex) = hex.filter(|hex| hex.len() == 32) else {
        return Ok(None);
    };
    let time = |digits: &str| u64::from_str_radix(digits, 16).map(|time| time as i64);
    Ok(Some((time(&hex[..16])?, time(&hex[16..])?)))
}

/// A whole number as it would be in a record.
pub fn number(value: u64) -> Number {
    Number::Finite(number::whole(value))
}
