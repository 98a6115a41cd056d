//! What changed between two moments, and why: shares and usage, or the queue.

mod assoc;
mod queue;
mod ranks;
mod settings;
mod shares;
mod summary;

pub use queue::queue;
pub use settings::settings;
pub use shares::shares;
pub use summary::Summary;

use serde::{Serialize, Serializer};

/// The subject of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The order of two siblings: the values are their `LevelFS`.
    Order,
    /// An account or a user.
    Association,
    /// A weight of slurm.conf, in the listing of sprio.
    Weight,
    /// A setting of slurm.conf, or the policy file, in a capture.
    Setting,
    /// A job in one of its partitions and QOS.
    Job,
}

/// The kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// It was present before and is present after.
    Changed,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
}

/// A value on one side.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// Text, as `parent`.
    Text(String),
}

/// Numbers that are not finite are the words `inf` and `nan`.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Whole(number) => serializer.serialize_i64(*number),
            Value::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Number(number) => {
                serializer.serialize_str(&fairtree_model::c_format::f(*number))
            }
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A value before and after; `None`: missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Values {
    /// The column or the setting in Slurm's word; for an order, the account or the user.
    pub name: String,
    /// Before.
    pub before: Option<Value>,
    /// After.
    pub after: Option<Value>,
}

/// One difference: what it is about, and what happened, in words and in values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The kind of thing that changed.
    pub kind: Kind,
    /// The event.
    pub happened: Happened,
    /// A level, an association, a job, a setting.
    pub about: String,
    /// The event in words.
    pub what: String,
    /// The values that changed.
    pub values: Vec<Values>,
}

impl Change {
    fn new(kind: Kind, about: impl Into<String>, what: impl Into<String>) -> Change {
        Change {
            kind,
            happened: Happened::Changed,
            about: about.into(),
            what: what.into(),
            values: Vec::new(),
        }
    }

    /// The same of something that was not there before, or is not any more.
    fn happened(self, happened: Happened) -> Change {
        Change { happened, ..self }
    }

    /// The same with a value.
    fn value(mut self, name: &str, before: Value, after: Value) -> Change {
        self.values.push(Values {
            name: name.to_owned(),
            before: Some(before),
            after: Some(after),
        });
        self
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}
