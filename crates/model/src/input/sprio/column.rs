//! The columns of sprio: letters, headings, and the `-o` format.

pub use fairtree::priority::Factor;
use fairtree::priority::Term;

/// A number in points of priority, or as a share of its largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Points: capital letters.
    Weighted,
    /// Divided by the weight: small letters.
    Normalised,
}

/// A column of sprio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// `%i`
    JobId,
    /// `%r`
    Partition,
    /// `%c`
    Cluster,
    /// `%u`
    User,
    /// `%o`, from 24.05 on.
    Account,
    /// `%n`, from 24.05 on.
    QosName,
    /// `%s`, from 26.05 on.
    Sluid,
    /// `%S`
    Site,
    /// `%N`
    Nice,
    /// `%Y`, `%y`
    Priority(Form),
    /// `%A`, `%a`, `%B`, `%b`, `%F`, `%f`, `%J`, `%j`, `%P`, `%p`, `%Q`, `%q`, `%T`, `%t`
    Factor(Factor, Form),
}

impl Column {
    /// Every column with its letter, in the order of sprio's manual page.
    pub const ALL: [(char, Column); 25] = [
        ('a', Column::Factor(Factor::Age, Form::Normalised)),
        ('A', Column::Factor(Factor::Age, Form::Weighted)),
        ('b', Column::Factor(Factor::Assoc, Form::Normalised)),
        ('B', Column::Factor(Factor::Assoc, Form::Weighted)),
        ('c', Column::Cluster),
        ('f', Column::Factor(Factor::Fairshare, Form::Normalised)),
        ('F', Column::Factor(Factor::Fairshare, Form::Weighted)),
        ('i', Column::JobId),
        ('j', Column::Factor(Factor::JobSize, Form::Normalised)),
        ('J', Column::Factor(Factor::JobSize, Form::Weighted)),
        ('n', Column::QosName),
        ('N', Column::Nice),
        ('o', Column::Account),
        ('p', Column::Factor(Factor::Partition, Form::Normalised)),
        ('P', Column::Factor(Factor::Partition, Form::Weighted)),
        ('r', Column::Partition),
        ('s', Column::Sluid),
        ('S', Column::Site),
        ('q', Column::Factor(Factor::Qos, Form::Normalised)),
        ('Q', Column::Factor(Factor::Qos, Form::Weighted)),
        ('u', Column::User),
        ('y', Column::Priority(Form::Normalised)),
        ('Y', Column::Priority(Form::Weighted)),
        ('t', Column::Factor(Factor::Tres, Form::Normalised)),
        ('T', Column::Factor(Factor::Tres, Form::Weighted)),
    ];

    /// The heading.
    pub const fn name(self) -> &'static str {
        match self {
            Column::JobId => "JOBID",
            Column::Partition => "PARTITION",
            Column::Cluster => "CLUSTER",
            Column::User => "USER",
            Column::Account => "ACCOUNT",
            Column::QosName => "QOSNAME",
            Column::Sluid => "SLUID",
            Column::Site => Term::Site.heading(),
            Column::Nice => Term::Nice.heading(),
            Column::Priority(_) => "PRIORITY",
            Column::Factor(factor, _) => factor.heading(),
        }
    }

    /// The column of a letter.
    pub fn of_letter(letter: char) -> Option<Column> {
        let mut known = Column::ALL.into_iter();
        known.find(|(known, _)| *known == letter).map(|(_, c)| c)
    }
}

/// A column with the way it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The column.
    pub column: Column,
    /// Bytes; 0: as long as the value.
    pub width: usize,
    /// Flush right.
    pub right: bool,
    /// Text printed after it.
    pub suffix: String,
}

/// An `-o` format: what one line is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFormat {
    /// Text at the beginning of every line.
    pub prefix: String,
    /// The columns.
    pub fields: Vec<Field>,
}

/// Reason why an `-o` format was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// `%` and a width without a letter of sprio's.
    #[error(
        "format {0:?} is of no column: allowed are % and one of a A b B c f F i j J n N o p P r s S q Q u y Y t T, with .WIDTH or WIDTH between, as %.10Y"
    )]
    Letter(String),
    /// A width beyond [`MAX_WIDTH`].
    #[error("width of {0:?}: allowed is 0 to {MAX_WIDTH}")]
    Width(String),
    /// No column at all.
    #[error("a format without a column: allowed is for instance \"%.15i %9r %.10Y\"")]
    None,
}

/// The widest column that a format may ask for.
pub const MAX_WIDTH: usize = 4096;

impl LineFormat {
    /// Reads an `-o` format: text, then per column `%`, a `.` for flush right, a width, a letter,
    /// text. As in sprio a `%` cannot be printed.
    ///
    /// # Errors
    /// [`FormatError`], for letters that sprio does not have (it would print a message and
    /// continue), widths out of bounds, and a format without columns.
    pub fn parse(text: &str) -> Result<LineFormat, FormatError> {
        let (prefix, columns) = match text.find('%') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let tokens = columns.split('%').filter(|token| !token.is_empty());
        let fields: Vec<Field> = tokens.map(field).collect::<Result<_, _>>()?;
        if fields.is_empty() {
            return Err(FormatError::None);
        }
        Ok(LineFormat {
            prefix: prefix.to_owned(),
            fields,
        })
    }

