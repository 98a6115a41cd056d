//! Two users in sentences: their places, where they differ first, used and due there.

use std::fmt;

use super::Text;
use super::remedies;
use super::words::{Percent, TresSeconds, place};
use fairtree::fairshare::{Comparison, FactorFormula, Ranking};
use fairtree_analysis::explain::{PathStep, Reason, Side, UserSide, UsersCompared};

/// If a way is longer than this, only its ends are shown.
const LONGEST_WAY: usize = 12;

impl fmt::Display for Text<'_, UsersCompared> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_order(f, self.0)?;
        for side in &self.0.sides {
            writeln!(f)?;
            write_way(f, side, self.0.ranking)?;
        }
        remedies::write_all(f, &self.0.moves.of(&self.0.sides).name, &self.0.remedies)?;
        write_own_shares(f, self.0)
    }
}

/// Who is ahead, and why.
pub(super) fn write_order(f: &mut fmt::Formatter<'_>, compared: &UsersCompared) -> fmt::Result {
    let behind = compared.moves.of(&compared.sides);
    let first = compared.moves.other().of(&compared.sides);
    let (a, b) = (&behind.name, &first.name);
    let (at_a, at_b) = (standing(behind, compared), standing(first, compared));
    match compared.ahead {
        Some(_) => writeln!(f, "{a} ({at_a}) is behind {b} ({at_b}).")?,
        None => writeln!(f, "{a} and {b} are equal ({at_a}).")?,
    }
    let parting = &compared.parting;
    for [a, b] in &parting.merged {
        writeln!(
            f,
            "{} and {} have the same level fairshare, {:.6}: their members are compared as those \
             of one account.",
            a.name,
            b.name,
            a.level_fs.unwrap_or(0.0)
        )?;
    }
    let [below_a, below_b] = &parting.below;
    if below_a == below_b {
        writeln!(f, "They differ first below {below_a}:")?;
    } else {
        writeln!(f, "They differ first below {below_a} and {below_b}:")?;
    }
    for member in &parting.members {
        writeln!(f, "  {}", account_of(member, compared.ranking))?;
    }
    writeln!(f, "{}", reason(compared))
}

/// Factor, and rank where there is one.
fn standing(side: &UserSide, compared: &UsersCompared) -> String {
    let factor = side.fs_factor;
    match side.rank {
        Some(rank) => format!(
            "fair-share factor {factor:.6}, place {} of {}",
            place(rank, compared.users),
            compared.users
        ),
        None => format!("fair-share factor {factor:.6}"),
    }
}

/// Shares or minutes, part, use and level fairshare of one association.
fn account_of(step: &PathStep, ranking: Ranking) -> String {
    let name = &step.name;
    let used = TresSeconds(step.raw_usage);
    if is_aside(step, ranking) {
        return format!(
            "{name}: FairShare=parent: its level fairshare is infinite whatever it used, and it \
             shares the rank of all like it; used {used}"
        );
    }
    let shares = match (step.minutes, step.raw_shares, step.level_shares) {
        (Some(minutes), ..) => format!("{minutes} minutes"),
        (None, Some(own), Some(all)) => format!("{own} of {all} shares"),
        (None, None, _) => "shares of its parent".to_owned(),
        (None, Some(own), None) => format!("{own} shares"),
    };
    let word = match step.entitled {
        Some(_) => "entitled to",
        None => "due",
    };
    let due = Percent(match ranking.columns().entitled {
        true => step.share_of_whole,
        false => step.norm_shares,
    });
    let part = Percent(step.effective_usage);
    let level = match step.level_fs {
        Some(level_fs) => format!(": level fairshare {level_fs:.6}"),
        None => String::new(),
    };
    match ranking.formula() {
        // Effective usage has a part of what others of the account used.
        FactorFormula::Power { .. } => {
            format!(
                "{name}: {shares}, {word} {due}, counts as used {part}; its own usage is {used}{level}"
            )
        }
        FactorFormula::Rank | FactorFormula::Difference => {
            format!("{name}: {shares}, {word} {due}, used {part} or {used}{level}")
        }
    }
}

