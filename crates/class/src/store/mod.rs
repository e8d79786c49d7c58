//! Everything that is kept, in SQLite or in PostgreSQL: one program for both.
//!
//! | module | contents |
//! | --- | --- |
//! | `schema` | the tables |
//! | `people` | students, links, sessions, attempts to sign in |
//! | `work` | drafts, hints, answers to questions |
//! | `runs` | runs and their verdicts: for a student's pages |
//! | `queue` | jobs and their leases: for workers |
//! | `class` | all students together: for the teacher's pages |
//!
//! SQL is fixed text with parameters, never made of anything that a user has sent: `sqlx` takes
//! nothing else. Both databases understand it, but for which rows are locked.
//! SQLite locks all of itself for a transaction that writes (`BEGIN IMMEDIATE`).
//!
//! Times are the caller's, in milliseconds, so that a test needs no clock. Workers on several
//! machines ask the database for the time ([`Store::now`]): their own clocks may differ.

mod class;
mod people;
mod queue;
mod runs;
mod schema;
mod work;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::{Any, AnyPool, Connection as _, Row as _, Transaction};

pub use self::class::{Cell, Counted, RunOfExercise};
pub use self::people::{Student, Who};
pub use self::queue::{Done, FAILED, Job, Lease};
pub use self::runs::{Last, NewRun, Position, Run, State, Verdict};
pub use self::work::{Answer, Draft, Saved};

use crate::Millis;
use crate::error::{Error, Result};

/// How long a writer waits for others, in SQLite.
const PATIENCE: &str = "PRAGMA busy_timeout = 20000";

/// How often a change is tried that loses against others, and how much longer each pause is.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(10);

/// How many connections one process has.
const CONNECTIONS: u32 = 8;

/// How long to wait for a connection.
const WAIT: Duration = Duration::from_secs(30);

/// The database of a class. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Store {
    pool: AnyPool,
    dialect: Dialect,
}

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    Postgres,
}

/// A transaction. It is rolled back unless it is committed.
type Change = Transaction<'static, Any>;

impl Store {
    /// Opens the database at an address, `sqlite:FILE` or `postgres://USER@HOST/NAME`. A missing file
    /// is created, and only its owner may read it.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it cannot be opened, or another version has made it.
    pub async fn open(address: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let problem = |why: String| Error::Usage(format!("the database {}: {why}", shown(address)));
        let dialect = match address.split_once(':') {
            Some(("sqlite", _)) => Dialect::Sqlite,
            Some(("postgres" | "postgresql", _)) => Dialect::Postgres,
            _ => return Err(problem("write sqlite:FILE or postgres://USER@HOST/NAME".to_owned())),
        };
        if let Some(file) = file(address) {
            keep_private(&file).map_err(|error| problem(error.to_string()))?;
        }
        let options: AnyConnectOptions = address.parse().map_err(|error: sqlx::Error| problem(error.to_string()))?;
        // The pool would try for long to reach a server that is not there.
        let first = sqlx::AnyConnection::connect_with(&options).await.map_err(|error| problem(error.to_string()))?;
        first.close().await.map_err(|error| problem(error.to_string()))?;
        let pool = AnyPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(WAIT);
        let pool = pool.after_connect(move |connection, _| Box::pin(dialect.prepare(connection)));
        let pool = pool.connect_with(options).await.map_err(|error| problem(error.to_string()))?;
        let store = Self { pool, dialect };
        store.make_tables().await.map_err(|error| problem(error.to_string()))?;
        Ok(store)
    }

