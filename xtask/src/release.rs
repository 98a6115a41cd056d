//! A Slurm release, and the Debian release that ships it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// A Slurm release by its three numbers, for instance 22.05.8. Candidates of it, such as 26.11.0-0rc1,
/// have the same numbers, and slurmctld tells them apart no more than this does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    major: u16,
    minor: u16,
    micro: u16,
}

impl Release {
    /// The releases that all tests use, each from the Debian release that ships it.
    pub fn supported() -> Vec<Release> {
        let [bookworm, trixie] = [(22, 5, 8), (24, 11, 5)];
        [bookworm, trixie]
            .map(|(major, minor, micro)| Release {
                major,
                minor,
                micro,
            })
            .to_vec()
    }

    /// Major, minor, micro.
    pub fn numbers(&self) -> [u16; 3] {
        [self.major, self.minor, self.micro]
    }

    /// The Debian release with this source package; `None` if it is unknown.
    pub fn debian_suite(&self) -> Option<&'static str> {
        match (self.major, self.minor, self.micro) {
            (22, 5, 8) => Some("bookworm"),
            (24, 11, 5) => Some("trixie"),
            _ => None,
        }
    }

    /// The release of a source tree, from its `META` file.
    pub fn of_source(folder: &Path) -> Result<Release> {
        let meta = folder.join("META");
        let text = fs::read_to_string(&meta)
            .with_context(|| format!("{} is no Slurm source tree", folder.display()))?;
        let field = |name: &str| {
            text.lines()
                .filter_map(|line| line.trim().strip_prefix(name))
                .find_map(|rest| rest.trim().parse().ok())
                .with_context(|| format!("{}: no line `{name} NUMBER`", meta.display()))
        };
        Ok(Release {
            major: field("Major:")?,
            minor: field("Minor:")?,
            micro: field("Micro:")?,
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}.{}", self.major, self.minor, self.micro)
    }
}

impl FromStr for Release {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Release> {
        let numbers = match text.split_once("-0") {
            Some((numbers, candidate)) if is_candidate(candidate) => numbers,
            _ => text,
        };
        let numbers: Vec<u16> = numbers
            .split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .with_context(|| format!("`{text}` is no Slurm release like 22.05.8"))?;
        let [major, minor, micro] = numbers[..] else {
            bail!("`{text}` is no Slurm release like 22.05.8");
        };
        Ok(Release {
            major,
            minor,
            micro,
        })
    }
}

/// True for `rc1` and `pre2`.
fn is_candidate(text: &str) -> bool {
    let number = text.strip_prefix("rc").or_else(|| text.strip_prefix("pre"));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_slurm_writes_it() {
        let release: Release = "22.5.8".parse().unwrap();
        assert_eq!(release.to_string(), "22.05.8");
        assert_eq!("22.05.8".parse::<Release>().unwrap(), release);
        assert!("22.05".parse::<Release>().is_err());
        assert!("22.05.8-rc1".parse::<Release>().is_err());
    }

    // Source: META and `slurmctld -V` of Slurm's development branch.
    #[test]
    fn a_candidate_is_its_release() {
        for text in ["26.11.0-0rc1", "26.11.0-0pre12"] {
            assert_eq!(text.parse::<Release>().unwrap().to_string(), "26.11.0");
        }
        for text in [
            "26.11.0-0",
            "26.11.0-0rc",
            "26.11.0-0rcx",
            "26.11.0-1",
            "26.11-0rc1",
        ] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
    }

    #[test]
    fn is_read_from_meta() {
        let folder = tempfile::tempdir().unwrap();
        let meta = "  Meta:\t\t1\n  Name:\t\tslurm\n  Major:\t22\n  Minor:\t05\n  Micro:\t8\n";
        fs::write(folder.path().join("META"), meta).unwrap();
        let release = Release::of_source(folder.path()).unwrap();
        assert_eq!(release.to_string(), "22.05.8");
        assert_eq!(release.debian_suite(), Some("bookworm"));
        let meta =
            "  Major:\t26\n  Minor:\t11\n  Micro:\t0\n  Version:\t26.11.0\n  Release:\t0rc1\n";
        fs::write(folder.path().join("META"), meta).unwrap();
        let release = Release::of_source(folder.path()).unwrap();
        assert_eq!(release, "26.11.0-0rc1".parse().unwrap());
    }
}
