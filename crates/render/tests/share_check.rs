//! What the engine computes from usage with fractions, printed as sshare prints it (usage cut off
//! after the point, numbers rounded), must pass the comparison, whatever the tree.

use fairtree::compat::{Compat, Release};
use fairtree::fairshare::Ranking;
use fairtree_analysis::share;
use fairtree_model::input::{site, sshare};
use fairtree_model::listed::Listed;
use fairtree_render::share as table;
use proptest::prelude::*;

/// What is recomputed from a listing, and the comparison with it.
fn compared(
    listing: &sshare::Listing,
    ranking: Ranking,
    compat: Compat,
) -> (share::ShareReport, share::Agreement) {
    let listed = Listed::new(listing, ranking).expect("a tree");
    let report = share::from_listed(&listed, compat, None, share::Fractions::Computed);
    let agreement = share::check(&listed, &report);
    (report, agreement)
}

/// Accounts `a0`, `a1`, ... each under root or an earlier one, with users.
fn sites() -> impl Strategy<Value = String> {
    let shares = prop_oneof![
        Just("0".to_owned()),
        Just("1".to_owned()),
        (2u32..50).prop_map(|shares| shares.to_string()),
        Just("'parent'".to_owned()),
    ];
    let usage = prop_oneof![
        Just(0.0),
        Just(100.0),
        0.0..3.0f64,
        (0.0..1e6f64),
        (1e9..1e10f64)
    ];
    let user = (shares.clone(), usage);
    let account = (
        any::<prop::sample::Index>(),
        shares,
        prop::collection::vec(user, 0..4),
    );
    prop::collection::vec(account, 1..8).prop_map(|accounts| {
        let mut text = String::new();
        for (number, (parent, shares, users)) in accounts.iter().enumerate() {
            let parent = match parent.index(number + 1) {
                0 => "root".to_owned(),
                above => format!("a{}", above - 1),
            };
            text += &format!("[accounts.a{number}]\nparent = '{parent}'\nshares = {shares}\n");
            for (user, (shares, usage)) in users.iter().enumerate() {
                text += &format!("users.u{user} = {{ shares = {shares}, usage = {usage:?} }}\n");
            }
        }
        text
    })
}

fn printed(site: &site::Site, ranking: Ranking, compat: Compat) -> Vec<u8> {
    let report = share::from_site(site, ranking, compat);
    let shown = share::select(&report, &share::Select::default());
    let fields = "Account,User,RawShares,NormShares,RawUsage,NormUsage,Eff,Fair,LevelFS";
    let table = table::Table {
        fields: sshare::parse_fields(fields).expect("columns"),
        header: true,
        separator: table::Separator::BarBetween,
        rates_accounts: true,
    };
    let mut text = Vec::new();
    table.write(&mut text, &report, &shown).expect("memory");
    text
}

/// Under `compat=slurm` the user of `a3` gets the factor of the user before it, as `a3` ties with an
/// account without users; and who is before it depends on less than a TRES-second of usage.
#[test]
fn an_empty_first_account_behind_usage_that_was_cut_off_passes() {
    let text = "[accounts.a0]\nshares = 0\nusers.u0 = { shares = 1, usage = 0.97 }\n\
                users.u1 = { shares = 1, usage = 0.0 }\n[accounts.a1]\nparent = 'a0'\nshares = 0\n\
                [accounts.a2]\nshares = 0\n[accounts.a3]\nparent = 'a0'\nshares = 0\n\
                users.u0 = { shares = 0, usage = 0.0 }\n";
    let site = site::read("site", text.as_bytes()).expect("a site");
    let compat = Compat::Slurm(Release::V24_11_5);
    let listing = printed(&site, Ranking::FAIR_TREE, compat);
    let listing = sshare::read("listing", &listing[..]).expect("a listing");
    let factors: Vec<_> = listing
        .rows
        .iter()
        .filter_map(|row| row.fs_factor)
        .collect();
    let factors: Vec<f64> = factors.iter().map(|printed| printed.value).collect();
    assert_eq!(factors, [0.666667, 1.0, 0.666667]);
    let (_, agreement) = compared(&listing, Ranking::FAIR_TREE, compat);
    assert_eq!(agreement.differences, []);
}

