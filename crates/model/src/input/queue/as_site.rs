//! The accounts of a site of machines as a site of the common format.

use super::described::Policy;
use super::file::{Counts, File};
use super::site::{keys, of_text};
use crate::input::error::{InputError, Problem};
use crate::input::site::place::Text;
use crate::input::site::{Site, Uses};
use fairtree::config::{
    AccountPolicy, Config, MinutesFrom, Order, Place, PolicyFile, PriorityParameters, UsageModel,
};
use fairtree::engine::queue::{AccountRule, Choice, Counted, SECOND, Settings};
use fairtree::fairshare::{LeastUsed, Ranking};
use fairtree::order::Level;
use fairtree::usage::RawUsage;
use std::num::NonZeroU32;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Reads a site of machines as accounts, users, their shares and minutes, and the policy; nothing has
/// run there yet.
pub(in crate::input) fn as_site(text: &Text<'_>) -> Result<Site, InputError> {
    let described = keys(text)?;
    let site = of_text(text, &described)?;
    let settings = match site.policy {
        Policy::FairShare(settings) => settings,
        Policy::OnDemand(_) => {
            let at = described.policy.as_ref().map_or(0, |key| key.span().start);
            let problem = "policy = \"on_demand\" compares no shares: reservations come first, \
                           then the oldest job";
            return Err(text.error(at, Problem::Structure(problem.into())));
        }
    };
    let names = site.rows.iter().map(|row| row.account.as_str());
    let names: Vec<&str> = names.collect();
    let policy = PolicyFile {
        parameters: parameters(&described, &settings),
        accounts: accounts(text, &described, &names, &settings),
    };
    let config = Config::default().with_policy(&policy);
    let config = config
        .map_err(|error| InputError::new(text.file, Problem::Structure(error.to_string())))?;
    let tree = settings.competing(&site.tree).into_owned();
    Ok(Site {
        file: site.file,
        cluster: None,
        config,
        raw_usage: RawUsage::new(&tree),
        uses: Some(Uses::at(site.now.map(|now| now.div_euclid(SECOND)))),
        rows: site.rows,
        tree,
        queued: None,
        machine: None,
        requests: Vec::new(),
        capacity: u32::try_from(settings.capacity).ok(),
        assumptions: vec!["a site of machines is shown as it begins: nothing has run".to_owned()],
    })
}

fn parameters(file: &File, settings: &Settings) -> PriorityParameters {
    let counts = file.counts.as_ref().map(|counts| match counts.get_ref() {
        Counts::Text(text) => text.clone(),
        Counts::Words(words) => words.join("+"),
    });
    // The queue's reader took them.
    let counts = counts.and_then(|text| {
        let parsed = PriorityParameters::parse(&format!("counts={text}"), None);
        parsed.ok()?.counts
    });
    let level = match settings.level {
        Level::Leaf => None,
        Level::Depth(depth) => NonZeroU32::new(depth),
    };
    let mut parameters = PriorityParameters::default();
    parameters.usage = Some(model(settings.counted));
    parameters.ranking = Some(Ranking::LeastUsed(LeastUsed { level }));
    parameters.order = Some(match settings.choice {
        Choice::Strict => Order::Strict,
        Choice::Interleaved => Order::Interleaved,
    });
    parameters.counts = counts;
    parameters.minutes = are_shares(file).then_some(MinutesFrom::Shares);
    parameters
}

