//! What the command prints, its readers read: tables of any columns, of any width, in every form.
//! Expected values: what was printed.

use fairtree_analysis::prio::from_queue;
use fairtree_analysis::share::{self, Select};
use fairtree_model::input::sprio::{Column as PrioColumn, Factor, Field as PrioField, LineFormat};
use fairtree_model::input::sshare::{Column, Field};
use fairtree_model::input::{Format, site, sprio, sshare};
use fairtree_render::prio;
use fairtree_render::share::{Separator, Table};
use proptest::prelude::*;

/// A name, some longer than a column.
fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9._-]{0,24}"
}

/// Accounts, with the shares of each and of its users.
fn site_text() -> impl Strategy<Value = String> {
    let user = (name(), 0..1000_u32, 0..u64::from(u32::MAX));
    let users = proptest::collection::vec(user, 0..4);
    let account = (0..1000_u32, users);
    proptest::collection::btree_map(name(), account, 1..5).prop_map(|accounts| {
        let mut text = String::new();
        for (account, (shares, users)) in accounts {
            text += &format!("[accounts.\"{account}\"]\nshares = {shares}\n");
            let mut seen = Vec::new();
            for (user, shares, usage) in users {
                if !seen.contains(&user) {
                    text +=
                        &format!("users.\"{user}\" = {{ shares = {shares}, usage = {usage} }}\n");
                    seen.push(user);
                }
            }
        }
        text
    })
}

/// Columns of any width that `fairtree share` does not refuse. Account is among them: a row of blanks
/// alone is none.
fn fields() -> impl Strategy<Value = Vec<Field>> {
    let others: Vec<Column> = Column::ALL
        .into_iter()
        .chain(Column::OWN)
        .filter(|it| *it != Column::Account)
        .collect();
    let count = others.len();
    let chosen = proptest::sample::subsequence(others, 0..=count);
    let chosen = chosen.prop_map(|mut chosen| {
        chosen.push(Column::Account);
        chosen
    });
    let chosen = chosen.prop_shuffle();
    (
        chosen,
        proptest::collection::vec((0..32_i32, any::<bool>()), 18),
    )
        .prop_map(|(chosen, widths)| {
            let field = |(column, (wider, left)): (Column, (i32, bool))| {
                let width = i32::try_from(column.least_width()).unwrap() + wider;
                Field {
                    column,
                    width: if left { -width } else { width },
                }
            };
            chosen.into_iter().zip(widths).map(field).collect()
        })
}

