//! `ft_config`: the settings, in slurm.conf's words.

use std::ffi::c_char;

use crate::config::{
    Config, ConfigError, PolicyFile, PriorityParameters, Program, SlurmConfReader, ValueError,
};

use super::error::{Failure, Status};
use super::guard;
use super::handle::{self, Handle};
use super::view::{self, Out};

/// Settings, in the words and the syntax of slurm.conf.
///
/// The settings are FairShareDampeningFactor, PriorityCalcPeriod, PriorityDecayHalfLife,
/// PriorityFavorSmall, PriorityFlags, PriorityMaxAge, PriorityParameters,
/// PriorityUsageResetPeriod, PriorityWeightAge, PriorityWeightAssoc, PriorityWeightFairshare,
/// PriorityWeightJobSize, PriorityWeightPartition, PriorityWeightQOS and PriorityWeightTRES; the
/// manual page slurm.conf(5) describes them. PriorityParameters has the keys compat=documented
/// (the default) or compat=slurm:24.11.5 (compute as that release does, with its defects),
/// ranking=NAME (fair_tree, classic, depth_oblivious, difference, weighted_walk,
/// least_used:LEVEL or least_used:leaf; without it PriorityFlags choose), calc_period=SECONDS and
/// max_lock_ms=MILLISECONDS; usage=half_life (the default), usage=window:LENGTH or
/// usage=total:DATE, and beside the last two resolution=TIME and counts=STATES: see
/// ft_usage_configure(). What no function here follows is refused by name with FT_ERR_CONFIG, as
/// order=strict is: for that there is ft_queue.
/// Made by ft_config_new(); freed by ft_config_free().
pub struct ConfigHandle {
    _opaque: [u8; 0],
}

impl Handle for ConfigHandle {
    const TAG: u64 = 0x6674_5f63_6f6e_6602;
    const NAME: &'static str = "ft_config";
    type Model = ConfigModel;
}

/// The value of an `ft_config`: valid at all times.
#[derive(Default)]
pub struct ConfigModel {
    reader: SlurmConfReader,
    policy: Option<PolicyFile>,
    pub(super) config: Config,
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(Status::FT_ERR_CONFIG, error.to_string())
    }
}

/// Makes settings with the defaults of slurm.conf: all weights 0, a half-life of 7 days, Fair
/// Tree.
///
/// `config`: receives them, which are yours to free.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_config_new(config: *mut *mut ConfigHandle) -> i32 {
    guard::status("ft_config_new", || {
        let out = Out::new(config, "config")?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(ConfigModel::default())) };
        Ok(())
    })
}

/// Frees settings. NULL is allowed; freeing settings twice is an error.
///
/// Trees and sites hold no reference to them and may outlive them.
/// Threads: no other thread may use the settings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ft_config_free(config: *mut ConfigHandle) {
    guard::value("ft_config_free", (), || {
        // SAFETY: the caller passes NULL or a handle of its own and does not use it again.
        unsafe { handle::free(config) };
    });
}

/// Changes one setting: ft_config_set(config, "PriorityDecayHalfLife", "7-0").
///
/// `key`: in any case of letters. `value`: as on a line of slurm.conf, without quotes. As in
/// slurmctld, an unknown word in PriorityFlags is ignored, and a half-life of 0 needs
/// PriorityUsageResetPeriod: set that one first.
///
/// Errors: FT_ERR_CONFIG (ft_last_error() tells the setting, what was found, and what is
/// allowed), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The settings
/// are then unchanged.
/// Threads: one at a time per handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_config_set(
    config: *mut ConfigHandle,
    key: *const c_char,
    value: *const c_char,
) -> i32 {
    guard::status("ft_config_set", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and terminated strings.
        let (mut handle, key, value) = unsafe {
            (
                handle::exclusive(config, "config")?,
                view::string(key, "key")?,
                view::string(value, "value")?,
            )
        };
        let mut reader = handle.get().reader.clone();
        reader.set(key, value)?;
        let policy = handle.get().policy.clone();
        let config = finish(&reader, policy.as_ref()).map_err(|error| ConfigError {
            place: None,
            ..error
        })?;
        handle.edit(|model| {
            *model = ConfigModel {
                reader,
                policy,
                config,
            };
        });
        Ok(())
    })
}

