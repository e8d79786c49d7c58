//! Students, links, sessions, and attempts to sign in. Of a secret only the hash comes here
//! ([`crate::secret`]).
//!
//! *Invariant:* no session, link, list, count or run of a student who was removed is found here or in
//! the other modules, until the student is added again.

use std::collections::HashMap;

use sqlx::any::AnyRow;

use super::{Change, Dialect, Store, Tries, each, maybe_number, maybe_text, number, text};
use crate::Millis;
use crate::error::{Error, Result};
use crate::secret::hash;

/// The setting that is there from when a student is erased until the files are written anew: the
/// [`trace`] of each such student.
const NOT_COMPACT: &str = "not compact";

/// The most sessions of a person.
const SESSIONS: i64 = 50;

/// A student of the roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Student {
    /// The key: as marks name the student.
    pub id: String,
    /// The name.
    pub name: String,
    /// The address, or nothing.
    pub email: String,
}

/// Who a link or a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The student with this key.
    Student(String),
    /// The teacher.
    Teacher,
}

impl Who {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Student(id) => Some(id),
            Self::Teacher => None,
        }
    }

    fn of(row: &AnyRow) -> Result<Self> {
        Ok(maybe_text(row, 0)?.map_or(Self::Teacher, Self::Student))
    }
}

impl Student {
    fn of(row: &AnyRow) -> Result<Self> {
        Ok(Self { id: text(row, 0)?, name: text(row, 1)?, email: text(row, 2)? })
    }
}

/// A short hash of an erased student's key: it tells a repeated command from a mistyped key, and not
/// who the student was.
fn trace(id: &str) -> String {
    format!("{:.4} ", hash(id))
}

impl Store {
    /// Adds students, or changes the names and addresses of those who are there: all or none. One who was
    /// removed is back, with all that was kept. Returns how many are new or back.
    pub async fn add_students(&self, students: &[Student], now: Millis) -> Result<u64> {
        let mut change = self.change().await?;
        let count = "SELECT count(*) FROM students WHERE removed IS NULL";
        let before = sqlx::query(count).fetch_one(&mut *change).await?;
        let known = sqlx::query("SELECT id, removed FROM students ORDER BY id").fetch_all(&mut *change).await?;
        let known = each(known, |row| Ok((text(row, 0)?, maybe_number(row, 1)?.is_some())))?;
        let mut spellings: HashMap<String, Vec<(String, bool)>> = HashMap::new();
        for (id, removed) in known {
            spellings.entry(id.to_lowercase()).or_default().push((id, removed));
        }
        for student in students {
            if student.id.is_empty() || student.id.contains('\0') {
                return Err(Error::Usage(format!("{:?} is no key of a student", student.id)));
            }
            // Files of marks are named after ids, and some file systems ignore case. Tables of version 1 may
            // have several spellings.
            let spelled = spellings.get(&student.id.to_lowercase()).map_or(&[][..], Vec::as_slice);
            let is_known = spelled.iter().any(|(id, _)| *id == student.id);
            let mut others = spelled.iter().filter(|(id, removed)| *id != student.id && !(is_known && *removed));
            match others.next() {
                Some((other, _)) if is_known => {
                    return Err(Error::Usage(format!(
                        "the ids {:?} and {other:?} differ in case alone: remove one with `cargo learn roster remove`",
                        student.id
                    )));
                }
                Some((id, _)) => {
                    return Err(Error::Usage(format!("the id {:?} exists as {id:?}: use that spelling", student.id)));
                }
                None => {}
            }
            let query = "INSERT INTO students (id, name, email, added, served, spent_hour, spent)
                VALUES ($1, $2, $3, $4, 0, 0, 0)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email, removed = NULL";
            let query = sqlx::query(query).bind(&student.id).bind(&student.name).bind(&student.email).bind(now);
            query.execute(&mut *change).await?;
        }
        let after = sqlx::query(count).fetch_one(&mut *change).await?;
        change.commit().await?;
        Ok((number(&after, 0)? - number(&before, 0)?).unsigned_abs())
    }

    /// All students, by name.
    pub async fn students(&self) -> Result<Vec<Student>> {
        let query = "SELECT id, name, email FROM students WHERE removed IS NULL ORDER BY name, id";
        each(sqlx::query(query).fetch_all(&self.pool).await?, Student::of)
    }

    /// The students who were removed and are not erased, by name.
    pub async fn removed(&self) -> Result<Vec<Student>> {
        let query = "SELECT id, name, email FROM students WHERE removed IS NOT NULL ORDER BY name, id";
        each(sqlx::query(query).fetch_all(&self.pool).await?, Student::of)
    }

    /// The student with this key.
    pub async fn student(&self, id: &str) -> Result<Option<Student>> {
        if id.contains('\0') {
            return Ok(None);
        }
        let query = sqlx::query("SELECT id, name, email FROM students WHERE id = $1 AND removed IS NULL").bind(id);
        query.fetch_optional(&self.pool).await?.as_ref().map(Student::of).transpose()
    }

