//! What a key of `PriorityParameters` is.

use crate::compat::Release;
use crate::config::ValueError;

/// One key. Implemented once per file; see [`super`] for the table.
pub trait Key {
    /// What its value means.
    type Value: Clone + std::fmt::Debug + PartialEq;
    /// As it stands before `=`.
    const NAME: &'static str;
    /// What its value may be, in words; placeholders in capitals.
    const FORM: &'static str;
    /// What counts where the key is not given.
    const DEFAULT: &'static str;
    /// What it decides, as a phrase.
    const MEANING: &'static str;
    /// It may stand in a policy file, too.
    const IS_POLICY: bool = true;

    /// Reads a value; `host` is the release of the slurmctld that asks, `None` elsewhere.
    ///
    /// # Errors
    /// The part that is wrong, and what is allowed.
    fn parse(text: &str, host: Option<Release>) -> Result<Self::Value, ValueError>;

    /// Stock can do what the value says, so that it may stand beside `compat=slurm`.
    fn is_in_stock(value: &Self::Value) -> bool;
}

/// A key as documents and messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// As it stands before `=`.
    pub name: &'static str,
    /// What its value may be, in words; placeholders in capitals.
    pub form: &'static str,
    /// What counts where the key is not given.
    pub default: &'static str,
    /// What it decides, as a phrase.
    pub meaning: &'static str,
    /// It may stand in a policy file, too.
    pub is_policy: bool,
}

/// Makes of a table `file: Type,` the type `PriorityParameters`, and what goes through all keys. A
/// field has the name of its file.
macro_rules! keys {
    ($($module:ident: $key:ident,)+) => {
        /// The value of `PriorityParameters`; `None`: not given.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct PriorityParameters {
            $(
                #[doc = concat!("`", stringify!($module), "=`, where it is given.")]
                pub $module: Option<<$module::$key as Key>::Value>,
            )+
        }

        /// Every key, in the order of the table.
        pub const KEYS: &[KeyInfo] = &[$(KeyInfo {
            name: <$module::$key as Key>::NAME,
            form: <$module::$key as Key>::FORM,
            default: <$module::$key as Key>::DEFAULT,
            meaning: <$module::$key as Key>::MEANING,
            is_policy: <$module::$key as Key>::IS_POLICY,
        },)+];

        impl PriorityParameters {
            /// Takes the value of a key by its name, in any case of letters. `None`: no such key;
            /// `false`: it was given before.
            pub(in crate::config) fn set(
                &mut self,
                name: &str,
                value: &str,
                host: Option<Release>,
            ) -> Option<Result<bool, ValueError>> {
                $(if <$module::$key as Key>::NAME.eq_ignore_ascii_case(name) {
                    let value = <$module::$key as Key>::parse(value, host);
                    return Some(value.map(|value| self.$module.replace(value).is_none()));
                })+
                None
            }

            /// The first key that is given in both.
            fn given_twice(&self, other: &PriorityParameters) -> Option<&'static str> {
                $(if self.$module.is_some() && other.$module.is_some() {
                    return Some(<$module::$key as Key>::NAME);
                })+
                None
            }

            /// What either gives; both give no key.
            fn or(self, other: PriorityParameters) -> PriorityParameters {
                PriorityParameters {
                    $($module: self.$module.or(other.$module),)+
                }
            }

            /// The keys whose values stock cannot carry out.
            fn beyond_stock(&self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if let Some(value) = &self.$module {
                    if !<$module::$key as Key>::is_in_stock(value) {
                        names.push(<$module::$key as Key>::NAME);
                    }
                })+
                names
            }
        }
    };
}
