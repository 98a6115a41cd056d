//! The tables, and the way from each earlier schema to the present one.

use std::path::Path;
use std::time::Duration;

use nix::sys::statfs::{NFS_SUPER_MAGIC, statfs};
use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The statements that lead from each schema to the next; schema 0 is an empty file. `PRAGMA user_version` has
/// the number of the schema. `tests/schemas` has a database of each.
pub(super) const STEPS: [&str; 4] = [
    "
CREATE TABLE plan (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL
);
CREATE TABLE change (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    name TEXT NOT NULL,
    before TEXT,
    after TEXT NOT NULL,
    outcome TEXT NOT NULL,
    plan INTEGER REFERENCES plan (id)
);
CREATE UNIQUE INDEX change_from_outside ON change (time, actor, name, after) WHERE plan IS NULL;
CREATE INDEX change_by_time ON change (time);
",
    "
CREATE TABLE assoc (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    user TEXT NOT NULL,
    partition TEXT NOT NULL,
    UNIQUE (account, user, partition)
);
CREATE TABLE course (
    assoc INTEGER NOT NULL REFERENCES assoc (id),
    time INTEGER NOT NULL,
    norm_shares REAL,
    effective_usage REAL,
    used REAL NOT NULL,
    fs_factor REAL,
    PRIMARY KEY (assoc, time)
) WITHOUT ROWID;
CREATE INDEX course_by_time ON course (time);
",
    // 1: computed from the jobs that sacct listed; 0: of a picture.
    "
ALTER TABLE course ADD COLUMN from_sacct INTEGER NOT NULL DEFAULT 0;
",
    // kind: site, account or user; waits in seconds.
    "
CREATE TABLE day (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    day INTEGER NOT NULL,
    started_jobs INTEGER NOT NULL,
    median_wait REAL,
    p95_wait REAL,
    owed_core_hours REAL,
    PRIMARY KEY (kind, name, day)
) WITHOUT ROWID;
",
];

/// How long a statement waits for another process, as for a backup.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sets a connection up, and brings the database to the present schema.
pub(super) fn bring_up(connection: &mut Connection) -> Result<(), StoreError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let change = connection.transaction()?;
    let found: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = STEPS.len() as i64;
    let Some(steps) = usize::try_from(found)
        .ok()
        .and_then(|found| STEPS.get(found..))
    else {
        return Err(StoreError::Later { found, known });
    };
    for step in steps {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "user_version", known)?;
    change.commit()?;
    Ok(())
}

/// A connection that only reads a database of the present schema.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Returns true if a file is, or would be, on NFS, whose locks SQLite cannot rely on.
pub(super) fn is_on_nfs(path: &Path) -> bool {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let about = statfs(folder.unwrap_or(Path::new(".")));
    about.is_ok_and(|about| about.filesystem_type() == NFS_SUPER_MAGIC)
}
