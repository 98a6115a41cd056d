//! The database: plans, what became of them, changes of shares that others made, courses over time, and waits and
//! owed core-hours of each day.
//!
//! One process writes it, on a local disk. A change is one transaction: after a kill or a full disk the
//! database has it whole or not at all. Pages read by connections of their own, which do not wait for the one that
//! writes.

mod courses;
mod days;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use courses::{Earlier, Over};
pub use days::{Day, Group};
use fairtree_analysis::plan::{Outcome, Plan, State};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};
use serde::Serialize;

/// At most this many plans and changes are listed, the latest ones.
const LISTED: u32 = 1000;

/// A change that slurmdbd reports within this time of one of a plan is the same one, seconds.
const SAME_SECS: i64 = 120;

/// At most this many connections that read are kept; more are closed after their question.
const READERS: usize = 16;

/// Reason why something is not stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite.
    #[error("the database: {0}")]
    Sql(#[from] rusqlite::Error),
    /// A database of a later version.
    #[error(
        "the database has schema {found}; this version of fairtree-serve knows schemas up to {known}: install the version that wrote it"
    )]
    Later {
        /// Its schema.
        found: i64,
        /// The latest one that is known.
        known: i64,
    },
    /// A file system without locks that work.
    #[error("{0}: a database on NFS can be damaged; allowed is a folder on a local disk")]
    Nfs(String),
    /// A plan in it cannot be read.
    #[error("the database: {0}")]
    Plan(String),
}

/// A change of the shares of one association.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// When, seconds since 1970.
    pub time: i64,
    /// Who.
    pub actor: String,
    /// The association, by its name in reports.
    pub name: String,
    /// Shares before: a number, or `parent`; `None`: not known.
    pub before: Option<String>,
    /// Shares after.
    pub after: String,
    /// `applied`, `partly`, `failed`, `refused`; `outside`: it was made without a plan.
    pub outcome: String,
    /// The plan.
    pub plan: Option<String>,
}

/// The database.
#[derive(Debug)]
pub struct Store {
    /// Connections that read and that nobody uses. They close before the one that writes, whose close copies the
    /// write-ahead log into the file.
    idle: Mutex<Vec<Connection>>,
    connection: Mutex<Connection>,
    /// The file; `None`: in memory, where one connection writes and reads.
    path: Option<PathBuf>,
}

impl Store {
    /// Opens a database, or makes it; one of an earlier schema is changed into one of this.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if schema::is_on_nfs(path) {
            return Err(StoreError::Nfs(path.display().to_string()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut store = Store::of(Connection::open_with_flags(path, flags)?)?;
        store.path = Some(path.to_owned());
        Ok(store)
    }

    /// A database that ends with the process.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::of(Connection::open_in_memory()?)
    }

    fn of(mut connection: Connection) -> Result<Store, StoreError> {
        schema::bring_up(&mut connection)?;
        Ok(Store {
            idle: Mutex::default(),
            connection: Mutex::new(connection),
            path: None,
        })
    }

