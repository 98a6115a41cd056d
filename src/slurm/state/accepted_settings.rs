//! `priority_fairtree_settings`: slurm.conf's settings as the plugin last accepted them.
//!
//! From 23.11 on `scontrol reconfigure` restarts slurmctld, in the same process where it runs
//! in the foreground. Settings that the plugin refuses would then end slurmctld, while older
//! releases continue with the previous ones. So accepted settings are saved, and a slurmctld that
//! was restarted by a reconfigure continues with them. Any other start fails with refused settings.
//!
//! The file is text: a first line that names the format, `key=value` for each field of
//! [`HostConfig`] under its name there, `policy=` and the text of the policy file with `\n` for
//! line breaks and `\\` for backslashes, and a last line `end`.

use super::files::{self, Replacement};
use crate::config::HostConfig;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The file's name in `StateSaveLocation`.
pub(in crate::slurm) const FILE: &str = "priority_fairtree_settings";
const FIRST_LINE: &str = "fairtree settings 1";
const LAST_LINE: &str = "end";

/// Settings, each under its name in slurmctld.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::slurm) struct Accepted(BTreeMap<String, String>);

macro_rules! fields {
    (numbers $($number:ident)*; texts $($text:ident)*) => {
        impl Accepted {
            fn of(host: &HostConfig<'_>) -> Accepted {
                let mut fields = BTreeMap::new();
                $(fields.insert(stringify!($number).to_string(), host.$number.to_string());)*
                $(fields.insert(stringify!($text).to_string(), host.$text.to_string());)*
                Accepted(fields)
            }

            /// The settings; `None` if one is missing, or is not a number of its type.
            pub(in crate::slurm) fn host(&self) -> Option<HostConfig<'_>> {
                Some(HostConfig {
                    $($number: self.0.get(stringify!($number))?.parse().ok()?,)*
                    $($text: self.0.get(stringify!($text))?,)*
                })
            }
        }
    };
}

fields! {
    numbers
        priority_weight_age priority_weight_assoc priority_weight_fs priority_weight_js
        priority_weight_part priority_weight_qos priority_max_age priority_favor_small
        priority_flags priority_decay_hl priority_reset_period priority_calc_period
        fs_dampening_factor;
    texts priority_weight_tres priority_params
}

/// The key of the policy file's text.
const POLICY: &str = "policy";

impl Accepted {
    /// The text of the policy file; `None` if the settings named no file.
    pub(in crate::slurm) fn policy(&self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.0.get(POLICY)?.chars();
        while let Some(next) = chars.next() {
            match next {
                '\\' if chars.next()? == 'n' => text.push('\n'),
                '\\' => text.push('\\'),
                other => text.push(other),
            }
        }
        Some(text)
    }

    /// slurmctld's settings, and the text of the policy file.
    pub(in crate::slurm) fn with(host: &HostConfig<'_>, policy: Option<&str>) -> Accepted {
        let mut accepted = Accepted::of(host);
        if let Some(text) = policy {
            let text = text.replace('\\', "\\\\").replace('\n', "\\n");
            accepted.0.insert(POLICY.to_string(), text);
        }
        accepted
    }

    fn encode(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        for (key, value) in &self.0 {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{key}={value}");
        }
        text + LAST_LINE + "\n"
    }

    fn decode(text: &str) -> Option<Accepted> {
        let fields = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?;
        let fields = fields.strip_suffix('\n')?.strip_suffix(LAST_LINE)?;
        let fields = fields.lines().map(|line| line.split_once('='));
        let fields: Option<BTreeMap<String, String>> = fields
            .map(|field| field.map(|(key, value)| (key.to_string(), value.to_string())))
            .collect();
        fields.map(Accepted)
    }
}

/// Saves these settings, unless the file has them already. `wanted`: see [`files::replace`].
///
/// # Errors
/// Those of the file system, with the name of the file; the previous file stays.
pub(in crate::slurm) fn store(
    dir: &Path,
    accepted: &Accepted,
    wanted: &dyn Fn() -> bool,
) -> Result<(), String> {
    if load(dir).as_ref() == Ok(accepted) {
        return Ok(());
    }
    let text = accepted.encode();
    let file = Replacement {
        name: FILE,
        old: None,
        pieces: &[text.as_bytes()],
    };
    files::replace(dir, &[file], wanted)
}

/// Reads the saved settings.
///
/// # Errors
/// The file is missing or damaged.
pub(in crate::slurm) fn load(dir: &Path) -> Result<Accepted, String> {
    let text = std::fs::read_to_string(dir.join(FILE))
        .map_err(|error| format!("{FILE} cannot be read: {error}"))?;
    Accepted::decode(&text)
        .filter(|accepted| accepted.host().is_some())
        .ok_or_else(|| format!("{FILE} is damaged"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::Folder;
    use super::*;

    const HOST: HostConfig<'static> = HostConfig {
        priority_weight_age: 1_000,
        priority_weight_assoc: 0,
        priority_weight_fs: u32::MAX,
        priority_weight_js: 3,
        priority_weight_part: 4,
        priority_weight_qos: 5,
        priority_weight_tres: "cpu=1000,gres/gpu=2000",
        priority_max_age: 604_800,
        priority_favor_small: 1,
        priority_flags: 1 << 5,
        priority_decay_hl: 604_800,
        priority_reset_period: 0,
        priority_calc_period: 300,
        fs_dampening_factor: 1,
        priority_params: "calc_period=60,compat=documented",
    };

    fn remember(folder: &Folder, host: &HostConfig<'_>, policy: Option<&str>) {
        store(&folder.0, &Accepted::with(host, policy), &|| true).unwrap();
    }

    #[test]
    fn what_is_remembered_comes_back() {
        let folder = Folder::new("accepted");
        assert!(load(&folder.0).is_err());
        remember(&folder, &HOST, None);
        let other = HostConfig {
            priority_params: "",
            ..HOST
        };
        remember(&folder, &other, None);
        assert_eq!(load(&folder.0).unwrap().host(), Some(other));
        assert_eq!(load(&folder.0).unwrap().policy(), None);
        let policy = "order = 'strict'\n[accounts.\"a\\\\n\"]\r\n\nminutes = 3 # \\n\n";
        remember(&folder, &HOST, Some(policy));
        let accepted = load(&folder.0).unwrap();
        assert_eq!(accepted.host(), Some(HOST));
        assert_eq!(accepted.policy().as_deref(), Some(policy));
    }

    #[test]
    fn a_damaged_file_is_none() {
        let folder = Folder::new("accepted-damaged");
        remember(&folder, &HOST, Some("\n"));
        let whole = std::fs::read(folder.0.join(FILE)).unwrap();
        for length in 0..whole.len() {
            folder.write(FILE, &whole[..length]);
            assert!(load(&folder.0).is_err(), "{length} bytes");
        }
        folder.write(FILE, b"fairtree settings 1\nend\n");
        assert_eq!(
            load(&folder.0),
            Err("priority_fairtree_settings is damaged".to_string())
        );
        folder.write(FILE, &[0xff; 40]);
        assert!(load(&folder.0).is_err());
    }
}
