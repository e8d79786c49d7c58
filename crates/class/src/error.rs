//! What can go wrong: one line each.

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that a user can change.
    #[error("{0}")]
    Usage(String),
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A request that is refused, with what to say of it.
    #[error("{0}")]
    Refused(String),
}

/// A result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
