//! Definition of a key of `PriorityParameters`.

use crate::compat::Release;
use crate::config::ValueError;

/// One key. Implemented once per file; see [`super`] for the table.
pub trait Key {
    /// Type of its value.
    type Value: Clone + std::fmt::Debug + PartialEq;
    /// Its spelling before `=`.
    const NAME: &'static str;
    /// Form of its value, in words; placeholders in capitals.
    const FORM: &'static str;
    /// Value that counts if the key is not given.
    const DEFAULT: &'static str;
    /// The decision that it makes, as a phrase.
    const MEANING: &'static str;
    /// True if a policy file may have it, too.
    const IS_POLICY: bool = true;

    /// Reads a value; `host` is the release of the slurmctld that asks, `None` elsewhere.
    ///
    /// # Errors
    /// The part that is wrong, and what is allowed.
    fn parse(text: &str, host: Option<Release>) -> Result<Self::Value, ValueError>;

    /// True if stock can do what the value says, so that it may be used together with
    /// `compat=slurm`.
    fn is_in_stock(value: &Self::Value) -> bool;
}

/// A key as documents and messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its spelling before `=`.
    pub name: &'static str,
    /// Form of its value, in words; placeholders in capitals.
    pub form: &'static str,
    /// Value that counts if the key is not given.
    pub default: &'static str,
    /// The decision that it makes, as a phrase.
    pub meaning: &'static str,
    /// True if a policy file may have it, too.
    pub is_policy: bool,
}

/// Implements a key whose value is one of some words, for an enum of these; the first is the default,
/// and the only one that stock can carry out.
macro_rules! word_key {
    (
        $(#[$doc:meta])*
        $key:ident, $name:ident: $value:ident, $form:literal, $meaning:literal;
        $first:literal => $default:ident, $($word:literal => $variant:ident,)*
    ) => {
        $(#[$doc])*
        pub struct $key;

        impl $crate::config::parameters::key::Key for $key {
            type Value = $value;
            const NAME: &'static str = stringify!($name);
            const FORM: &'static str = $form;
            const DEFAULT: &'static str = $first;
            const MEANING: &'static str = $meaning;

            fn parse(
                text: &str,
                _: Option<$crate::compat::Release>,
            ) -> Result<$value, $crate::config::ValueError> {
                let words = [($first, $value::$default), $(($word, $value::$variant),)*];
                $crate::config::parameters::word(text, &words)
            }

            fn is_in_stock(value: &$value) -> bool {
                *value == $value::$default
            }
        }

        impl $crate::config::Config {
            #[doc = concat!("`", stringify!($name), "=`, or its default.")]
            pub fn $name(&self) -> $value {
                self.parameters.$name.unwrap_or_default()
            }
        }
    };
}

/// Makes of a table `file: Type,` the type `PriorityParameters`, and what goes through all keys. A
/// field has the name of its file.
macro_rules! keys {
    ($($module:ident: $key:ident,)+) => {
        /// The value of `PriorityParameters`; `None`: not given. Two are equal where their keys have
        /// the same meaning, however they were written.
        #[derive(Clone, Debug, Default)]
        pub struct PriorityParameters {
            $(
                #[doc = concat!("`", stringify!($module), "=`, where it is given.")]
                pub $module: Option<<$module::$key as Key>::Value>,
            )+
            /// The values as they were written, by key, for messages.
            pub(in crate::config) written: std::collections::BTreeMap<&'static str, String>,
        }

        impl PartialEq for PriorityParameters {
            fn eq(&self, other: &PriorityParameters) -> bool {
                $(self.$module == other.$module)&&+
            }
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
                    let read = <$module::$key as Key>::parse(value, host);
                    return Some(read.map(|read| {
                        self.written.insert(<$module::$key as Key>::NAME, value.to_owned());
                        self.$module.replace(read).is_none()
                    }));
                })+
                None
            }

            /// The value of a key as it was written; as Rust prints it, in lower case, where a program
            /// set it, and empty where it is not given.
            pub(in crate::config) fn written(&self, key: &str) -> String {
                if let Some(text) = self.written.get(key) {
                    return text.clone();
                }
                $(if let Some(value) = self.$module.as_ref().filter(|_| <$module::$key as Key>::NAME == key) {
                    return format!("{value:?}").to_lowercase();
                })+
                String::new()
            }

            /// The first key that is given in both.
            fn given_twice(&self, other: &PriorityParameters) -> Option<&'static str> {
                $(if self.$module.is_some() && other.$module.is_some() {
                    return Some(<$module::$key as Key>::NAME);
                })+
                None
            }

            /// Values that either gives; no key is given by both.
            fn or(self, other: PriorityParameters) -> PriorityParameters {
                let mut written = other.written;
                written.extend(self.written);
                PriorityParameters {
                    $($module: self.$module.or(other.$module),)+
                    written,
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
