//! Usage of an `ft_tree` in a window and since dates, as the calls use it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::{
    Column, Columns, History, LeafKey, Rate, RunId, Window, WindowError, WindowLedger,
};
use crate::usage::{Plan, Quantity, Total, Use, Windowed};

use super::error::{Failure, Status};

/// The name of the one source.
const SOURCE: &str = "ft_tree";

/// The window where none has a length: one bucket.
fn window_of(config: &Config) -> Result<Window, WindowError> {
    let plans = config.accounts.iter().filter_map(|row| row.plan);
    let length = |model| match model {
        UsageModel::Window { length_secs } => Some(u64::from(length_secs)),
        UsageModel::HalfLife | UsageModel::Total { .. } => None,
    };
    let length_secs = plans.chain([config.usage()]).filter_map(length).max();
    let resolution_secs = u64::from(config.resolution_secs());
    Window::new(length_secs.unwrap_or(resolution_secs), resolution_secs)
}

fn plan_of(model: UsageModel, zone: &TimeZone) -> Result<Plan, WindowError> {
    match model {
        UsageModel::HalfLife | UsageModel::Window { .. } => Ok(Plan::Window),
        UsageModel::Total { since } => Total::new(moment(since, zone)).map(Plan::Total),
    }
}

/// A date on the wall as seconds since 1970, not before that.
fn moment(date: DateTime, zone: &TimeZone) -> i64 {
    let zoned = date.to_zoned(zone.clone());
    let secs = zoned.map_or(i64::MAX, |zoned| zoned.timestamp().as_second());
    secs.max(0)
}

/// Usage in a window, and since dates, of the associations of one tree.
#[derive(Clone, Debug)]
pub(super) struct TreeWindow {
    model: Windowed,
    /// The caller's TRES, in its order.
    tres: Vec<String>,
    /// Plans by id.
    plans: Vec<(u32, Plan)>,
}

/// Use of a run over a period.
pub(super) struct RunUse<'a> {
    pub assoc: AssocIndex,
    pub run: RunId,
    pub from: i64,
    pub to: i64,
    pub tres: f64,
    pub factor: f64,
    /// Counts of each TRES in the caller's order; may be empty.
    pub counts: &'a [u64],
}

impl TreeWindow {
    /// Nothing used yet.
    pub(super) fn new(
        tree: &Tree,
        config: &Config,
        tres: Vec<String>,
        now: i64,
    ) -> Result<TreeWindow, WindowError> {
        TreeWindow::with(tree, window_of(config)?, tres, now)
    }

    fn with(
        tree: &Tree,
        window: Window,
        tres: Vec<String>,
        now: i64,
    ) -> Result<TreeWindow, WindowError> {
        let columns = Columns::new(tres.iter().cloned())?;
        let keep_secs = window.length_secs();
        let ledger = WindowLedger::new(tree, window, keep_secs, columns, SOURCE, now)?;
        Ok(TreeWindow {
            model: Windowed::new(tree, ledger, &tres),
            tres,
            plans: Vec::new(),
        })
    }

    /// Takes over length and plans; `zone`: that of the dates. On an error it is half-changed.
    pub(super) fn configure(
        &mut self,
        tree: &Tree,
        config: &Config,
        zone: &TimeZone,
    ) -> Result<(), Failure> {
        let window = window_of(config)?;
        let default = plan_of(config.usage(), zone)?;
        let mut plans = Vec::new();
        for row in &config.accounts {
            let Some(plan) = row.plan else { continue };
            // Names that are no ids were refused with the policy.
            let id = row.account.parse::<u32>().ok();
            let id = id
                .filter(|id| tree.index_of(*id).is_some())
                .ok_or_else(|| {
                    let account = &row.account;
                    let what =
                        format!("accounts.{account}: association {account} is not in the tree");
                    Failure::new(Status::FT_ERR_UNKNOWN_ID, what)
                })?;
            plans.push((id, plan_of(plan, zone)?));
        }
        self.edit(tree, |ledger| {
            if ledger.window().resolution_secs() != window.resolution_secs() {
                ledger.coarsen(tree, window.resolution_secs())?;
            }
            ledger.keep_at_least(window.length_secs());
            ledger.set_length(tree, window.length_secs())?;
            ledger.set_plans(tree, default, plans.iter().copied())
        })?;
        self.plans = plans;
        Ok(())
    }

