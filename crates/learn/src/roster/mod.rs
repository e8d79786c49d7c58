//! `cargo learn roster`: the students of a class, their personal links, and their marks. It works on
//! the database, whether the server runs or not.

#[cfg(feature = "class")]
mod act;
#[cfg(feature = "class")]
mod students;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::arguments::User;
use crate::error::Result;
use crate::formats::Format;

/// Options of `roster`.
#[derive(Args, Debug)]
pub struct Options {
    /// The settings of the class
    #[arg(long, value_name = "FILE", default_value = "class.toml", global = true)]
    class: PathBuf,
    #[command(flatten)]
    user: User,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add students from a CSV file with the columns name, id and email; known ids get the new name
    /// and address
    Add {
        /// The file
        file: PathBuf,
    },
    /// Show the students, who has a link, and who was removed
    List,
    /// Make personal links: a CSV file for a mail merge. Without an id, for all who have none
    Link {
        /// Students, whose links before no longer work
        ids: Vec<String>,
        /// The teacher, too
        #[arg(long)]
        teacher: bool,
    },
    /// End a student's link and sessions
    Revoke {
        /// The student
        #[arg(required_unless_present = "teacher")]
        id: Option<String>,
        /// The teacher
        #[arg(long, conflicts_with = "id")]
        teacher: bool,
    },
    /// Remove students: sign them out, and leave them out of all pages and marks. Their work is kept,
    /// and comes back if they are added again
    Remove {
        /// The students
        #[arg(required = true)]
        ids: Vec<String>,
        /// Also delete their work, for good; also for students removed before
        #[arg(long)]
        erase: bool,
    },
    /// Write the marks of all students, as `grade --format` does
    Marks {
        /// The format
        #[arg(long, value_enum)]
        format: Format,
        /// The file, or the folder for formats with a file for each student [default: the standard
        /// output]
        #[arg(long, value_name = "PATH")]
        out: Option<PathBuf>,
    },
}

/// Does what was asked for.
#[cfg(feature = "class")]
pub fn roster(options: &Options, course: Option<&Path>) -> Result<bool> {
    act::act(options, course)
}

/// Has the program do it that knows classes.
#[cfg(not(feature = "class"))]
pub fn roster(_options: &Options, course: Option<&Path>) -> Result<bool> {
    crate::again::with_class(&crate::course::Course::here(course)?.root)
}