    /// Answers a question from the last finished transaction, without waiting for one that is being written.
    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(path) = &self.path else {
            return question(&self.held());
        };
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => schema::reader(path)?,
        };
        let answer = question(&connection);
        let mut idle = idle();
        if idle.len() < READERS {
            idle.push(connection);
        }
        answer
    }

    fn held(&self) -> MutexGuard<'_, Connection> {
        // SQLite takes back a transaction that a panic left open.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a plan under the next number, and returns that.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn keep(&self, plan: &Plan) -> Result<String, StoreError> {
        let mut held = self.held();
        let change = held.transaction()?;
        change.execute("INSERT INTO plan (document) VALUES ('')", [])?;
        let id = change.last_insert_rowid().to_string();
        let plan = Plan {
            id: id.clone(),
            ..plan.clone()
        };
        write(&change, &plan)?;
        change.commit()?;
        Ok(id)
    }

    /// A plan; `None`: no plan has this number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn plan(&self, id: &str) -> Result<Option<Plan>, StoreError> {
        let Ok(id) = id.parse::<i64>() else {
            return Ok(None);
        };
        let held = self.held();
        let found = held.query_row("SELECT document FROM plan WHERE id = ?1", [id], |row| {
            row.get::<_, String>(0)
        });
        found.optional()?.map(|text| read(&text)).transpose()
    }

    /// The latest plans, the last one first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn plans(&self) -> Result<Vec<Plan>, StoreError> {
        let held = self.held();
        let mut rows = held.prepare("SELECT document FROM plan ORDER BY id DESC LIMIT ?1")?;
        let texts = rows.query_map([LISTED], |row| row.get::<_, String>(0))?;
        texts.map(|text| read(&text?)).collect()
    }

    /// Keeps what became of a plan; returns false where it was applied before, and keeps nothing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn became(&self, plan: &Plan, outcome: &Outcome) -> Result<bool, StoreError> {
        let mut held = self.held();
        let change = held.transaction()?;
        let Ok(id) = plan.id.parse::<i64>() else {
            return Ok(false);
        };
        let kept = change.query_row("SELECT document FROM plan WHERE id = ?1", [id], |row| {
            row.get::<_, String>(0)
        });
        let Some(kept) = kept.optional()? else {
            return Ok(false);
        };
        let mut kept = read(&kept)?;
        let over = |outcome: &Outcome| matches!(outcome.state, State::Applied | State::Partly);
        if kept.outcome.as_ref().is_some_and(over) {
            return Ok(false);
        }
        kept.outcome = Some(outcome.clone());
        write(&change, &kept)?;
        for (at, one) in kept.shares.iter().enumerate() {
            let done = outcome.done.contains(&at);
            let state = match outcome.state {
                State::Partly if done => State::Applied,
                State::Partly => State::Failed,
                state => state,
            };
            if done {
                change.execute(
                    "DELETE FROM change WHERE plan IS NULL AND actor = ?1 AND name = ?2 AND after = ?3 \
                     AND abs(time - ?4) <= ?5",
                    params![outcome.user, one.name, one.after, outcome.time, SAME_SECS],
                )?;
            }
            let recorded = Recorded {
                time: outcome.time,
                actor: outcome.user.clone(),
                name: one.name.clone(),
                before: Some(one.before.clone()),
                after: one.after.clone(),
                outcome: state.name().to_owned(),
                plan: Some(kept.id.clone()),
            };
            insert(&change, &recorded)?;
        }
        change.commit()?;
        Ok(true)
    }

    /// Keeps changes that slurmdbd reports; returns those that are neither known nor of a plan.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn outside(&self, changes: &[Recorded]) -> Result<Vec<Recorded>, StoreError> {
        let mut held = self.held();
        let change = held.transaction()?;
        let mut new = Vec::new();
        for recorded in changes {
            let of_plan: bool = change.query_row(
                "SELECT EXISTS (SELECT 1 FROM change WHERE plan IS NOT NULL AND actor = ?1 AND name = ?2 \
                 AND after = ?3 AND outcome = 'applied' AND abs(time - ?4) <= ?5)",
                params![
                    recorded.actor,
                    recorded.name,
                    recorded.after,
                    recorded.time,
                    SAME_SECS
                ],
                |row| row.get(0),
            )?;
            if !of_plan && insert(&change, recorded)? {
                new.push(recorded.clone());
            }
        }
        change.commit()?;
        Ok(new)
    }

    /// The latest changes, the last one first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn changes(&self) -> Result<Vec<Recorded>, StoreError> {
        let held = self.held();
        let mut rows = held.prepare(
            "SELECT time, actor, name, before, after, outcome, plan FROM change ORDER BY time DESC, id DESC \
             LIMIT ?1",
        )?;
        let found = rows.query_map([LISTED], |row| {
            Ok(Recorded {
                time: row.get(0)?,
                actor: row.get(1)?,
                name: row.get(2)?,
                before: row.get(3)?,
                after: row.get(4)?,
                outcome: row.get(5)?,
                plan: row.get::<_, Option<i64>>(6)?.map(|id| id.to_string()),
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// The time of the latest change that slurmdbd reported; `None`: it has reported none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last_outside(&self) -> Result<Option<i64>, StoreError> {
        let held = self.held();
        let sql = "SELECT max(time) FROM change WHERE plan IS NULL";
        Ok(held.query_row(sql, [], |row| row.get(0))?)
    }
}

fn read(text: &str) -> Result<Plan, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Plan(format!("a plan: {error}")))
}

fn write(change: &Transaction<'_>, plan: &Plan) -> Result<(), StoreError> {
    let text = serde_json::to_string(plan);
    let text = text.map_err(|error| StoreError::Plan(format!("a plan: {error}")))?;
    let sql = "UPDATE plan SET document = ?1 WHERE id = ?2";
    change.execute(sql, params![text, plan.id.parse::<i64>().ok()])?;
    Ok(())
}

/// Returns true if the change was not there yet.
fn insert(change: &Transaction<'_>, recorded: &Recorded) -> Result<bool, StoreError> {
    let plan = recorded.plan.as_ref().and_then(|id| id.parse::<i64>().ok());
    let inserted = change.execute(
        "INSERT OR IGNORE INTO change (time, actor, name, before, after, outcome, plan) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            recorded.time,
            recorded.actor,
            recorded.name,
            recorded.before,
            recorded.after,
            recorded.outcome,
            plan
        ],
    )?;
    Ok(inserted > 0)
}

#[cfg(test)]
mod tests;
