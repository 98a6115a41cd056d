//! Names of the files that ledgers stand in, beside each other in one folder (slurmctld's
//! `StateSaveLocation`).
//!
//! | file | who writes it | what |
//! |---|---|---|
//! | [`OWN_FILE`] | the plugin, each pass | what it saw itself: one source, the own cluster |
//! | [`QOS_FILE`] | the plugin, each pass | the same by QOS: accounts are ids of QOS |
//! | [`source_file`] of a label | whoever fills in the rest | one [`super::UsageHistory`] per label: other clusters, or times that the plugin's own does not cover |
//!
//! All have the format of [`super::UsageHistory::save`] and are replaced in one step.
//!
//! # Who charges which run
//! Each second of a run is charged once, by these rules:
//! * The plugin charges a run that it sees from its start on (or from where its own file ends), also
//!   where that lies before the times that it covers.
//! * So a filler of a gap in the covered times charges the runs that *ended* in the gap, and of
//!   these what lies in it; and leaves out the runs that still go on where the gap ends.
//! * A run is known by job id and start time ([`super::LedgerRun`]: `run` is the start).

/// What the plugin saw itself.
pub const OWN_FILE: &str = "priority_fairtree_ledger";

/// The same by QOS.
pub const QOS_FILE: &str = "priority_fairtree_ledger_qos";

/// What comes before the label in the name of another source's file.
const PREFIX: &str = "priority_fairtree_history-";

/// The longest label.
pub const MAX_LABEL_LEN: usize = 200;

/// The name of the file of another source; `None` for what is no label: allowed are letters, digits,
/// `_` and `-`, from 1 to [`MAX_LABEL_LEN`].
///
/// ```
/// use fairtree::usage::window::{label_of_file, source_file};
/// let file = source_file("cluster2").unwrap();
/// assert_eq!(file, "priority_fairtree_history-cluster2");
/// assert_eq!(label_of_file(&file), Some("cluster2"));
/// assert_eq!(label_of_file("priority_fairtree_history-cluster2.new"), None);
/// assert_eq!(source_file("../x"), None);
/// ```
pub fn source_file(label: &str) -> Option<String> {
    is_label(label).then(|| format!("{PREFIX}{label}"))
}

/// The label in a name that [`source_file`] gave; `None` for all others.
pub fn label_of_file(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX).filter(|label| is_label(label))
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_LABEL_LEN).contains(&text.len()) && text.bytes().all(allowed)
}