    fn edit<R>(&mut self, tree: &Tree, change: impl FnOnce(&mut WindowLedger) -> R) -> R {
        self.model.edit(tree, change)
    }

    /// Returns true if these settings ask for this model.
    pub(super) fn fits(&self, config: &Config) -> bool {
        let (window, default) = (self.ledger().window(), self.ledger().default_plan());
        let kind = match config.usage() {
            UsageModel::HalfLife => false,
            UsageModel::Window { .. } => default == Plan::Window,
            UsageModel::Total { .. } => default != Plan::Window,
        };
        kind && window_of(config) == Ok(window)
    }

    /// The caller's TRES.
    pub(super) fn tres(&self) -> &[String] {
        &self.tres
    }

    pub(super) fn ledger(&self) -> &WindowLedger {
        self.model.ledger()
    }

    /// The moment that usage is that of.
    pub(super) fn moment(&self) -> i64 {
        self.ledger().now()
    }

    pub(super) fn raw(&self) -> &[Extended] {
        self.model.raw()
    }

    /// `None`: no such TRES.
    pub(super) fn usage(&self, of: Quantity) -> Option<&[Extended]> {
        self.model.usage(of)
    }

    pub(super) fn advance(&mut self, tree: &Tree, now: i64) -> Result<(), Failure> {
        // The clock may step back: the moment stays.
        self.model.advance(tree, now);
        if self.moment() < now {
            let what = format!("now is {now}, but must be within the years 1970 to 9999");
            return Err(Failure::new(Status::FT_ERR_TIME, what));
        }
        Ok(())
    }

    fn rate(&self, used: &RunUse<'_>) -> Result<Rate, WindowError> {
        let columns = self.ledger().columns();
        let place = |name: &String| match columns.find(name) {
            Some(Column::Tres(at)) => at,
            _ => unreachable!("a column of each TRES"),
        };
        let counts: Vec<(usize, u64)> = (self.tres.iter().map(place))
            .zip(used.counts.iter().copied())
            .collect();
        columns.rate(used.tres, used.factor, &counts)
    }

    /// Charges a run.
    pub(super) fn charge_run(&mut self, tree: &Tree, used: &RunUse<'_>) -> Result<(), WindowError> {
        let rate = self.rate(used)?;
        self.edit(tree, |ledger| {
            ledger.charge(tree, used.assoc, used.run, used.from, used.to, &rate)
        })
    }

    /// Charges use that belongs to no run.
    pub(super) fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<(), Failure> {
        self.model.charge(tree, assoc, used)?;
        Ok(())
    }

    /// Use that counts at the moment, by the plan of nodes without a plan of their own.
    pub(super) fn weigh(&mut self, used: &Use<'_>) -> f64 {
        self.model.weigh(used).usage
    }

    /// The end of a run: what does not count is taken back. False: it is not known.
    pub(super) fn end(&mut self, tree: &Tree, run: RunId, counts: bool) -> bool {
        self.edit(tree, |ledger| match counts {
            true => ledger.close(run),
            false => ledger.take_back(tree, run),
        })
    }

    pub(super) fn reset(&mut self, tree: &Tree, assoc: Option<AssocIndex>) {
        match assoc {
            None => self.model.clear(),
            Some(assoc) => self.edit(tree, |ledger| ledger.reset_assoc(tree, assoc)),
        }
    }