    /// The database's time.
    ///
    /// # Errors
    ///
    /// [`Error::Database`], as of all that follows here.
    pub async fn now(&self) -> Result<Millis> {
        let query = match self.dialect {
            Dialect::Sqlite => "SELECT CAST((julianday('now') - 2440587.5) * 86400000.0 AS BIGINT)",
            Dialect::Postgres => "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        };
        number(&sqlx::query(query).fetch_one(&self.pool).await?, 0)
    }

    /// Closes the connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Begins a transaction that writes.
    async fn change(&self) -> Result<Change> {
        Ok(match self.dialect {
            Dialect::Sqlite => self.pool.begin_with("BEGIN IMMEDIATE").await?,
            Dialect::Postgres => self.pool.begin().await?,
        })
    }
}

impl Dialect {
    /// Prepares a connection.
    async fn prepare(self, connection: &mut sqlx::AnyConnection) -> std::result::Result<(), sqlx::Error> {
        let commands: &[&'static str] = match self {
            // What is committed stays when the power fails, too.
            // What is deleted is overwritten.
            Self::Sqlite => &[
                PATIENCE,
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = FULL",
                "PRAGMA foreign_keys = ON",
                "PRAGMA secure_delete = ON",
            ],
            Self::Postgres => &["SET client_min_messages = warning"],
        };
        for &command in commands {
            sqlx::query(command).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

/// Whether an error says that another change came in between: a deadlock, or a key that is gone.
fn is_lost(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    error.is_foreign_key_violation() || matches!(error.code().as_deref(), Some("40001" | "40P01"))
}

/// Counts how often a change was tried.
#[derive(Default)]
struct Tries(u32);

impl Tries {
    /// Whether to try once more, after a pause: the change has lost against another one, which changed the
    /// same, or deleted what it refers to. In SQLite one waits for the other.
    async fn again<T>(&mut self, done: &Result<T>) -> bool {
        self.0 += 1;
        let again = self.0 < TRIES && matches!(done, Err(Error::Database(error)) if is_lost(error));
        if again {
            tokio::time::sleep(PAUSE * self.0).await;
        }
        again
    }
}

/// The file of a database of SQLite.
pub fn file(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest).split('?').next().unwrap_or_default();
    (!path.is_empty() && !path.starts_with(":memory:")).then(|| PathBuf::from(path))
}

/// An address as it may be shown: without a password.
pub fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once(':').filter(|(scheme, _)| *scheme != "sqlite") else {
        return address.to_owned();
    };
    let (slashes, rest) = rest.strip_prefix("//").map_or(("", rest), |rest| ("//", rest));
    let before = |text: &str, marks: &[char]| text.split(marks).next().unwrap_or_default().to_owned();
    let rest = match rest.rsplit_once('@') {
        // A password with a question mark, or a parameter with an at sign: what follows may be either.
        Some((user, _)) if user.contains('?') => format!("{}...", before(user, &[':', '/', '?', '#'])),
        Some((user, place)) => format!("{}@{}", before(user, &[':', '/', '#']), before(place, &['?'])),
        None => before(rest, &['?']),
    };
    format!("{scheme}:{slashes}{rest}")
}

/// Creates the file if it is missing, and lets only its owner read it. SQLite gives its other files
/// the same permissions.
fn keep_private(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let opened = options.mode(0o600).open(file)?;
        opened.set_permissions(std::fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    options.open(file).map(drop)
}

/// A column with a number.
fn number(row: &AnyRow, column: usize) -> Result<i64> {
    Ok(row.try_get(column)?)
}

/// A column with a number or nothing.
fn maybe_number(row: &AnyRow, column: usize) -> Result<Option<i64>> {
    Ok(row.try_get(column)?)
}

/// A column with a text.
fn text(row: &AnyRow, column: usize) -> Result<String> {
    Ok(row.try_get(column)?)
}

/// A column with a text or nothing.
fn maybe_text(row: &AnyRow, column: usize) -> Result<Option<String>> {
    Ok(row.try_get(column)?)
}

/// What is read of all rows.
fn each<T>(rows: Vec<AnyRow>, read: impl Fn(&AnyRow) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("postgres://anna:s3cr37@db:5432/class?password=x"), "postgres://anna@db:5432/class");
        assert_eq!(shown("postgres:///class?host=/run&password=x"), "postgres:///class");
        assert_eq!(shown("postgres://a:b@c@db/class"), "postgres://a@db/class");
        assert_eq!(shown("postgres://u:pa/s#s@db/c"), "postgres://u@db/c");
        assert_eq!(shown("postgres://u:pa?ss@db/c"), "postgres://u...");
        assert_eq!(shown("postgres://db/c?user=u&password=p@ss"), "postgres://db...");
        assert_eq!(shown("postgres:u:pw@h"), "postgres:u@h");
        assert_eq!(shown("mysql://u:pw@h/c"), "mysql://u@h/c");
        for sqlite in ["sqlite:/class/class.db", "sqlite:///a@b/class.db?mode=rw", "class.db"] {
            assert_eq!(shown(sqlite), sqlite);
        }
    }

    #[test]
    fn files_of_addresses() {
        for (address, wanted) in [
            ("sqlite:/a/b.db", Some("/a/b.db")),
            ("sqlite:///a/b.db?mode=rw", Some("/a/b.db")),
            ("sqlite:b.db", Some("b.db")),
            ("sqlite::memory:", None),
            ("postgres://db/class", None),
        ] {
            assert_eq!(file(address), wanted.map(PathBuf::from), "{address}");
        }
    }
}
