//! `fairtree share --check` of listings of which not every number can be recomputed: columns of
//! different moments, rows without the rows above them, users without a rank. Expected values: hand
//! calculation, shown at each listing.

mod command;

use command::{Ran, fairtree};

fn check(options: &[&str], listing: &str) -> Ran {
    fairtree(
        &[&["share", "--check"], options].concat(),
        listing.as_bytes(),
    )
}

/// Exit code 0 and no difference, with this many numbers of these columns compared.
fn agrees(options: &[&str], listing: &str, compared: &str) {
    let ran = check(options, listing);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let summary = format!("compared {compared}: 0 differences");
    assert!(ran.out.contains(&summary), "{}", ran.out);
}

/// Exit code 1 and exactly these lines, each by its begin, before the summary.
fn differs(options: &[&str], listing: &str, lines: &[&str]) -> Ran {
    let ran = check(options, listing);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    for line in lines {
        let found = ran.out.lines().any(|known| known.starts_with(line));
        assert!(found, "{line}: {}", ran.out);
    }
    let count = format!(": {} differences", lines.len());
    assert!(ran.out.contains(&count), "{}", ran.out);
    ran
}

/// LevelFS = 0.000294 / 0.013077 = 0.022482, from 0.0224435 to 0.0225211 by the digits.
#[test]
fn level_fs_of_ones_own_row_follows_from_the_row() {
    let listing = |level_fs: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n\
             proj1|u01|1|0.000294|16143667|0.013077|0.013077|0.005285|{level_fs}\n"
        )
    };
    agrees(&[], &listing("0.022459"), "1 LevelFS");
    differs(
        &[],
        &listing("0.222459"),
        &["u01@proj1: LevelFS is 0.222459, computed 0.022482"],
    );
}

/// 2^-(0.0035/0.005) = 0.615572, 2^-(0.0011/0.001) = 0.466516; with a dampening of 2 the roots of these:
/// 0.784584 and 0.683020.
#[test]
fn classic_fair_share_of_ones_own_rows_follows_from_the_rows() {
    let listing = |first: &str, second: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
             cpu|u01|100|0.005000|150000|0.003500|{first}\n\
             gpu|u01|100|0.001000|50000|0.001100|{second}\n"
        )
    };
    let classic = ["--ranking", "classic"];
    agrees(&classic, &listing("0.615572", "0.466517"), "2 FairShare");
    differs(
        &classic,
        &listing("0.750000", "0.870000"),
        &[
            "u01@cpu: FairShare is 0.750000, computed 0.615572",
            "u01@gpu: FairShare is 0.870000, computed 0.466516",
        ],
    );
    let dampened = ["--ranking", "classic", "--dampening", "2"];
    agrees(&dampened, &listing("0.784584", "0.683020"), "2 FairShare");
}

/// Parts and factors are at most 1; without usage there is no part of it; without shares LevelFS is 0.
#[test]
fn numbers_that_no_row_has_are_named() {
    let row = |row: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare|LevelFS\n{row}\n"
        )
    };
    differs(
        &[],
        &row("lab|ann|1|1.200000|10|0.500000|0.500000|2.400000"),
        &["ann@lab: NormShares is 1.200000, above 1"],
    );
    differs(
        &[],
        &row("lab|ann|1|0.500000|10|0.500000|1.500000|1.000000"),
        &["ann@lab: FairShare is 1.500000, above 1"],
    );
    differs(
        &[],
        &row("lab|ann|1|0.500000|0|0.250000|0.500000|2.000000"),
        &["ann@lab: EffectvUsage is 0.250000, computed 0.000000"],
    );
    differs(
        &[],
        &row("lab|ann|0|0.000000|10|0.250000|0.500000|2.000000"),
        &["ann@lab: LevelFS is 2.000000, computed 0.000000"],
    );
    differs(
        &[],
        &row("lab|ann|1|0.500000|10|0.250000|0.500000|inf"),
        &["ann@lab: LevelFS is inf, computed 2.000000"],
    );
    agrees(
        &[],
        &row("lab|ann|1|0.500000|0|0.000000|0.500000|inf"),
        "1 LevelFS",
    );
}

/// The shares of siblings below a listed account tell NormShares also without the root: 1/4 and 3/4.
#[test]
fn shares_below_a_listed_account_need_no_root() {
    let listing = |second: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|EffectvUsage\n\
             lab||5|0.500000|400|0.100000\n lab|ann|1|0.250000|100|0.250000\n \
             lab|bob|3|{second}|300|0.750000\n"
        )
    };
    agrees(&[], &listing("0.750000"), "2 NormShares, 2 EffectvUsage");
    differs(
        &[],
        &listing("0.700000"),
        &["bob@lab: NormShares is 0.700000, computed 0.750000"],
    );
}