    pub(super) fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        self.model.follow_tree(before, after);
    }

    /// Everything but moment and tree, as bytes.
    pub(super) fn save(&self, tree: &Tree) -> Vec<u8> {
        let ledger = self.ledger();
        let window = ledger.window();
        let mut bytes = Vec::new();
        bytes.extend(window.length_secs().to_le_bytes());
        bytes.extend(window.resolution_secs().to_le_bytes());
        bytes.extend(since(ledger.default_plan()).to_le_bytes());
        bytes.extend(count(self.plans.len()).to_le_bytes());
        for (id, plan) in &self.plans {
            bytes.extend(id.to_le_bytes());
            bytes.extend(since(*plan).to_le_bytes());
        }
        bytes.extend(count(self.tres.len()).to_le_bytes());
        for name in &self.tres {
            bytes.extend(count(name.len()).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
        let name = |at: AssocIndex| {
            let id = tree.rows()[at.get()].id.to_string();
            LeafKey::new(&id, "", "").expect("digits are a name")
        };
        bytes.extend(ledger.save(name).expect("ids differ"));
        bytes
    }

    /// Restores the result of [`TreeWindow::save`] at the moment `now`; or returns the error in it.
    pub(super) fn restore(tree: &Tree, bytes: &[u8], now: i64) -> Result<TreeWindow, String> {
        let mut input = Input(bytes);
        let length_secs = u64::from_le_bytes(input.take()?);
        let resolution_secs = u64::from(u32::from_le_bytes(input.take()?));
        let default = plan(i64::from_le_bytes(input.take()?))?;
        let mut plans = Vec::new();
        for _ in 0..u32::from_le_bytes(input.take()?) {
            let id = u32::from_le_bytes(input.take()?);
            plans.push((id, plan(i64::from_le_bytes(input.take()?))?));
        }
        let mut tres = Vec::new();
        for _ in 0..u32::from_le_bytes(input.take()?) {
            let len = u32::from_le_bytes(input.take()?) as usize;
            tres.push(input.text(len)?.to_owned());
        }
        let wrong = |error: WindowError| error.to_string();
        let window = Window::new(length_secs, resolution_secs).map_err(wrong)?;
        let history = History::load(input.0).map_err(wrong)?;
        let mut made = TreeWindow::with(tree, window, tres, now).map_err(wrong)?;
        let place = |key: &LeafKey| {
            let id = key.account().parse().ok()?;
            tree.index_of(id)
        };
        let restored = made.edit(tree, |ledger| {
            ledger.set_plans(tree, default, plans.iter().copied())?;
            ledger.restore(tree, history, place)
        });
        restored.map_err(wrong)?;
        if made.moment() != now {
            return Err(format!("usage of {} in a state of {now}", made.moment()));
        }
        made.plans = plans;
        Ok(made)
    }
}

/// A plan as a number: -1 for the window, or the date.
fn since(plan: Plan) -> i64 {
    match plan {
        Plan::Window => -1,
        Plan::Total(total) => total.since(),
    }
}

fn plan(since: i64) -> Result<Plan, String> {
    match since {
        -1 => Ok(Plan::Window),
        _ => Total::new(since)
            .map(Plan::Total)
            .map_err(|e| e.to_string()),
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32")
}

/// Takes what was saved off the front of bytes.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.0.split_first_chunk().ok_or("they are cut short")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn text(&mut self, len: usize) -> Result<&'a str, String> {
        let (text, rest) = self.0.split_at_checked(len).ok_or("they are cut short")?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| "a name that is not UTF-8".to_owned())
    }
}

impl From<WindowError> for Failure {
    fn from(error: WindowError) -> Failure {
        let status = match error {
            WindowError::Overlap { .. } | WindowError::OtherLeaf { .. } => Status::FT_ERR_RUN,
            WindowError::Time { .. }
            | WindowError::Reversed { .. }
            | WindowError::Future { .. } => Status::FT_ERR_TIME,
            WindowError::NotKept { .. } | WindowError::Coarsen { .. } => Status::FT_ERR_MODEL,
            WindowError::Resolution { .. }
            | WindowError::Length { .. }
            | WindowError::DateCount { .. } => Status::FT_ERR_CONFIG,
            WindowError::TresName { .. } | WindowError::TresCount { .. } => Status::FT_ERR_RANGE,
            _ => Status::FT_ERR_USAGE,
        };
        Failure::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PriorityParameters;
    use crate::tree::{Assoc, AssocKind, Shares};
    use proptest::prelude::*;

    /// root 0 -> account 1 -> users 2 and 3; root -> user 4.
    fn tree() -> Tree {
        let row = |id, parent, kind| Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        };
        Tree::from_rows([
            row(0, None, AssocKind::Account),
            row(1, Some(0), AssocKind::Account),
            row(2, Some(1), AssocKind::User),
            row(3, Some(1), AssocKind::User),
            row(4, Some(0), AssocKind::User),
        ])
        .unwrap()
    }

    /// One period of use that was charged, of a run or of none.
    #[derive(Clone, Copy, Debug)]
    struct Interval {
        assoc: usize,
        job: u32,
        from: i64,
        to: i64,
        cpus: u64,
    }

