//! The columns of sshare: names, widths, and the `-o` list.

/// A column of sshare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The account, indented by its depth.
    Account,
    /// The cluster.
    Cluster,
    /// Effective usage.
    EffectvUsage,
    /// Fair-share factor.
    FairShare,
    /// TRES-minutes that the association may use.
    GrpTresMins,
    /// TRES-minutes that the association used.
    GrpTresRaw,
    /// Number of the association.
    Id,
    /// Level fairshare.
    LevelFs,
    /// Normalised shares.
    NormShares,
    /// Normalised usage.
    NormUsage,
    /// The partition of the association.
    Partition,
    /// Raw shares.
    RawShares,
    /// Raw usage.
    RawUsage,
    /// TRES-minutes that running jobs may still use.
    TresRunMins,
    /// The user.
    User,
    /// The time that the association is entitled to. Not of sshare.
    Entitled,
    /// What is due to it of what was used. Not of sshare.
    Due,
    /// What it used over what it is entitled to, or else over what is due. Not of sshare.
    UsedRatio,
}

impl Column {
    /// All columns, in the order in which sshare looks for a name.
    pub const ALL: [Column; 15] = [
        Column::Account,
        Column::Cluster,
        Column::EffectvUsage,
        Column::FairShare,
        Column::GrpTresMins,
        Column::GrpTresRaw,
        Column::Id,
        Column::LevelFs,
        Column::NormShares,
        Column::NormUsage,
        Column::Partition,
        Column::RawShares,
        Column::RawUsage,
        Column::TresRunMins,
        Column::User,
    ];

    /// Columns of fairtree alone, looked for after those.
    pub const OWN: [Column; 3] = [Column::Entitled, Column::Due, Column::UsedRatio];

    /// The name in the header.
    pub const fn name(self) -> &'static str {
        match self {
            Column::Account => "Account",
            Column::Cluster => "Cluster",
            Column::EffectvUsage => "EffectvUsage",
            Column::FairShare => "FairShare",
            Column::GrpTresMins => "GrpTRESMins",
            Column::GrpTresRaw => "GrpTRESRaw",
            Column::Id => "ID",
            Column::LevelFs => "LevelFS",
            Column::NormShares => "NormShares",
            Column::NormUsage => "NormUsage",
            Column::Partition => "Partition",
            Column::RawShares => "RawShares",
            Column::RawUsage => "RawUsage",
            Column::TresRunMins => "TRESRunMins",
            Column::User => "User",
            Column::Entitled => "Entitled",
            Column::Due => "Due",
            Column::UsedRatio => "UsedRatio",
        }
    }

    /// The width that the column has unless `%width` says otherwise; negative: flush left.
    pub const fn width(self) -> i32 {
        match self {
            Column::Account => -20,
            Column::EffectvUsage => 13,
            Column::GrpTresMins | Column::GrpTresRaw | Column::TresRunMins => 30,
            Column::Id => 6,
            Column::NormShares | Column::NormUsage | Column::RawUsage => 11,
            Column::Entitled | Column::Due => 14,
            Column::Partition => 12,
            Column::Cluster
            | Column::FairShare
            | Column::LevelFs
            | Column::RawShares
            | Column::UsedRatio
            | Column::User => 10,
        }
    }

    /// The columns whose heading is `word`: the whole name, or as much of it as fitted, of sshare's
    /// columns first of all.
    pub(super) fn of_heading(word: &str) -> Vec<Column> {
        let mut all = Column::ALL.into_iter().chain(Column::OWN);
        if let Some(column) = all.find(|column| column.name() == word) {
            return vec![column];
        }
        let begins = |column: &Column| column.name().starts_with(word);
        let found: Vec<Column> = Column::ALL.into_iter().filter(begins).collect();
        match found.is_empty() {
            true => Column::OWN.into_iter().filter(begins).collect(),
            false => found,
        }
    }

    /// The least width, in bytes, in which a table can be read back: its heading is that of no other
    /// column, and a fraction in exponent form (`1.5e+04`) fits.
    pub fn least_width(self) -> usize {
        let name = self.name();
        let ends = 1..=name.len();
        let heading = ends
            .clone()
            .find(|end| Column::of_heading(&name[..*end]) == [self]);
        let number = match self {
            Column::EffectvUsage
            | Column::FairShare
            | Column::LevelFs
            | Column::NormShares
            | Column::NormUsage
            | Column::Entitled
            | Column::Due
            | Column::UsedRatio => 8,
            Column::Account
            | Column::Cluster
            | Column::GrpTresMins
            | Column::GrpTresRaw
            | Column::Id
            | Column::Partition
            | Column::RawShares
            | Column::RawUsage
            | Column::TresRunMins
            | Column::User => 1,
        };
        heading.unwrap_or(name.len()).max(number)
    }

    /// The first column whose name begins with `prefix`, whatever the case; `None` for no text.
    pub fn by_prefix(prefix: &str) -> Option<Column> {
        let fits = |column: &Column| {
            let start = column.name().get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        let all = Column::ALL.into_iter().chain(Column::OWN);
        all.into_iter()
            .find(|column| !prefix.is_empty() && fits(column))
    }
}

/// A column with the width it is printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The column.
    pub column: Column,
    /// Bytes, not 0; negative: flush left.
    pub width: i32,
}

impl From<Column> for Field {
    fn from(column: Column) -> Field {
        let width = column.width();
        Field { column, width }
    }
}