/// Usage came since the pass: too little for the last digit of EffectvUsage, enough for that of LevelFS.
/// By hand: at the pass half of the shares and 1101896000 of 10^10, so 0.5 / 0.1101896 = 4.5376333; since then
/// the other user was charged 2000, and 0.5 / 0.110189578 = 4.5376342. A number that no growth explains is
/// a difference still.
#[test]
fn usage_that_only_level_fs_tells_of_is_no_difference() {
    let listing = |level_fs: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|LevelFS\n\
             root|||0.000000|10000002000|1.000000|\n \
             root|ann|1|0.500000|1101896000|0.110190|{level_fs}\n \
             root|bob|1|0.500000|8898106000|0.889810|0.561917\n"
        )
    };
    for (level_fs, differences) in [("4.537633", 0), ("4.537700", 1)] {
        let text = listing(level_fs);
        let listing = sshare::read("listing", text.as_bytes()).expect("a listing");
        let (_, agreement) = compared(&listing, Ranking::FAIR_TREE, Compat::Documented);
        assert_eq!(agreement.differences.len(), differences, "{agreement:?}");
    }
}

/// A job of `a`, charged 100, ended after the pass at which both had used 500. Expected by hand: 500 of
/// at most 600 explains every column, and nothing explains another NormUsage or LevelFS of one row.
#[test]
fn columns_of_different_moments_are_compared_with_each_other() {
    let listing = |norm_usage: &str, level_fs: &str| {
        format!(
            "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n\
             root|||0.000000|1100||1.000000||\n p||1|1.000000|1100|1.000000|1.000000||1.000000\n  \
             p|a|1|0.500000|600|0.500000|0.500000|1.000000|1.000000\n  \
             p|b|1|0.500000|500|{norm_usage}|0.500000|1.000000|{level_fs}\n"
        )
    };
    for (norm_usage, level_fs, differs) in [
        ("0.500000", "1.000000", false),
        ("0.900000", "1.000000", true),
        ("0.500000", "1.200000", true),
    ] {
        let text = listing(norm_usage, level_fs);
        let listing = sshare::read("listing", text.as_bytes()).expect("a listing");
        let (_, agreement) = compared(&listing, Ranking::FAIR_TREE, Compat::Documented);
        assert_eq!(
            agreement.differences.is_empty(),
            !differs,
            "{agreement:?}\n{text}"
        );
        assert_eq!(agreement.charged.len(), 1);
    }
}

/// The output of sshare after jobs ended: the derived columns of `then`, RawUsage of `now`.
fn printed_later(
    then: &site::Site,
    now: &site::Site,
    ranking: Ranking,
    fields: &str,
) -> (share::ShareReport, Vec<u8>) {
    let mut report = share::from_site(then, ranking, Compat::Documented);
    let later = share::from_site(now, ranking, Compat::Documented);
    for (row, later) in report.rows.iter_mut().zip(&later.rows) {
        row.raw_usage = later.raw_usage;
    }
    let shown = share::select(&report, &share::Select::default());
    let table = table::Table {
        fields: sshare::parse_fields(fields).expect("columns"),
        header: true,
        separator: table::Separator::BarBetween,
        rates_accounts: true,
    };
    let mut text = Vec::new();
    table.write(&mut text, &report, &shown).expect("memory");
    (report, text)
}