    /// Keeps the hash of a link, which takes the place of the ones before. Sessions end with them:
    /// one is replaced because it leaked.
    pub async fn put_link(&self, hash: &str, who: &Who, now: Millis) -> Result<()> {
        let mut change = self.change().await?;
        end(&mut change, who).await?;
        let query = sqlx::query("INSERT INTO links (hash, student, made) VALUES ($1, $2, $3)");
        query.bind(hash).bind(who.key()).bind(now).execute(&mut *change).await?;
        change.commit().await?;
        Ok(())
    }

    /// Whose link has this hash.
    pub async fn who_of_link(&self, hash: &str) -> Result<Option<Who>> {
        let query = "SELECT l.student FROM links l LEFT JOIN students s ON s.id = l.student
            WHERE l.hash = $1 AND s.removed IS NULL";
        let query = sqlx::query(query).bind(hash);
        query.fetch_optional(&self.pool).await?.as_ref().map(Who::of).transpose()
    }

    /// The keys of the students that have a link.
    pub async fn linked(&self) -> Result<Vec<String>> {
        let query = sqlx::query("SELECT student FROM links WHERE student IS NOT NULL ORDER BY student");
        each(query.fetch_all(&self.pool).await?, |row| text(row, 0))
    }

    /// Ends a person's links and sessions. Returns how many links there were.
    pub async fn revoke(&self, who: &Who) -> Result<u64> {
        let mut change = self.change().await?;
        let links = end(&mut change, who).await?;
        change.commit().await?;
        Ok(links)
    }

    /// Removes a student, whose links and sessions end. The work is kept. Returns whether there was one.
    pub async fn remove(&self, id: &str, now: Millis) -> Result<bool> {
        let mut change = self.change().await?;
        let query = sqlx::query("UPDATE students SET removed = $2 WHERE id = $1 AND removed IS NULL");
        let removed = query.bind(id).bind(now).execute(&mut *change).await?.rows_affected();
        end(&mut change, &Who::Student(id.to_owned())).await?;
        change.commit().await?;
        Ok(removed == 1)
    }

    /// Deletes all that is kept of a student who was removed. A run that is being judged stores no verdict.
    /// Returns whether there was one. The files have it until [`Store::compact`].
    pub async fn erase(&self, id: &str) -> Result<bool> {
        let mut tries = Tries::default();
        loop {
            let done = self.erase_once(id).await;
            if !tries.again(&done).await {
                return done;
            }
        }
    }

    async fn erase_once(&self, id: &str) -> Result<bool> {
        let mut change = self.change().await?;
        let of_student = "SELECT 1 FROM students WHERE id = $1 AND removed IS NOT NULL";
        if sqlx::query(of_student).bind(id).fetch_optional(&mut *change).await?.is_none() {
            return Ok(false);
        }
        let texts = sqlx::query("SELECT DISTINCT text FROM runs WHERE student = $1").bind(id);
        let texts = each(texts.fetch_all(&mut *change).await?, |row| text(row, 0))?;
        for query in [
            // First the jobs: see [`super::queue`] for the order of locks.
            "DELETE FROM jobs WHERE student = $1",
            "DELETE FROM verdicts WHERE run IN (SELECT id FROM runs WHERE student = $1)",
            "DELETE FROM runs WHERE student = $1",
            "DELETE FROM drafts WHERE student = $1",
            "DELETE FROM hints WHERE student = $1",
            "DELETE FROM answers WHERE student = $1",
            "DELETE FROM links WHERE student = $1",
            "DELETE FROM sessions WHERE student = $1",
            "DELETE FROM students WHERE id = $1",
        ] {
            sqlx::query(query).bind(id).execute(&mut *change).await?;
        }
        for digest in texts {
            // Another student may have had the same text.
            let query = "DELETE FROM texts WHERE digest = $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE text = $1)";
            sqlx::query(query).bind(digest).execute(&mut *change).await?;
        }
        let query = "INSERT INTO settings (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = settings.value || excluded.value";
        sqlx::query(query).bind(NOT_COMPACT).bind(trace(id)).execute(&mut *change).await?;
        change.commit().await?;
        Ok(true)
    }

    /// Whether the student with this key was erased, and the files may still have the work.
    pub async fn must_compact(&self, id: &str) -> Result<bool> {
        Ok(self.setting(NOT_COMPACT).await?.is_some_and(|traces| traces.contains(&trace(id))))
    }

