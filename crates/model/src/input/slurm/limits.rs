//! Limits of associations and QOS, as sacctmgr prints them.

use super::table::{Table, TableRow};
use super::{count, time};
use crate::input::error::InputError;
use fairtree::priority::TimeLimit;

/// A column of sacctmgr that holds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number of jobs.
    Jobs,
    /// A count per resource.
    Tres,
    /// A time.
    Time,
}

/// The columns by the names that sacctmgr prints in its header (`src/sacctmgr/common.c`).
const COLUMNS: [(&str, Kind); 16] = [
    ("GrpJobs", Kind::Jobs),
    ("GrpSubmit", Kind::Jobs),
    ("GrpTRES", Kind::Tres),
    ("GrpTRESMins", Kind::Tres),
    ("GrpTRESRunMins", Kind::Tres),
    ("GrpWall", Kind::Time),
    ("MaxJobs", Kind::Jobs),
    ("MaxJobsPA", Kind::Jobs),
    ("MaxJobsPU", Kind::Jobs),
    ("MaxSubmit", Kind::Jobs),
    ("MaxSubmitPA", Kind::Jobs),
    ("MaxSubmitPU", Kind::Jobs),
    ("MaxTRES", Kind::Tres),
    ("MaxTRESPA", Kind::Tres),
    ("MaxTRESPU", Kind::Tres),
    ("MaxWall", Kind::Time),
];

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// sacctmgr's column, as `GrpTRES`.
    pub column: &'static str,
    /// The resource that it limits; `None`: jobs or time.
    pub tres: Option<String>,
    /// The most that is allowed: jobs, a count (memory in megabytes), minutes.
    pub most: u64,
}

/// The limits that a row of sacctmgr sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub Vec<Limit>);

impl Limits {
    /// The most that a column allows, of a resource where it is one of resources.
    pub fn most(&self, column: &str, tres: Option<&str>) -> Option<u64> {
        let fits = |limit: &&Limit| limit.column == column && limit.tres.as_deref() == tres;
        self.0.iter().find(fits).map(|limit| limit.most)
    }
}

/// Positions of the columns of limits in a table; those that are not there are left out.
pub(super) struct LimitColumns(Vec<(usize, &'static str, Kind)>);

impl LimitColumns {
    pub(super) fn of(table: &Table<'_>) -> LimitColumns {
        let columns = COLUMNS.into_iter();
        let found = columns.filter_map(|(name, kind)| Some((table.optional(name)?, name, kind)));
        LimitColumns(found.collect())
    }

    /// The limits of a row; `None` where it sets none.
    ///
    /// # Errors
    /// A cell that is not a limit.
    pub(super) fn read(
        &self,
        table: &Table<'_>,
        row: &TableRow<'_>,
    ) -> Result<Option<Box<Limits>>, InputError> {
        let mut limits = Limits::default();
        for &(at, column, kind) in &self.0 {
            let Some(text) = row.said(Some(at)) else {
                continue;
            };
            let mut add = |tres, most| limits.0.push(Limit { column, tres, most });
            match kind {
                Kind::Jobs => add(None, table.number(row, at, "a whole number of jobs")?),
                Kind::Tres => {
                    let allowed = "resources as cpu=16,mem=4000M";
                    let tres = count::tres(text).ok_or_else(|| table.value(row, at, allowed))?;
                    for (name, most) in tres {
                        add(Some(name), most);
                    }
                }
                Kind::Time => match time::limit(text) {
                    Some(TimeLimit::Minutes(minutes)) => add(None, u64::from(minutes)),
                    Some(TimeLimit::Unlimited | TimeLimit::Unset) => {}
                    None => return Err(table.value(row, at, "a time as 1-00:00:00")),
                },
            }
        }
        Ok((!limits.0.is_empty()).then(|| Box::new(limits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::left_out::LeftOut;

    // The header and the cells: sacctmgr 22.05.8 -P.
    #[test]
    fn jobs_resources_and_times() {
        let text =
            "Name|GrpJobs|GrpTRES|MaxWall\nnormal|4|cpu=8,mem=2G|1-00:00:00\nfree|||\nodd|x||\n";
        let table = Table::parse("f", text, &mut LeftOut::default()).unwrap();
        let columns = LimitColumns::of(&table);
        let limits = columns.read(&table, &table.rows[0]).unwrap().unwrap();
        assert_eq!(limits.most("GrpJobs", None), Some(4));
        assert_eq!(limits.most("GrpTRES", Some("mem")), Some(2048));
        assert_eq!(limits.most("GrpTRES", None), None);
        assert_eq!(limits.most("MaxWall", None), Some(1440));
        assert_eq!(columns.read(&table, &table.rows[1]).unwrap(), None);
        let error = columns.read(&table, &table.rows[2]).unwrap_err();
        assert!(error.to_string().contains("GrpJobs \"x\""), "{error}");
    }
}