/// The accounts with minutes and plans, each at its place in the file.
fn accounts(
    text: &Text<'_>,
    file: &File,
    names: &[&str],
    settings: &Settings,
) -> Vec<AccountPolicy> {
    let place = |name: &str| {
        let key = file.accounts.get_key_value(name).map(|(key, _)| key.span());
        let before = &text.text[..key.map_or(0, |span| span.start)];
        let line = before.rsplit('\n').next().unwrap_or_default();
        Place {
            file: text.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    };
    let policy = |(id, rule): &(u32, AccountRule)| {
        let name = names[*id as usize - 1];
        let minutes = rule.minutes.filter(|_| !are_shares(file));
        AccountPolicy::new(name, minutes, rule.counted.map(model), place(name))
    };
    let accounts = settings.accounts.iter().map(policy);
    let some = |row: &AccountPolicy| row.minutes.is_some() || row.plan.is_some();
    let mut accounts: Vec<AccountPolicy> = accounts.filter(some).collect();
    accounts.sort_by(|a, b| a.account.cmp(&b.account));
    accounts
}

/// Returns true for `minutes = "shares"`, which the queue's reader took.
fn are_shares(file: &File) -> bool {
    let word = file.minutes.as_ref().map(|value| value.get_ref());
    word.is_some_and(|word| word.eq_ignore_ascii_case("shares"))
}

fn model(counted: Counted) -> UsageModel {
    match counted {
        Counted::Window(micros) => UsageModel::Window {
            length_secs: u32::try_from(micros / SECOND).unwrap_or(u32::MAX),
        },
        Counted::Since(micros) => {
            let since = Timestamp::from_microsecond(micros).unwrap_or_default();
            UsageModel::Total {
                since: since.to_zoned(TimeZone::UTC).datetime(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::input::site;
    use fairtree::tree::Shares;

    // Fractions by hand: 3/5 of two machines in a day; its children have 2 and 1 shares.
    #[test]
    fn accounts_are_entitled_to_their_part_of_the_machines() {
        let text = "usage = 'window:1-0'\nranking = 'least_used:2'\n[accounts.a]\nshares = 3\n\
                    [accounts.b]\nshares = 2\n[accounts.a1]\nparent = 'a'\nshares = 2\n\
                    [accounts.a2]\nparent = 'a'\n[machines.m1]\n[machines.m2]\n";
        let site = site::read("f", text.as_bytes()).unwrap();
        assert_eq!(site.config.ranking().to_string(), "least_used:2");
        let entitled = site.entitlement().of_all(&site.tree);
        let of = |name: &str| entitled[site.account(name).unwrap().get()].to_f64();
        assert_eq!(of("root"), 2.0 * 86_400.0);
        assert_eq!((of("a1"), of("a2")), (69_120.0, 34_560.0));
    }

    #[test]
    fn minutes_and_plans_are_those_of_a_policy_file() {
        let text = "[accounts.a]\nminutes = 10\n[accounts.f]\nminutes = 20\n\
                    plan = 'total:2026-01-01'\n[machines.m1]\n";
        let site = site::read("f", text.as_bytes()).unwrap();
        let rows = &site.config.accounts;
        assert_eq!((rows[0].minutes, rows[0].plan), (Some(10), None));
        let plan = rows[1].plan.unwrap().to_string();
        assert_eq!(
            (rows[1].minutes, &*plan),
            (Some(20), "total:2026-01-01T00:00:00")
        );
        assert_eq!((rows[1].place.line, rows[1].place.column), (3, 11));
    }

    // Of 100 minutes of a, a1 has 30 and a2 its default, 1.
    #[test]
    fn shares_may_be_minutes() {
        let text = "minutes = 'shares'\n[accounts.a]\nshares = 100\n[accounts.a1]\nparent = 'a'\n\
                    shares = 30\n[accounts.a2]\nparent = 'a'\n[machines.m1]\n";
        let site = site::read("f", text.as_bytes()).unwrap();
        let entitled = site.entitlement().of_all(&site.tree);
        let of = |name: &str| entitled[site.account(name).unwrap().get()].to_f64() / 60.0;
        assert_eq!((of("a"), of("a1"), of("a2")), (100.0, 30.0, 1.0));
        for (edit, said) in [
            ("shares = 100\nminutes = 5", "either shares or minutes"),
            ("shares = 20", "up to"),
        ] {
            let text = text.replace("shares = 100", edit);
            let error = site::read("f", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    // As in the queue itself: users of an account do not compete unless asked for.
    #[test]
    fn users_compete_only_where_asked_for() {
        let text = "[accounts.a.users.u]\nshares = 2\n[machines.m1]\n";
        let compete = format!("users_compete = true\n{text}");
        for (text, shares) in [(text, Shares::Parent), (compete.as_str(), Shares::Raw(2))] {
            let site = site::read("f", text.as_bytes()).unwrap();
            assert_eq!(site.tree.rows()[2].shares, shares);
        }
    }

    #[test]
    fn a_queue_without_shares_is_refused() {
        let text = "policy = 'on_demand'\n[accounts.a]\n[machines.m1]\n";
        let error = site::read("f", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("compares no shares"), "{error}");
        // The errors of a queue's site are those of its own reader.
        let text = "usage = 'half_life'\n[accounts.a]\n[machines.m1]\n";
        let error = site::read("f", text.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("a queue does not let usage decay"),
            "{error}"
        );
    }
}