    /// Writes the database anew, without what was deleted.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if others use the file for too long, and [`Error::Database`]. It can be tried again.
    pub async fn compact(&self) -> Result<()> {
        match self.dialect {
            Dialect::Sqlite => {
                sqlx::query("VACUUM").execute(&self.pool).await?;
                let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&self.pool).await?;
                if number(&row, 0)? != 0 {
                    return Err(Error::Usage("the database is in use".to_owned()));
                }
            }
            Dialect::Postgres => {
                let all = "VACUUM FULL students, links, sessions, runs, jobs, verdicts, texts, drafts, hints, answers";
                sqlx::query(all).execute(&self.pool).await?;
            }
        }
        sqlx::query("DELETE FROM settings WHERE name = $1").bind(NOT_COMPACT).execute(&self.pool).await?;
        Ok(())
    }

    /// Keeps the hash of a session, and forgets those that have expired, and the oldest of a person
    /// with very many.
    pub async fn put_session(&self, hash: &str, who: &Who, now: Millis, expires: Millis) -> Result<()> {
        let change = self.change().await?;
        add_session(change, hash, who, (now, expires)).await
    }

    /// The same for the owner of a link. Returns false, and keeps nothing, if the link is revoked.
    pub async fn enter(&self, link: &str, hash: &str, who: &Who, now: Millis, expires: Millis) -> Result<bool> {
        // Who revokes the link waits for the session, and ends it.
        let query = match self.dialect {
            Dialect::Sqlite => "SELECT 1 FROM links WHERE hash = $1",
            Dialect::Postgres => "SELECT 1 FROM links WHERE hash = $1 FOR KEY SHARE",
        };
        let mut change = self.change().await?;
        if sqlx::query(query).bind(link).fetch_optional(&mut *change).await?.is_none() {
            return Ok(false);
        }
        add_session(change, hash, who, (now, expires)).await?;
        Ok(true)
    }

    /// Whose session has this hash, unless it has expired.
    pub async fn who_of_session(&self, hash: &str, now: Millis) -> Result<Option<Who>> {
        let query = "SELECT o.student FROM sessions o LEFT JOIN students s ON s.id = o.student
            WHERE o.hash = $1 AND o.expires > $2 AND s.removed IS NULL";
        let query = sqlx::query(query).bind(hash).bind(now);
        query.fetch_optional(&self.pool).await?.as_ref().map(Who::of).transpose()
    }

    /// Ends a session.
    pub async fn end_session(&self, hash: &str) -> Result<()> {
        sqlx::query("DELETE FROM sessions WHERE hash = $1").bind(hash).execute(&self.pool).await?;
        Ok(())
    }

    /// Notes an attempt to sign in, from an address or for a name, and forgets those before `since`.
    /// Returns how many there were since then, with this one.
    pub async fn note_attempt(&self, address: &str, since: Millis, now: Millis) -> Result<u64> {
        let mut change = self.change().await?;
        sqlx::query("DELETE FROM attempts WHERE at < $1").bind(since).execute(&mut *change).await?;
        let query = sqlx::query("INSERT INTO attempts (address, at) VALUES ($1, $2)");
        query.bind(address).bind(now).execute(&mut *change).await?;
        let count = sqlx::query("SELECT count(*) FROM attempts WHERE address = $1").bind(address);
        let count = number(&count.fetch_one(&mut *change).await?, 0)?;
        change.commit().await?;
        Ok(count.unsigned_abs())
    }

    /// How many attempts there were from an address since then.
    pub async fn attempts(&self, address: &str, since: Millis) -> Result<u64> {
        let query = sqlx::query("SELECT count(*) FROM attempts WHERE address = $1 AND at >= $2");
        Ok(number(&query.bind(address).bind(since).fetch_one(&self.pool).await?, 0)?.unsigned_abs())
    }
}

/// Ends a person's links and sessions. Returns how many links there were.
async fn end(change: &mut Change, who: &Who) -> Result<u64> {
    let mut links = 0;
    for (query, is_link) in [
        ("DELETE FROM links WHERE student = $1", true),
        ("DELETE FROM links WHERE student IS NULL AND $1 IS NULL", true),
        ("DELETE FROM sessions WHERE student = $1", false),
        ("DELETE FROM sessions WHERE student IS NULL AND $1 IS NULL", false),
    ] {
        let ended = sqlx::query(query).bind(who.key()).execute(&mut **change).await?.rows_affected();
        links += if is_link { ended } else { 0 };
    }
    Ok(links)
}

/// Keeps the hash of a session: see [`Store::put_session`].
async fn add_session(mut change: Change, hash: &str, who: &Who, (now, expires): (Millis, Millis)) -> Result<()> {
    sqlx::query("DELETE FROM sessions WHERE expires <= $1").bind(now).execute(&mut *change).await?;
    let query = sqlx::query("INSERT INTO sessions (hash, student, made, expires) VALUES ($1, $2, $3, $4)");
    query.bind(hash).bind(who.key()).bind(now).bind(expires).execute(&mut *change).await?;
    for many in [
        "DELETE FROM sessions WHERE student = $1 AND hash NOT IN
            (SELECT hash FROM sessions WHERE student = $1 ORDER BY made DESC, hash LIMIT $2)",
        "DELETE FROM sessions WHERE student IS NULL AND $1 IS NULL AND hash NOT IN
            (SELECT hash FROM sessions WHERE student IS NULL ORDER BY made DESC, hash LIMIT $2)",
    ] {
        sqlx::query(many).bind(who.key()).bind(SESSIONS).execute(&mut *change).await?;
    }
    change.commit().await?;
    Ok(())
}