/// Reads the settings of a slurm.conf and changes these; other lines, also `include` lines, are
/// ignored.
///
/// `text`: the file's text. `name`: its name, for messages.
///
/// Errors: FT_ERR_CONFIG (ft_last_error() begins with file:line:column), FT_ERR_UTF8,
/// FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The settings are
/// then unchanged.
/// Threads: one at a time per handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_config_load(
    config: *mut ConfigHandle,
    text: *const c_char,
    text_len: usize,
    name: *const c_char,
) -> i32 {
    guard::status("ft_config_load", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a readable text and a
        // terminated string.
        let (mut handle, text, name) = unsafe {
            (
                handle::exclusive(config, "config")?,
                view::text(text, text_len, "text")?,
                view::string(name, "name")?,
            )
        };
        let mut reader = handle.get().reader.clone();
        reader.read(text, name);
        let policy = handle.get().policy.clone();
        let config = finish(&reader, policy.as_ref())?;
        handle.edit(|model| {
            *model = ConfigModel {
                reader,
                policy,
                config,
            };
        });
        Ok(())
    })
}

/// Reads a policy file: the keys of PriorityParameters that are a policy, as TOML, such as
/// usage = "window:28-0" and counts = ["COMPLETED", "TIMEOUT", "FAILED:12"], and accounts with a
/// usage model of their own, such as plan = "total:2026-01-01" in the table [accounts.17]. It
/// replaces the policy that was loaded before.
///
/// A tree has no names: an account is named by its id, as a decimal number, which need not be in any
/// tree yet. A key stands here or in PriorityParameters, not in both.
///
/// With ranking=least_used:LEVEL an account may have minutes instead of shares, such as minutes =
/// 400 in its table: it is entitled to 60 times as many TRES-seconds. Those below it without minutes
/// divide by their shares what those with minutes leave. Where any account has minutes, these alone
/// count: shares of the root entitle to nothing. With the key minutes = "shares" the raw shares of
/// accounts below the root are their minutes, and no account has minutes in the file.
///
/// `text`: the file's text; an empty one takes the policy away. `name`: its name, for messages.
///
/// Errors: FT_ERR_CONFIG (ft_last_error() begins with file:line:column where one is known),
/// FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The
/// settings are then unchanged.
/// Threads: one at a time per handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_config_load_policy(
    config: *mut ConfigHandle,
    text: *const c_char,
    text_len: usize,
    name: *const c_char,
) -> i32 {
    guard::status("ft_config_load_policy", || {
        // SAFETY: the caller passes a live handle that no other thread uses, a readable text and a
        // terminated string.
        let (mut handle, text, name) = unsafe {
            (
                handle::exclusive(config, "config")?,
                view::text(text, text_len, "text")?,
                view::string(name, "name")?,
            )
        };
        let policy = PolicyFile::parse(text, name, None)?;
        check_ids(&policy)?;
        let empty =
            policy.parameters == PriorityParameters::default() && policy.accounts.is_empty();
        let policy = (!empty).then_some(policy);
        let reader = handle.get().reader.clone();
        let config = finish(&reader, policy.as_ref())?;
        handle.edit(|model| {
            *model = ConfigModel {
                reader,
                policy,
                config,
            };
        });
        Ok(())
    })
}

/// Refuses accounts that are no ids.
fn check_ids(policy: &PolicyFile) -> Result<(), ConfigError> {
    for row in &policy.accounts {
        let id = row.account.parse::<u32>();
        if !id.is_ok_and(|id| id.to_string() == row.account) {
            let allowed = "the id of an association, a whole number from 0 to 4294967294";
            let error = ValueError::new(&row.account, allowed).of("accounts");
            return Err(ConfigError {
                place: Some(row.place.clone()),
                ..error
            });
        }
    }
    Ok(())
}

fn finish(reader: &SlurmConfReader, policy: Option<&PolicyFile>) -> Result<Config, ConfigError> {
    let config = reader
        .clone()
        .finish()
        .map_err(|mut errors| errors.swap_remove(0))?;
    match policy {
        None => Ok(config),
        Some(policy) => config.with_policy_for(Program::Engine, policy),
    }
}
