//! A student's work that is not judged: drafts, hints, and answers to questions.

use super::{Store, each, maybe_number, maybe_text, number, text};
use crate::error::Result;
use crate::{Millis, secret};

/// The text that a student's editor has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// Its digest, by which a page says which text it began with.
    pub digest: String,
    /// When it was saved.
    pub saved: Millis,
}

/// What came of saving a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is saved, or was there already.
    Yes(Draft),
    /// There is another text now than the page began with: this one.
    Conflict(Draft),
}

/// An answer to a question of an exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The student.
    pub student: String,
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// Whether it is right, if that is known.
    pub correct: Option<bool>,
    /// When it was given.
    pub at: Millis,
}

impl Store {
    /// A student's draft of an exercise.
    pub async fn draft(&self, student: &str, exercise: &str) -> Result<Option<Draft>> {
        let query = sqlx::query("SELECT text, digest, saved FROM drafts WHERE student = $1 AND exercise = $2");
        let row = query.bind(student).bind(exercise).fetch_optional(&self.pool).await?;
        row.map(|row| Ok(Draft { text: text(&row, 0)?, digest: text(&row, 1)?, saved: number(&row, 2)? })).transpose()
    }

    /// Saves a draft that began as the text with the digest `base`; without one, in any case.
    pub async fn save_draft(
        &self,
        student: &str,
        exercise: &str,
        draft: &str,
        base: Option<&str>,
        now: Millis,
    ) -> Result<Saved> {
        let new = Draft { text: draft.to_owned(), digest: secret::hash(draft), saved: now };
        let query = "INSERT INTO drafts (student, exercise, text, digest, saved) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (student, exercise) DO UPDATE
            SET text = excluded.text, digest = excluded.digest, saved = excluded.saved
            WHERE $6 IS NULL OR drafts.digest = $6 OR drafts.digest = excluded.digest";
        let query = sqlx::query(query).bind(student).bind(exercise).bind(draft).bind(&new.digest).bind(now).bind(base);
        if query.execute(&self.pool).await?.rows_affected() == 1 {
            return Ok(Saved::Yes(new));
        }
        Ok(match self.draft(student, exercise).await? {
            Some(there) if there.digest != new.digest => Saved::Conflict(there),
            there => Saved::Yes(there.unwrap_or(new)),
        })
    }

    /// How many hints a student has seen.
    pub async fn hints(&self, student: &str, exercise: &str) -> Result<u64> {
        let query = sqlx::query("SELECT shown FROM hints WHERE student = $1 AND exercise = $2");
        let row = query.bind(student).bind(exercise).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| number(&row, 0)).transpose()?.unwrap_or(0).unsigned_abs())
    }

    /// Sets how many hints a student has seen.
    pub async fn set_hints(&self, student: &str, exercise: &str, shown: u64) -> Result<()> {
        let query = "INSERT INTO hints (student, exercise, shown) VALUES ($1, $2, $3)
            ON CONFLICT (student, exercise) DO UPDATE SET shown = excluded.shown";
        let shown = i64::try_from(shown).unwrap_or(i64::MAX);
        sqlx::query(query).bind(student).bind(exercise).bind(shown).execute(&self.pool).await?;
        Ok(())
    }

    /// Keeps an answer to a question.
    pub async fn add_answer(&self, exercise: &str, answer: &Answer) -> Result<()> {
        let query = "INSERT INTO answers (student, exercise, question, answer, correct, at)
            VALUES ($1, $2, $3, $4, $5, $6)";
        let query = sqlx::query(query).bind(&answer.student).bind(exercise).bind(&answer.question);
        let query = query.bind(&answer.answer).bind(answer.correct.map(i64::from)).bind(answer.at);
        query.execute(&self.pool).await?;
        Ok(())
    }

    /// The answers to an exercise's questions, the oldest first; of one student, or of all.
    pub async fn answers(&self, exercise: &str, student: Option<&str>) -> Result<Vec<Answer>> {
        let query = "SELECT a.student, a.question, a.answer, a.correct, a.at
            FROM answers a JOIN students s ON s.id = a.student
            WHERE a.exercise = $1 AND ($2 IS NULL OR a.student = $2) AND s.removed IS NULL ORDER BY a.id";
        let rows = sqlx::query(query).bind(exercise).bind(student).fetch_all(&self.pool).await?;
        each(rows, |row| {
            Ok(Answer {
                student: text(row, 0)?,
                question: text(row, 1)?,
                answer: maybe_text(row, 2)?.unwrap_or_default(),
                correct: maybe_number(row, 3)?.map(|correct| correct != 0),
                at: number(row, 4)?,
            })
        })
    }
}
