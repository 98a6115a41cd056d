//! Policy files, sites of `fairtree queue` and prices, all in TOML: a refusal is one line with its
//! place; an accepted policy file is also accepted as settings.
#![no_main]

use fairtree::config::PolicyFile;
use fairtree_model::input::{prices, queue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match PolicyFile::parse(&text, "policy.toml", None) {
        Ok(policy) => {
            assert!(policy.check_accounts(|_| true).is_ok());
            assert_eq!(
                PolicyFile::parse(&text, "policy.toml", None).as_ref(),
                Ok(&policy)
            );
            let mut names: Vec<_> = policy
                .accounts
                .iter()
                .map(|a| a.account.to_lowercase())
                .collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), policy.accounts.len(), "an account twice");
        }
        Err(error) => {
            let place = error.place.as_ref().expect("a place");
            assert!(place.line <= text.lines().count() + 1, "{error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    if let Err(error) = queue::read("site.toml", bytes) {
        assert!(!error.explained().is_empty());
    }
    if let Err(error) = prices::read("prices.toml", bytes) {
        assert!(!error.explained().is_empty());
    }
});
