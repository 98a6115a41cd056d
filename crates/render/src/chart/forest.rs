//! The associations of a report as they are drawn.

pub use fairtree::fairshare::Whole;
use fairtree::tree::Shares;
use fairtree_analysis::share::{ShareReport, ShareRow};
use fairtree_model::input::sshare::RowKind;

/// Users of one account that a picture draws by themselves: the first of these numbers with which
/// it has no more than [`MAX_NODES`] nodes, or else the last.
const USERS: [usize; 4] = [60, 20, 5, 1];
const MAX_NODES: usize = 4_000;

/// Accounts of one level that a picture draws by themselves.
const ACCOUNTS: usize = 40;

/// Deeper nodes are not indented further: each needs its room, and its name some, too.
const MAX_INDENT: usize = 12;

/// Associations in order, parents before children.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// The associations, and stand-ins for those that are drawn together.
    pub nodes: Vec<Node>,
    /// The whole of which shares and usage are parts.
    pub of: Whole,
}

/// An association as it is drawn.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its row in the report; `None` for several that are drawn as one.
    pub row: Option<usize>,
    /// Account or user.
    pub kind: RowKind,
    /// The user, with its partition where it has one, or the account, or how many are drawn as one.
    pub name: String,
    /// The account above.
    pub parent: Option<usize>,
    /// Accounts above it.
    pub depth: usize,
    /// Number of nodes below, at any depth; they follow it.
    pub below: usize,
    /// Normalised shares, as the report has them; none of the root, which has no siblings.
    pub share: Option<f64>,
    /// Effective usage, as the report has it; none of the root.
    pub usage: Option<f64>,
    /// Fair-share factor.
    pub fs_factor: Option<f64>,
    /// Its share of the whole, 0..=1, among those that are shown. Users with `parent` count as the
    /// mean of their siblings.
    pub due: f64,
    /// The part of the whole that it used, 0..=1.
    pub used: f64,
}

impl Node {
    /// Use over share; `None` if one is not known, or both are 0.
    pub fn ratio(&self) -> Option<f64> {
        let (share, usage) = (self.share?, self.usage?);
        (share > 0.0 || usage > 0.0).then(|| usage / share)
    }

    /// How far a list indents it, in levels.
    pub(super) fn indent(&self) -> usize {
        self.depth.min(MAX_INDENT)
    }

    /// Returns true if it used more than its share.
    pub fn over(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio > 1.0)
    }
}

impl Forest {
    /// The rows `shown` of a report, ascending, as a picture shows them: of many users of one
    /// account those with the least use are drawn as one, and of many accounts those with the least use
    /// and share, with all below them.
    pub fn drawn(report: &ShareReport, shown: &[usize]) -> Forest {
        let mut forest = Forest::default();
        for users in USERS {
            forest = Forest::folded(report, shown, users, ACCOUNTS);
            if forest.nodes.len() <= MAX_NODES {
                break;
            }
        }
        forest
    }

    /// The rows `shown` of a report, ascending. Of the users of one account the `users` with the
    /// most use are drawn by themselves, the others, if they are more than one, as one.
    pub fn new(report: &ShareReport, shown: &[usize], users: usize) -> Forest {
        Forest::folded(report, shown, users, usize::MAX)
    }

    fn folded(report: &ShareReport, shown: &[usize], users: usize, accounts: usize) -> Forest {
        let rows = &report.rows;
        let (due, used) = (due_of(rows), used_of(rows));
        let mut alone = drawn_alone(report, shown, users);
        fold_accounts(
            report,
            shown,
            accounts,
            |at| due[at].max(used[at]),
            &mut alone,
        );
        let mut forest = Forest {
            of: report.ranking.whole(),
            ..Forest::default()
        };
        let mut place: Vec<Option<usize>> = vec![None; rows.len()];
        // The stand-ins of users and of accounts below each account, by row of the account.
        let mut others: Vec<[Option<usize>; 2]> = vec![[None; 2]; rows.len()];
        // Rows of accounts that are drawn with others, and rows below them.
        let mut inside = vec![false; rows.len()];
        for &at in shown {
            let row = &rows[at];
            if row.parent.is_some_and(|above| inside[above]) {
                inside[at] = true;
                continue;
            }
            inside[at] = !alone[at] && row.kind == RowKind::Account;
            let kind = usize::from(row.kind == RowKind::Account);
            let parent = row.parent.and_then(|above| place[above]);
            let node = Node {
                row: Some(at),
                kind: row.kind,
                name: name(row),
                parent,
                depth: parent.map_or(0, |above: usize| forest.nodes[above].depth + 1),
                below: 0,
                share: row.norm_shares.value().filter(|_| !row.root),
                usage: row.effective_usage.value().filter(|_| !row.root),
                fs_factor: row.fs_factor.value(),
                due: due[at],
                used: used[at],
            };
            let known = row.parent.filter(|_| !alone[at]);
            match known.map(|above| others[above][kind]) {
                Some(Some(together)) => forest.nodes[together].take_in(&node),
                Some(None) => {
                    if let Some(above) = known {
                        others[above][kind] = Some(forest.nodes.len());
                    }
                    forest.nodes.push(Node {
                        row: None,
                        fs_factor: None,
                        name: "1".into(),
                        ..node
                    });
                }
                None => {
                    place[at] = Some(forest.nodes.len());
                    forest.nodes.push(node);
                }
            }
        }
        forest.finish();
        forest
    }