/// ann 1/2 and bob 2/2 are the ranks of two; with new, who has used nothing, the next pass ranks three:
/// new 3/3, bob 2/3, ann 1/3.
#[test]
fn a_user_without_a_rank_is_named_and_the_others_are_compared() {
    let listing = |ann: &str, bob: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n\
             root|||0.000000|300||1.000000||\n lab||1|1.000000|300|1.000000|1.000000||1.000000\n  \
             lab|ann|1|0.333333|200|0.666667|0.666667|{ann}|0.500000\n  \
             lab|bob|1|0.333333|100|0.333333|0.333333|{bob}|1.000000\n  \
             lab|new|1|0.333333|0|0.000000|0.000000|0.000000|inf\n"
        )
    };
    let unranked = "new@lab: FairShare is 0.000000, which no ranked user has: not ranked yet";
    let ran = differs(&[], &listing("0.500000", "1.000000"), &[unranked]);
    let next = "gives new@lab 1.000000, bob@lab 0.666667, ann@lab 0.333333";
    assert!(ran.out.contains(next), "{}", ran.out);
    differs(
        &[],
        &listing("1.000000", "0.500000"),
        &[
            "ann@lab: FairShare is 1.000000, computed 0.500000",
            "bob@lab: FairShare is 0.500000, computed 1.000000",
            unranked,
        ],
    );
}

/// Of 602 shares 601 are listed, so that ranks are not known; 0 is none of them. Five users are in an
/// order with others, and each counts once, whatever the number of levels.
#[test]
fn rows_are_counted_once_and_zero_is_no_rank() {
    let idle = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n\
                root|||0.000000|0||1.000000||\n root|root|1|0.001661|0|0.000000|0.000000|1.000000|inf\n \
                batch||100|0.166113|0|0.000000|0.000000||inf\n  \
                batch|u3|1|1.000000|0|0.000000|0.000000|0.000000|inf\n \
                research||500|0.830565|0|0.000000|0.000000||inf\n  \
                research|u1|1|0.500000|0|0.000000|0.000000|0.000000|inf\n  \
                research|u2|1|0.500000|0|0.000000|0.000000|0.000000|inf\n";
    let zero = |user: &str| {
        format!("{user}: FairShare is 0.000000, which no ranked user has: not ranked yet")
    };
    let names = ["u3@batch", "u1@research", "u2@research"].map(zero);
    differs(&[], idle, &names.each_ref().map(String::as_str));
    let others = idle.replace("|0.000000|inf\n", "|1.000000|inf\n");
    let ran = check(&[], &others);
    assert!(
        ran.out.contains("the order of 4 FairShare: 0 differences"),
        "{}",
        ran.out
    );
}

/// A job of a, charged 100, ended after the pass at which a and b had used 500 each.
#[test]
fn usage_that_came_since_the_pass_is_no_difference() {
    let listing = |norm_usage: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n\
             root|||0.000000|1100||1.000000||\n p||1|1.000000|1100|1.000000|1.000000||1.000000\n  \
             p|a|1|0.500000|600|0.500000|0.500000|1.000000|1.000000\n  \
             p|b|1|0.500000|500|{norm_usage}|0.500000|1.000000|1.000000\n"
        )
    };
    let compared = "3 NormShares, 3 NormUsage, 3 EffectvUsage, 3 LevelFS, 2 FairShare";
    agrees(&[], &listing("0.500000"), compared);
    let ran = check(&[], &listing("0.500000"));
    assert!(
        ran.out.contains("RawUsage grew since the last pass"),
        "{}",
        ran.out
    );
    differs(&[], &listing("0.900000"), &["b@p: NormUsage is 0.900000"]);
}

/// DEPTH_OBLIVIOUS: a has half of the shares and 0.8 of the usage, Rp = 1.6. Its users have S = 0.25 and used
/// 0.6 (Rl = 1.5, UE = 1.6 * 1.5 * 0.25 = 0.6) and 0.2 (Rl = 0.5, k = 1 / (1 + (5 ln 1.6)^2) = 0.153313,
/// UE = 1.6 * 0.5^k * 0.25 = 0.359673). FairShare = 2^-(UE/S).
#[test]
fn depth_oblivious_numbers_are_compared() {
    let listing = |usage: &str, factor: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare\n\
             root|||1.000000|100000||1.000000|0.500000\n \
             a||1|0.500000|80000|0.800000|0.800000|0.329877\n  \
             a|u1|1|0.250000|60000|0.600000|0.600000|0.189465\n  \
             a|u2|1|0.250000|20000|0.200000|{usage}|{factor}\n \
             b||1|0.500000|20000|0.200000|0.200000|0.757858\n"
        )
    };
    let options = ["--ranking", "depth-oblivious"];
    agrees(
        &options,
        &listing("0.359673", "0.368902"),
        "4 NormShares, 4 NormUsage, 4 EffectvUsage, 4 FairShare",
    );
    differs(
        &options,
        &listing("0.459673", "0.368902"),
        &["u2@a: EffectvUsage is 0.459673"],
    );
    differs(
        &options,
        &listing("0.359673", "0.468902"),
        &["u2@a: FairShare is 0.468902"],
    );
    // Stock's plugin computes it from the usage of two passes: said, and not compared.
    let ran = check(
        &[&options[..], &["--compat", "slurm:22.05.8"]].concat(),
        &listing("0.359673", "0.368902"),
    );
    assert!(
        ran.code == 0
            && ran
                .out
                .contains("EffectvUsage not compared: Slurm's plugin mixes"),
        "{}",
        ran.out
    );
}