/// The same site after some users were charged more: `growth` by user, in the order of the text.
fn grown(text: &str, growth: &[f64]) -> String {
    let mut growth = growth.iter().cycle();
    let lines = text.lines().map(|line| match line.split_once("usage = ") {
        Some((before, usage)) => {
            let usage: f64 = usage.trim_end_matches(" }").parse().expect("a number");
            format!(
                "{before}usage = {:?} }}\n",
                usage + growth.next().expect("a cycle")
            )
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A line whose FairShare, the last column but one, is that of the other of two users.
fn swap_factor(line: &str) -> String {
    let mut cells: Vec<&str> = line.split('|').collect();
    let factor = cells.len() - 2;
    cells[factor] = match cells[factor] {
        "0.500000" => "1.000000",
        "1.000000" => "0.500000",
        other => other,
    };
    cells.join("|")
}

const LONG: &str = "Account,User,RawShares,NormShares,RawUsage,NormUsage,Eff,Fair,LevelFS";
const SHORT: &str = "Account,User,RawShares,NormShares,RawUsage,Eff,Fair";

proptest! {
    /// Usage that came since the pass is no difference, whatever the tree.
    #[test]
    fn growth_since_the_pass_passes(
        text in sites(),
        growth in prop::collection::vec(
            prop_oneof![Just(0.0), 0.0..2.0f64, 1.0..1e5f64, 1e8..1e9f64], 1..12
        ),
        ranking in prop::sample::select(vec![
            Ranking::FAIR_TREE, Ranking::classic(1), Ranking::depth_oblivious(2),
        ]),
        fields in prop::sample::select(vec![LONG, SHORT]),
    ) {
        let then = site::read("site", text.as_bytes()).expect("a site");
        let now = site::read("site", grown(&text, &growth).as_bytes()).expect("a site");
        let (_, listing) = printed_later(&then, &now, ranking, fields);
        let text = String::from_utf8_lossy(&listing).into_owned();
        let listing = sshare::read("listing", &listing[..]).expect("a listing");
        let (_, agreement) = compared(&listing, ranking, Compat::Documented);
        prop_assert_eq!(agreement.differences, [], "{}", text);
    }

    /// A wrong rank is found although usage has grown: two users of one account, whose usage at the pass
    /// differs by a tenth or more, with each other's factor.
    #[test]
    fn a_wrong_factor_is_found_in_a_busy_site(
        used in 1000u32..1_000_000, more in 110u32..1000, charged in 1u32..1_000_000,
    ) {
        let other = u64::from(used) * u64::from(more) / 100;
        let site = |usage: u64| format!(
            "[accounts.lab]\nshares = 1\nusers.ann = {{ shares = 1, usage = {usage} }}\n\
             users.bob = {{ shares = 1, usage = {other} }}\n"
        );
        let then = site::read("site", site(u64::from(used)).as_bytes()).expect("a site");
        let now = u64::from(used) + u64::from(charged);
        let now = site::read("site", site(now).as_bytes()).expect("a site");
        let (_, listing) = printed_later(&then, &now, Ranking::FAIR_TREE, LONG);
        let listing = String::from_utf8(listing).expect("text");
        let swapped: Vec<String> = listing.lines().map(swap_factor).collect();
        let swapped = swapped.join("\n");
        let listing = sshare::read("listing", swapped.as_bytes()).expect("a listing");
        let (_, agreement) = compared(&listing, Ranking::FAIR_TREE, Compat::Documented);
        prop_assert_eq!(agreement.differences.len(), 2, "{}", swapped);
    }

    #[test]
    fn own_output_passes(
        text in sites(),
        ranking in prop::sample::select(Ranking::forms()),
        level in prop::sample::select(vec!["1", "2", "leaf"]),
        compat in prop_oneof![Just(Compat::Documented), Just(Compat::Slurm(Release::V24_11_5))],
    ) {
        let site = site::read("site", text.as_bytes()).expect("a site");
        let ranking = match ranking.split_once(':') {
            Some((name, _)) => format!("{name}:{level}"),
            None => ranking,
        };
        let ranking = Ranking::parse(&ranking).expect("a ranking");
        let compat = if ranking.is_in_stock() { compat } else { Compat::Documented };
        let listing = printed(&site, ranking, compat);
        let listing = sshare::read("listing", &listing[..]).expect("a listing");
        let (report, agreement) = compared(&listing, ranking, compat);
        prop_assert_eq!(agreement.differences, []);
        // All rows are there, so nothing is left uncomputed but what was cut to nothing.
        for gap in &report.gaps {
            prop_assert!(!gap.why.contains("not listed") , "{}", gap.why);
        }
    }

    /// A factor that no usage explains is found.
    #[test]
    fn swapped_ranks_are_found(small in 1u32..1000, more in 1000u32..100_000) {
        let listing = format!(
            "Account|User|RawShares|RawUsage|FairShare\nroot|||{}|\n root|a|1|{small}|0.500000\n \
             root|b|1|{more}|1.000000\n",
            small + more
        );
        let listing = sshare::read("listing", listing.as_bytes()).expect("a listing");
        let (_, agreement) = compared(&listing, Ranking::FAIR_TREE, Compat::Documented);
        let ties = small.abs_diff(more) <= 1;
        prop_assert_eq!(agreement.differences.len(), if ties { 0 } else { 2 });
    }
}