    /// Names of those drawn together, and how many are below each.
    fn finish(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            if self.nodes[at].row.is_none() {
                let kind = match self.nodes[at].kind {
                    RowKind::User => "users",
                    RowKind::Account => "accounts",
                };
                self.nodes[at].name = format!("{} more {kind}", self.nodes[at].name);
            }
            if let Some(above) = self.nodes[at].parent {
                self.nodes[above].below += self.nodes[at].below + 1;
            }
        }
    }

    /// The nodes right below one; of `None` those that have none above.
    pub fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |&at| self.nodes[at].parent == parent)
    }
}

impl Node {
    /// Draws another association together with this one.
    fn take_in(&mut self, other: &Node) {
        let count: usize = self.name.parse().unwrap_or(1);
        self.name = (count + 1).to_string();
        let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        self.share = add(self.share, other.share);
        self.usage = add(self.usage, other.usage);
        self.due += other.due;
        self.used += other.used;
    }
}

fn name(row: &ShareRow) -> String {
    let name = match row.kind {
        RowKind::User => row.user.as_deref(),
        RowKind::Account => row.account.as_deref(),
    };
    match &row.partition {
        Some(partition) => format!("{} ({partition})", name.unwrap_or("?")),
        None => name.unwrap_or("?").to_owned(),
    }
}

/// Which rows are drawn by themselves: of the users of one account `most`.
fn drawn_alone(report: &ShareReport, shown: &[usize], most: usize) -> Vec<bool> {
    let rows = &report.rows;
    let mut alone = vec![true; rows.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for &at in shown {
        if let (RowKind::User, Some(above)) = (rows[at].kind, rows[at].parent) {
            users[above].push(at);
        }
    }
    for mut users in users
        .into_iter()
        .filter(|users| users.len() > most.saturating_add(1))
    {
        let usage = |at: usize| rows[at].effective_usage.value().unwrap_or(0.0);
        users.sort_by(|&a, &b| usage(b).total_cmp(&usage(a)).then(a.cmp(&b)));
        for &at in &users[most..] {
            alone[at] = false;
        }
    }
    alone
}

/// Of more than `most` accounts on one level, those with the least weight are not drawn by themselves.
fn fold_accounts(
    report: &ShareReport,
    shown: &[usize],
    most: usize,
    weight: impl Fn(usize) -> f64,
    alone: &mut [bool],
) {
    let rows = &report.rows;
    let mut accounts: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for &at in shown {
        if let (RowKind::Account, Some(above)) = (rows[at].kind, rows[at].parent) {
            accounts[above].push(at);
        }
    }
    let many = accounts.into_iter();
    for mut accounts in many.filter(|accounts| accounts.len() > most.saturating_add(1)) {
        accounts.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
        accounts[most..].iter().for_each(|&at| alone[at] = false);
    }
}

/// What each row may claim of the whole: its share of that, or where a level does not tell these, raw
/// shares among its siblings.
fn due_of(rows: &[ShareRow]) -> Vec<f64> {
    // By row of the account above, the last entry for rows without one.
    let slot = |row: &ShareRow| row.parent.unwrap_or(rows.len());
    let mut known = vec![true; rows.len() + 1];
    for row in rows {
        let counts = matches!(row.raw_shares, Some(Shares::Raw(_)));
        known[slot(row)] &= !counts || row.share_of_whole.value().is_some();
    }
    let own = |row: &ShareRow| match row.raw_shares {
        Some(Shares::Raw(_)) if known[slot(row)] => row.share_of_whole.value(),
        Some(Shares::Raw(shares)) => Some(f64::from(shares)),
        Some(Shares::Parent) | None => None,
    };
    // Sum and number of those with shares of their own, and the number of the others.
    let mut levels = vec![(0.0, 0.0, 0.0); rows.len() + 1];
    for row in rows {
        let level = &mut levels[slot(row)];
        match own(row) {
            Some(share) => {
                level.0 += share;
                level.1 += 1.0;
            }
            None => level.2 += 1.0,
        }
    }
    let mut due = vec![0.0; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let (sum, counted, others) = levels[slot(row)];
        let mean = if counted > 0.0 && sum > 0.0 {
            sum / counted
        } else {
            1.0
        };
        let all = sum + others * mean;
        let above = row.parent.map_or(1.0, |above| due[above]);
        due[at] = if all > 0.0 {
            above * own(row).unwrap_or(mean) / all
        } else {
            0.0
        };
    }
    due
}

/// The part of the whole that each row used.
fn used_of(rows: &[ShareRow]) -> Vec<f64> {
    let raw = |row: &ShareRow| row.raw_usage.unwrap_or(0) as f64;
    let all: f64 = rows
        .iter()
        .filter(|row| row.parent.is_none())
        .map(raw)
        .sum();
    let of_all = |row: &ShareRow| if all > 0.0 { raw(row) / all } else { 0.0 };
    rows.iter().map(of_all).collect()
}