/// Reason why an `-o` list was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// No column of this name.
    #[error("invalid field requested: {0:?}: allowed is the beginning of one of {names}", names = names())]
    Unknown(String),
    /// A width beyond [`MAX_WIDTH`].
    #[error("width of field {0:?}: allowed is 1 to {MAX_WIDTH}, or negative for flush left")]
    Width(String),
    /// No field at all.
    #[error("no field requested: allowed are the beginnings of {names}", names = names())]
    None,
}

/// The widest column that `%width` may ask for.
pub const MAX_WIDTH: i32 = 4096;

fn names() -> String {
    let all = Column::ALL.into_iter().chain(Column::OWN);
    all.map(Column::name).collect::<Vec<_>>().join(", ")
}

/// The columns of an `-o` list: beginnings of names, separated by commas, each with an optional
/// `%width` (negative: flush left).
///
/// As in sshare, the last of two equal entries counts, and a width belongs to the column in
/// whichever entry it is. Text after the digits of a width is ignored, a width of 0 changes
/// nothing.
///
/// # Errors
/// [`FieldError`], for an unknown column, a width out of bounds or an empty list.
pub fn parse_fields(list: &str) -> Result<Vec<Field>, FieldError> {
    let mut entries: Vec<String> = Vec::new();
    for entry in list.split(',').map(str::trim).filter(|e| !e.is_empty()) {
        let entry = entry.to_ascii_lowercase();
        entries.retain(|earlier| *earlier != entry);
        entries.push(entry);
    }
    let mut fields: Vec<Field> = Vec::with_capacity(entries.len());
    let mut widths: Vec<Field> = Vec::new();
    for entry in &entries {
        let (name, width) = match entry.split_once('%') {
            Some((name, width)) => (name, Some(width)),
            None => (entry.as_str(), None),
        };
        let column = Column::by_prefix(name).ok_or_else(|| FieldError::Unknown(name.into()))?;
        match width.map(|text| parse_width(text, entry)).transpose()? {
            None | Some(0) => {}
            Some(width) => widths.push(Field { column, width }),
        }
        fields.push(column.into());
    }
    for field in &mut fields {
        if let Some(last) = widths.iter().rfind(|w| w.column == field.column) {
            field.width = last.width;
        }
    }
    if fields.is_empty() {
        return Err(FieldError::None);
    }
    Ok(fields)
}

/// The number that `text` begins with, as C's `atoi` sees it; 0 for none.
fn parse_width(text: &str, entry: &str) -> Result<i32, FieldError> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    if end == 0 {
        return Ok(0);
    }
    match digits[..end].parse::<i32>() {
        Ok(width) if width <= MAX_WIDTH => Ok(if negative { -width } else { width }),
        _ => Err(FieldError::Width(entry.to_owned())),
    }
}

/// The columns that sshare prints without `-o`: `long` is `-l`, `partitions` is `-m`.
/// `claim`: the column that the ranking compares what was used with, if it does.
pub fn default_fields(
    long: bool,
    partitions: bool,
    fair_tree: bool,
    claim: Option<Column>,
) -> Vec<Field> {
    let mut columns = vec![Column::Account, Column::User];
    if partitions {
        columns.push(Column::Partition);
    }
    columns.extend([Column::RawShares, Column::NormShares, Column::RawUsage]);
    if long {
        columns.push(Column::NormUsage);
    }
    if let Some(claim) = claim {
        columns.extend([claim, Column::UsedRatio]);
    }
    columns.extend([Column::EffectvUsage, Column::FairShare]);
    if long {
        if fair_tree {
            columns.push(Column::LevelFs);
        }
        columns.extend([Column::GrpTresMins, Column::TresRunMins]);
    }
    columns.into_iter().map(Field::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(list: &str) -> Vec<(&'static str, i32)> {
        let fields = parse_fields(list).unwrap();
        fields.iter().map(|f| (f.column.name(), f.width)).collect()
    }

    // Expected: what sshare 22.05.8 prints for the same -o.
    #[test]
    fn prefixes_find_the_first_column_in_the_table() {
        assert_eq!(
            columns("A,user,Raw,Norm,Grp%40,eff,l"),
            [
                ("Account", -20),
                ("User", 10),
                ("RawShares", 10),
                ("NormShares", 11),
                ("GrpTRESMins", 40),
                ("EffectvUsage", 13),
                ("LevelFS", 10)
            ]
        );
    }

    #[test]
    fn widths_belong_to_the_column_and_zero_changes_nothing() {
        assert_eq!(
            columns("User%4,Account%0,user%-7x"),
            [("User", -7), ("Account", -20), ("User", -7)]
        );
        assert_eq!(columns("Account%30"), [("Account", 30)]);
    }

    #[test]
    fn a_repeated_entry_moves_to_its_last_place() {
        assert_eq!(
            columns("user,account,User,"),
            [("Account", -20), ("User", 10)]
        );
    }

    #[test]
    fn wrong_lists_are_errors() {
        assert_eq!(
            parse_fields("Account,Bogus"),
            Err(FieldError::Unknown("bogus".into()))
        );
        assert_eq!(parse_fields(" , "), Err(FieldError::None));
        assert_eq!(
            parse_fields("User%99999999999"),
            Err(FieldError::Width("user%99999999999".into()))
        );
        assert!(parse_fields("mø").is_err());
    }
}