/// Returns true for a user with `FairShare=parent` where level fairshares are compared.
fn is_aside(step: &PathStep, ranking: Ranking) -> bool {
    let compares = ranking.comparison() == Comparison::Level;
    compares && step.is_user && step.raw_shares.is_none()
}

fn reason(compared: &UsersCompared) -> String {
    let [a, b] = &compared.parting.members;
    match compared.parting.reason {
        Reason::LevelFs => {
            let first = if compared.moves == Side::First { b } else { a };
            let all = if first.is_user {
                ""
            } else {
                ", with all its users"
            };
            format!(
                "The higher level fairshare (due over used) comes first{all}: {}.",
                first.name
            )
        }
        Reason::UsersTie => "Users with the same level fairshare share a place.".to_owned(),
        Reason::UserTiesWithAccount => {
            let (user, account) = if a.is_user { (a, b) } else { (b, a) };
            format!(
                "{} has the level fairshare of {}, and so the place of its best user.",
                user.name, account.name
            )
        }
        Reason::ListOrder => "They have the same level fairshare, and priority/multifactor does \
                              not merge such accounts: the order of its list decides."
            .to_owned(),
        Reason::TieHandedOn => "Their places do not follow from these numbers: \
                                priority/multifactor hands a tie of other accounts on to users \
                                below them, a fault that compat=slurm follows."
            .to_owned(),
        Reason::Ratio => {
            let (first, other) = match compared.moves {
                Side::First => (b, a),
                Side::Second => (a, b),
            };
            format!(
                "Who used least of what it is entitled to comes first: {} {}, {} {}.",
                first.name,
                used_ratio(first),
                other.name,
                used_ratio(other)
            )
        }
        Reason::Weight => {
            let first = if compared.moves == Side::First { b } else { a };
            format!(
                "The higher weight (part of shares over part of usage) comes first: {}.",
                first.name
            )
        }
        Reason::Factor => compared.ranking.explained().to_owned(),
    }
}

/// The usage over the entitlement of an association, and both numbers.
fn used_ratio(step: &PathStep) -> String {
    let used = TresSeconds(step.raw_usage);
    let part = |ratio| format!("a ratio of {ratio:.6}");
    match (step.used_ratio, step.entitled, step.due) {
        (None, ..) => "is entitled to nothing".to_owned(),
        (Some(0.0), ..) => "used nothing".to_owned(),
        (Some(ratio), Some(secs), _) => {
            format!("used {used} of {}, {}", TresSeconds(secs), part(ratio))
        }
        (Some(ratio), None, due) => {
            let due = TresSeconds(due.unwrap_or(0.0));
            format!(
                "used {used}, due {due} of all that was used, {}",
                part(ratio)
            )
        }
    }
}

/// The remedy of `FairShare=parent` of a user.
fn write_own_shares(f: &mut fmt::Formatter<'_>, compared: &UsersCompared) -> fmt::Result {
    let members = compared.parting.members.iter();
    for member in members.filter(|member| is_aside(member, compared.ranking)) {
        writeln!(
            f,
            "With shares of its own instead of FairShare=parent {} would be compared by what it used: \
             fairtree shares --shares {}=1",
            member.name, member.name
        )?;
    }
    Ok(())
}

/// The way from the root to one user.
fn write_way(f: &mut fmt::Formatter<'_>, side: &UserSide, ranking: Ranking) -> fmt::Result {
    writeln!(f, "The way to {}:", side.name)?;
    let steps = side.path.len();
    for (at, step) in side.path.iter().enumerate() {
        let left_out =
            steps > LONGEST_WAY && (LONGEST_WAY / 2..steps - LONGEST_WAY / 2).contains(&at);
        if left_out {
            if at == LONGEST_WAY / 2 {
                writeln!(f, "  ({} more)", steps - LONGEST_WAY)?;
            }
        } else if at == 0 {
            let used = TresSeconds(step.raw_usage);
            writeln!(f, "  {}: used {used} in all", step.name)?;
        } else if step.stands_aside {
            writeln!(f, "  {}: stands aside (FairShare=parent)", step.name)?;
        } else {
            writeln!(f, "  {}", account_of(step, ranking))?;
        }
    }
    Ok(())
}
