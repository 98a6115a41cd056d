//! What the engine computes from usage with fractions, printed as sshare prints it (usage cut off
//! after the point, numbers rounded), must pass the comparison, whatever the tree.

use fairtree::compat::{Compat, Release};
use fairtree::fairshare::Ranking;
use fairtree_analysis::share;
use fairtree_model::input::{site, sshare};
use fairtree_render::share as table;
use proptest::prelude::*;

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
    let report = share::from_listing(&listing, Ranking::FAIR_TREE, compat).expect("a tree");
    let agreement = share::check(&listing, &report).expect("a tree");
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
        let report =
            share::from_listing(&listing, Ranking::FAIR_TREE, Compat::Documented).expect("a tree");
        let agreement = share::check(&listing, &report).expect("a tree");
        assert_eq!(agreement.differences.len(), differences, "{agreement:?}");
    }
}

proptest! {
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
        let report = share::from_listing(&listing, ranking, compat).expect("a tree");
        let agreement = share::check(&listing, &report).expect("a tree");
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
        let report = share::from_listing(&listing, Ranking::FAIR_TREE, Compat::Documented)
            .expect("a tree");
        let agreement = share::check(&listing, &report).expect("a tree");
        let ties = small.abs_diff(more) <= 1;
        prop_assert_eq!(agreement.differences.len(), if ties { 0 } else { 2 });
    }
}