    /// Returns true if a column is among them.
    pub fn has(&self, column: Column) -> bool {
        self.fields.iter().any(|field| field.column == column)
    }
}

fn field(token: &str) -> Result<Field, FormatError> {
    let (right, rest) = match token.strip_prefix('.') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (width, rest) = rest.split_at(digits);
    let width = match width {
        "" => Some(0),
        digits => digits.parse().ok().filter(|&width| width <= MAX_WIDTH),
    };
    let shown = || format!("%{token}");
    let mut rest = rest.chars();
    let letter = rest.next();
    Ok(Field {
        column: letter
            .and_then(Column::of_letter)
            .ok_or_else(|| FormatError::Letter(shown()))?,
        width: width.ok_or_else(|| FormatError::Width(shown()))?,
        right,
        suffix: rest.as_str().to_owned(),
    })
}

/// Facts that sprio's columns depend on if no format is given.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// `-l`.
    pub long: bool,
    /// `-n`.
    pub normalised: bool,
    /// `-u` was given: the user is shown.
    pub user: bool,
    /// `-l` shows account and QOS, as from 24.05 on.
    pub names: bool,
    /// True for factors that have a weight, by [`Factor::index`]: the others are shown with `-l`
    /// only.
    pub weighted: [bool; 7],
}

impl Defaults {
    /// The columns that sprio prints without `-o`.
    pub fn format(&self) -> LineFormat {
        let mut text = String::from("%.15i %9r");
        if self.long || self.user {
            text.push_str(" %.8u");
        }
        if self.long && self.names {
            text.push_str(" %.8o");
        }
        text.push_str(if self.normalised {
            " %10y"
        } else {
            " %.10Y %.10S"
        });
        for factor in Factor::ALL {
            if !self.long && !self.weighted[factor.index()] {
                continue;
            }
            if self.long && self.names && factor == Factor::Qos {
                text.push_str(if self.normalised { " %10n" } else { " %.10n" });
            }
            // -l without -n shows the nice value before the resources.
            if self.long && !self.normalised && factor == Factor::Tres {
                text.push_str(" %.11N");
            }
            let width = if factor == Factor::Tres { 20 } else { 10 };
            let letter = factor.letter();
            if self.normalised {
                text.push_str(&format!(" %{width}{}", letter.to_ascii_lowercase()));
            } else {
                text.push_str(&format!(" %.{width}{letter}"));
            }
        }
        LineFormat::parse(&text).expect("sprio's own formats are whole")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(names: bool, normalised: bool) -> LineFormat {
        Defaults {
            long: true,
            normalised,
            user: false,
            names,
            weighted: [false; 7],
        }
        .format()
    }

    // Expected: the formats in the manual page of sprio 22.05 and 24.11, option --long and --norm.
    #[test]
    fn the_long_formats_are_those_of_the_releases() {
        let parse = |text| LineFormat::parse(text).unwrap();
        assert_eq!(
            long(false, false),
            parse("%.15i %9r %.8u %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10Q %.11N %.20T")
        );
        assert_eq!(
            long(true, false),
            parse(
                "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q \
                 %.11N %.20T"
            )
        );
        assert_eq!(
            long(false, true),
            parse("%.15i %9r %.8u %10y %10a %10b %10f %10j %10p %10q %20t")
        );
        assert_eq!(
            long(true, true),
            parse("%.15i %9r %.8u %.8o %10y %10a %10b %10f %10j %10p %10n %10q %20t")
        );
    }

    #[test]
    fn a_format_has_prefix_widths_and_suffixes() {
        let format = LineFormat::parse("job %i: %.7Y|%5u").unwrap();
        assert_eq!(format.prefix, "job ");
        let field = |column, width, right, suffix: &str| Field {
            column,
            width,
            right,
            suffix: suffix.into(),
        };
        assert_eq!(
            format.fields,
            [
                field(Column::JobId, 0, false, ": "),
                field(Column::Priority(Form::Weighted), 7, true, "|"),
                field(Column::User, 5, false, ""),
            ]
        );
    }

    #[test]
    fn wrong_formats_are_errors() {
        assert_eq!(LineFormat::parse("plain"), Err(FormatError::None));
        assert_eq!(
            LineFormat::parse("%i %.5x"),
            Err(FormatError::Letter("%.5x".into()))
        );
        assert_eq!(
            LineFormat::parse("%.5"),
            Err(FormatError::Letter("%.5".into()))
        );
        assert_eq!(
            LineFormat::parse("%99999i"),
            Err(FormatError::Width("%99999i".into()))
        );
    }
}
