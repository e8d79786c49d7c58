//! `cargo learn worker`: takes jobs of a class from its database, and judges them as `grade` does.
//! A server starts some; others run by hand on any machine that has the course and reaches the
//! database.
//!
//! | module | contents |
//! | --- | --- |
//! | `local` | judges a job in the sandbox of this machine |
//! | `started` | the workers of a server |
//! | `versions` | whether the course is the server's |
//!
//! *Invariant:* nothing is judged without a sandbox, and the judge's process gets neither the
//! database's address nor a password: see [`crate::isolation`].

#[cfg(feature = "class")]
mod local;
#[cfg(feature = "class")]
mod started;
#[cfg(feature = "class")]
mod versions;

use std::path::PathBuf;

use clap::Args;

use crate::arguments::User;
use crate::course::Course;
use crate::error::Result;

#[cfg(feature = "class")]
pub use self::local::keep_from_judges;
#[cfg(feature = "class")]
pub use self::started::start;
#[cfg(feature = "class")]
pub use self::versions::versions;

/// Options of `worker`.
#[derive(Args, Debug)]
pub struct Options {
    /// The database of the class: postgres://USER@HOST/NAME, with the password in PGPASSWORD, or
    /// sqlite:FILE on the server's machine
    #[arg(long, value_name = "URL", required_unless_present = "class")]
    database: Option<String>,
    /// Take the database from this file instead
    #[arg(long, value_name = "class.toml", conflicts_with = "database")]
    class: Option<PathBuf>,
    /// Which of this machine's workers it is, from 1 [default: the first that is free]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=999))]
    number: Option<u32>,
    #[command(flatten)]
    user: User,
    /// The process to end with
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true)]
    parent: Option<u32>,
}

/// Works until it is interrupted.
pub fn work(course: &Course, options: &Options) -> Result<bool> {
    #[cfg(feature = "class")]
    return local::work(course, options);
    #[cfg(not(feature = "class"))]
    {
        let _ = options;
        crate::again::with_class(&course.root)
    }
}