proptest! {
    #[test]
    fn tables_of_shares(text in site_text(), fields in fields(), form in 0..3_usize) {
        let site = site::read("f", text.as_bytes()).unwrap();
        let report = share::from_site(&site, site.config.ranking(), site.config.compat);
        let shown = share::select(&report, &Select::default());
        let separator = [Separator::Columns, Separator::BarAfter, Separator::BarBetween][form];
        let table = Table { fields: fields.clone(), header: true, separator, rates_accounts: true };
        let mut printed = Vec::new();
        table.write(&mut printed, &report, &shown).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        prop_assert_eq!(Format::detect("f", &printed).ok(), Some(Format::Sshare), "{}", printed);
        let listing = sshare::read("f", printed.as_bytes());
        let listing = listing.map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(&listing.notes, &Vec::<String>::new(), "{}", printed);
        prop_assert_eq!(listing.rows.len(), shown.len(), "{}", printed);
        let has = |column| fields.iter().any(|field| field.column == column);
        for (row, &at) in listing.rows.iter().zip(&shown) {
            let made = &report.rows[at];
            if has(Column::RawUsage) {
                prop_assert_eq!(row.raw_usage, made.raw_usage, "{}", printed);
            }
            if has(Column::RawShares) {
                prop_assert_eq!(row.raw_shares, made.raw_shares, "{}", printed);
            }
            if has(Column::User) {
                let (found, due) = (row.user.as_deref(), made.user.as_deref());
                let begun = found.is_some_and(|found| {
                    due.is_some_and(|due| due.starts_with(found.strip_suffix('+').unwrap_or(found)))
                });
                prop_assert!(found == due || begun, "{:?} {:?}\n{}", found, due, printed);
            }
        }
    }

    #[test]
    fn tables_of_priorities(
        jobs in proptest::collection::vec((1..u32::MAX, name(), 0..100_000_u32, 0..100_000_u32, 0..3_usize, -100..100_i64), 1..6),
        widths in proptest::collection::vec(prop_oneof![Just(0_usize), 1..40_usize], 9),
        right in any::<bool>(),
        between in prop_oneof![Just(" "), Just("|"), Just("  ")],
    ) {
        let tres = ["", "cpu=13,mem=22", "cpu=13,mem=22,gres/gpu=137"];
        let mut text = "JOBID|PARTITION|USER|PRIORITY|SITE|AGE|FAIRSHARE|NICE|TRES\n".to_owned();
        for (id, user, age, fair_share, own, nice) in &jobs {
            let points = [0, 35, 172][*own];
            let priority = (i64::from(age + fair_share + points) - nice).max(1);
            text += &format!("{id}|main|{user}|{priority}|0|{age}|{fair_share}|{nice}|{}\n", tres[*own]);
        }
        let queue = sprio::read("f", text.as_bytes()).unwrap();
        let reports = from_queue(&queue);
        let columns = [
            PrioColumn::JobId, PrioColumn::Partition, PrioColumn::User,
            PrioColumn::Priority(sprio::Form::Weighted), PrioColumn::Site,
            PrioColumn::Factor(Factor::Age, sprio::Form::Weighted),
            PrioColumn::Factor(Factor::Fairshare, sprio::Form::Weighted), PrioColumn::Nice,
            PrioColumn::Factor(Factor::Tres, sprio::Form::Weighted),
        ];
        let whole = [10, 9, 25, 8, 4, 6, 9, 4, 26];
        // As wide as a heading and a number need: narrower ones cut numbers. A number of TRES that
        // is cut is noticed in a column as wide as sprio's own.
        let least = [10, 9, 4, 8, 4, 6, 9, 4, 20];
        let fields = columns.iter().enumerate().map(|(at, &column)| PrioField {
            column,
            width: match (widths[at], between) {
                (0, "|") => 0,
                (0, _) => whole[at],
                (width, _) if column == columns[8] && width > 20 => width.max(whole[at]),
                (width, _) => width.max(least[at]),
            },
            right,
            suffix: if at + 1 == columns.len() { String::new() } else { between.to_owned() },
        });
        let table = prio::Table {
            format: LineFormat { prefix: String::new(), fields: fields.collect() },
            header: true,
        };
        let mut printed = Vec::new();
        let all: Vec<usize> = (0..jobs.len()).collect();
        table.write(&mut printed, &reports[0], &all).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        prop_assert_eq!(Format::detect("f", &printed).ok(), Some(Format::Sprio), "{}", printed);
        let again = sprio::read("f", printed.as_bytes());
        let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(&again.notes, &Vec::<String>::new(), "{}", printed);
        let rows = &again.listings[0].rows;
        prop_assert_eq!(rows.len(), jobs.len());
        for (at, (id, user, age, fair_share, _, nice)) in jobs.iter().enumerate() {
            let row = rows.get(at);
            prop_assert_eq!((row.job_id, row.nice), (Some(*id), Some(*nice)), "{}", printed);
            prop_assert!(row.user.is_some_and(|found| user.starts_with(found)), "{}", printed);
            let points = |factor: Factor| row.weighted[factor.index()].map(|points| points.value);
            prop_assert_eq!(points(Factor::Age), Some(f64::from(*age)), "{}", printed);
            prop_assert_eq!(points(Factor::Fairshare), Some(f64::from(*fair_share)), "{}", printed);
        }
        // Printed again it is the same.
        let mut twice = Vec::new();
        table.write(&mut twice, &from_queue(&again)[0], &all).unwrap();
        prop_assert_eq!(String::from_utf8(twice).unwrap(), printed);
    }
}