    /// Everything that was charged, and no buckets.
    fn naive(kept: &[Interval], since: [i64; 5], now: i64, of: impl Fn(u64) -> u64) -> Vec<f64> {
        const ABOVE: [&[usize]; 5] = [&[0], &[1, 0], &[2, 1, 0], &[3, 1, 0], &[4, 0]];
        let mut usage = vec![0.0; 5];
        for each in kept {
            for &node in ABOVE[each.assoc] {
                let secs = (each.to.min(now) - each.from.max(since[node])).max(0);
                usage[node] += secs as f64 * of(each.cpus) as f64;
            }
        }
        usage
    }

    fn numbers(usage: Option<&[Extended]>) -> Vec<f64> {
        usage.unwrap().iter().map(|usage| usage.to_f64()).collect()
    }

    const START: i64 = 10_000;
    const LENGTH: i64 = 50;

    proptest! {
        // Buckets of a second have no edge, so the numbers are equal.
        #[test]
        fn usage_is_that_of_all_intervals(
            steps in prop::collection::vec((0_u8..8, 2_usize..5, 0_u32..4, 0_i64..40, 1_i64..30, 1_u64..5), 1..60)
        ) {
            let tree = tree();
            let text = "usage=window:0:50,resolution=0:01";
            let mut config = Config {
                parameters: PriorityParameters::parse(text, None).unwrap(),
                ..Config::default()
            };
            let policy = "[accounts.4]\nplan = 'total:1970-01-01T02:46:55'";
            config.accounts = crate::config::PolicyFile::parse(policy, "p", None).unwrap().accounts;
            let mut window = TreeWindow::new(&tree, &config, vec!["cpu".to_owned()], START).unwrap();
            window.configure(&tree, &config, &TimeZone::UTC).unwrap();
            prop_assert!(window.fits(&config));
            let (mut now, mut kept) = (START, Vec::<Interval>::new());
            let mut open = std::collections::BTreeSet::new();
            for (what, assoc, job, back, secs, cpus) in steps {
                let index = AssocIndex::new(assoc);
                let run = RunId { job, run: 1 };
                let from = now - back;
                let to = (from + secs).min(now);
                match what {
                    0..=3 => {
                        let same = |each: &&Interval| each.job == job && open.contains(&job);
                        let clash = kept.iter().filter(same).any(|each| {
                            each.assoc != assoc || (each.from < to && from < each.to)
                        });
                        let (tres, factor) = (cpus as f64 * 2.0, 1.0);
                        let used = RunUse { assoc: index, run, from, to, tres, factor, counts: &[cpus] };
                        let charged = window.charge_run(&tree, &used);
                        if clash {
                            let refused = Failure::from(charged.unwrap_err());
                            prop_assert_eq!(refused.status, Status::FT_ERR_RUN);
                        } else {
                            charged.unwrap();
                            if from < to {
                                open.insert(job);
                                kept.push(Interval { assoc, job, from, to, cpus });
                            }
                        }
                    }
                    4 => {
                        let known = window.end(&tree, run, false);
                        prop_assert_eq!(known, open.remove(&job));
                        kept.retain(|each| each.job != job);
                    }
                    5 => {
                        let known = window.end(&tree, run, true);
                        prop_assert_eq!(known, open.remove(&job));
                        // Its number may come again.
                        kept.iter_mut().filter(|each| each.job == job).for_each(|each| each.job = 99);
                    }
                    6 => {
                        now += secs;
                        window.advance(&tree, now).unwrap();
                    }
                    _ => {
                        let bytes = window.save(&tree);
                        window = TreeWindow::restore(&tree, &bytes, now).unwrap();
                        prop_assert_eq!(window.save(&tree), bytes);
                        prop_assert!(window.fits(&config));
                    }
                }
                let edge = now - LENGTH;
                let since = [edge, edge, edge, edge, 10_015];
                let of = |scale| move |cpus: u64| cpus * scale;
                prop_assert_eq!(numbers(Some(window.raw())), naive(&kept, since, now, of(2)));
                let wall = numbers(window.usage(Quantity::Wall));
                prop_assert_eq!(wall, naive(&kept, since, now, |_| 1));
                let tres = numbers(window.usage(Quantity::Tres(0)));
                prop_assert_eq!(tres, naive(&kept, since, now, of(1)));
            }
        }
    }
}
