//! Output of Slurm's commands as rows of named fields.

use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// Rows of named fields; every field is the printed text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    fields: Vec<(String, String)>,
}

impl Table {
    /// Parses text with a header line and `|` between fields (`-P` of most commands).
    pub fn parse(text: &str) -> Result<Table> {
        let (header, rows) = text.split_once('\n').context("a header line")?;
        Table::with_header(header.split('|'), rows)
    }

    /// Parses rows of `|`-separated fields under the names of `header`.
    ///
    /// Blanks before a field are kept (sshare uses them to show depth), blanks after it are not.
    pub fn with_header<'a>(header: impl IntoIterator<Item = &'a str>, text: &str) -> Result<Table> {
        let header: Vec<&str> = header.into_iter().collect();
        let mut rows = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let values: Vec<&str> = line.split('|').collect();
            if values.len() != header.len() {
                bail!(
                    "{} fields expected ({}): `{line}`",
                    header.len(),
                    header.join(", ")
                );
            }
            let fields = header
                .iter()
                .zip(values)
                .map(|(name, value)| ((*name).to_owned(), value.trim_end().to_owned()))
                .collect();
            rows.push(Row { fields });
        }
        Ok(Table { rows })
    }

    /// Parses lines of `Key=value Key=value`; a value ends before the next ` Key=`.
    pub fn parse_pairs(text: &str) -> Table {
        let rows = text
            .lines()
            .filter(|line| line.contains('='))
            .map(|line| {
                let mut row = Row::default();
                for word in line.split(' ') {
                    match (word.split_once('='), row.fields.last_mut()) {
                        (Some((key, value)), _) => {
                            row.fields.push((key.to_owned(), value.to_owned()));
                        }
                        (None, Some((_, value))) if !word.is_empty() => {
                            value.push(' ');
                            value.push_str(word);
                        }
                        _ => {}
                    }
                }
                row
            })
            .collect();
        Table { rows }
    }

    /// The rows, in printed order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first row whose field `name` is `value`, ignoring blanks.
    pub fn find(&self, name: &str, value: &str) -> Result<&Row> {
        self.rows
            .iter()
            .find(|row| row.text(name).is_ok_and(|text| text.trim() == value))
            .with_context(|| format!("no row with {name}={value}"))
    }
}

impl Row {
    /// A field's text.
    pub fn text(&self, name: &str) -> Result<&str> {
        self.fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .with_context(|| format!("no field {name} in {:?}", self.fields))
    }

    /// A field as a number (or any other type that is parsed from text).
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let text = self.text(name)?.trim();
        text.parse().with_context(|| format!("{name} is `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_kept_in_the_account_column() {
        let table = Table::parse("Account|User|RawUsage\nroot||7\n a|bob|3\n").unwrap();
        assert_eq!(table.rows()[1].text("Account").unwrap(), " a");
        let row = table.find("Account", "a").unwrap();
        assert_eq!(row.get::<u64>("RawUsage").unwrap(), 3);
        assert!(row.get::<u64>("User").is_err());
        assert!(table.find("User", "eve").is_err());
    }

    #[test]
    fn a_row_of_another_width_is_refused() {
        assert!(Table::parse("A|B\n1|2|3\n").is_err());
    }

    #[test]
    fn pairs_may_hold_blanks_and_equal_signs() {
        let text = "JobId=7 JobName=my job Nice=0 TRES=cpu=2,node=1 Command=(null)\n";
        let table = Table::parse_pairs(text);
        let row = &table.rows()[0];
        assert_eq!(row.text("JobName").unwrap(), "my job");
        assert_eq!(row.text("TRES").unwrap(), "cpu=2,node=1");
        assert_eq!(row.get::<i32>("Nice").unwrap(), 0);
    }
}
