//! `compat=`.

use super::key::Key;
use crate::compat::{Compat, Release};
use crate::config::ValueError;

/// Compatibility: the plugin or release whose behaviour to follow. `compat=slurm` without a release
/// means the host's own inside slurmctld, and elsewhere the newest one whose behaviour is known,
/// 24.11.5.
pub struct CompatKey;

impl Key for CompatKey {
    type Value = Compat;
    const NAME: &'static str = "compat";
    const FORM: &'static str = "documented, slurm, or slurm:RELEASE such as slurm:24.11.5";
    const DEFAULT: &'static str = "documented";
    const MEANING: &'static str = "whose behaviour to follow";
    const IS_POLICY: bool = false;

    fn parse(text: &str, host: Option<Release>) -> Result<Compat, ValueError> {
        let lower = text.to_ascii_lowercase();
        let release = match lower.as_str() {
            "documented" => return Ok(Compat::Documented),
            "slurm" => Some(host.unwrap_or(Release::V24_11_5)),
            _ => lower.strip_prefix("slurm:").and_then(parse_release),
        };
        release.map(Compat::Slurm).ok_or_else(|| {
            ValueError::new(
                text,
                "documented, slurm, or slurm: and a release from 22.05.0 up, such as slurm:24.11.5",
            )
        })
    }

    fn is_in_stock(_: &Compat) -> bool {
        true
    }
}

/// A release such as `22.05.8` or `22.5.8`, from 22.05.0 up.
fn parse_release(text: &str) -> Option<Release> {
    let mut numbers = text.split('.').map(|number| {
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        number.parse::<u8>().ok().filter(|_| digits)
    });
    let release = Release::new(numbers.next()??, numbers.next()??, numbers.next()??);
    (numbers.next().is_none() && release >= Release::new(22, 5, 0)).then_some(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_release_of_the_host() {
        let host = Some(Release::V22_05_8);
        let slurm = |release| Ok(Compat::Slurm(release));
        assert_eq!(CompatKey::parse("documented", host), Ok(Compat::Documented));
        assert_eq!(CompatKey::parse("SLURM", host), slurm(Release::V22_05_8));
        assert_eq!(CompatKey::parse("slurm", None), slurm(Release::V24_11_5));
        assert_eq!(
            CompatKey::parse("slurm:24.11.5", host),
            slurm(Release::V24_11_5)
        );
    }

    #[test]
    fn other_words_and_releases_are_refused() {
        for text in [
            "fast",
            "slurm:21.08.8",
            "slurm:24.11",
            "slurm:24.11.5.1",
            "slurm:24.+1.5",
        ] {
            let error = CompatKey::parse(text, None).unwrap_err();
            assert_eq!(error.value, text);
            assert!(error.allowed.contains("22.05.0") && error.allowed.contains("documented"));
        }
    }
}
