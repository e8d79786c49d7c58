//! `cargo learn serve`: the course as web pages, for one student at home: the same folder, the same
//! judge, the same progress. A run is a process of its own ([`crate::events`]); this one reads and
//! writes files, and answers. The module `class` serves a class, with the same parts of pages.
//!
//! ```text
//! request ── access ── answers ─┬─ map, exercise ── frame          pages
//!                               ├─ bundle                          the editor's script
//!                               ├─ work                            the student's file
//!                               └─ run ── process ── cache         a verdict
//! ```
//!
//! *Invariant:* it listens at 127.0.0.1, and only who has the token is answered: see [`access`].

mod access;
mod answers;
mod bundle;
mod cache;
#[cfg(feature = "class")]
pub mod class;
mod connections;
mod counted;
mod exercise;
mod frame;
mod map;
mod run;
mod work;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use clap::Args;

use self::access::Access;
use self::bundle::Bundle;
use self::cache::Cache;
use self::connections::Bounds;
use self::run::Runs;
use crate::arguments::User;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::terminal::{note, show_line};

/// The port, unless it is taken.
const PORT: u16 = 8391;

/// How many connections there may be.
const CONNECTIONS: Bounds = Bounds { all: 256, of_address: 256 };

/// Options of `serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// The port at 127.0.0.1; 0 for any that is free [default: 8391, or any if that is taken]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Edit in a plain text area, without the editor that npm makes once
    #[arg(long)]
    pub plain: bool,
    /// Serve a class with these settings, instead of one student: see docs/TEACHING.md
    #[arg(long, value_name = "class.toml", conflicts_with_all = ["port", "no_open"])]
    pub class: Option<PathBuf>,
    #[command(flatten)]
    user: User,
    /// The standard input listens for the class already
    #[arg(long, hide = true)]
    listening: bool,
}

/// What the answers need.
struct Server {
    course: Course,
    access: Access,
    runs: Runs,
    cache: Mutex<Cache>,
    bundle: Bundle,
    /// Whether pages have a plain text area in any case.
    plain: bool,
}

/// Serves until it is interrupted.
pub fn serve(course: &Course, options: &Options) -> Result<bool> {
    if options.listening || options.user.user.is_some() {
        return Err(Error::Usage("--user: only a class has it: give --class, too".to_owned()));
    }
    let listener = listener(options.port)?;
    let failed = |error| Error::Usage(format!("the server cannot be started: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let access = Access::new(listener.local_addr().map_err(failed)?.port())?;
    let address = access.address();
    let opened = if options.no_open { None } else { Some(access.address_for_once()?) };
    let bundle = Bundle::new(&course.root);
    let server = Server {
        course: course.clone(),
        access,
        runs: Runs::default(),
        cache: Mutex::default(),
        bundle: bundle.clone(),
        plain: options.plain,
    };
    // Time, for the pause after a connection that the system refuses for want of descriptors.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        show_line!("The course is at {address}\nOnly this machine can reach it, with this token. Ctrl-C ends it.")?;
        if !options.plain {
            bundle.begin();
        }
        if let Some(address) = opened {
            open(&address);
        }
        match connections::serve(listener, answers::routes(Arc::new(server)), CONNECTIONS.within_descriptors()).await {}
    })
}

/// Serves a class until it is interrupted.
#[cfg(feature = "class")]
pub fn serve_class(file: &Path, course: Option<&Path>, options: &Options) -> Result<bool> {
    class::serve(file, course, options)
}

/// Has the program do it that knows classes.
#[cfg(not(feature = "class"))]
pub fn serve_class(_file: &Path, course: Option<&Path>, _options: &Options) -> Result<bool> {
    crate::again::with_class(&Course::here(course)?.root)
}

/// Listens at the port, or at one that is free.
fn listener(port: Option<u16>) -> Result<TcpListener> {
    let at = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let bound = match port {
        Some(port) => at(port),
        None => at(PORT).or_else(|_| at(0)),
    };
    bound.map_err(|error| {
        let port = port.unwrap_or(PORT);
        Error::Usage(format!("--port {port}: 127.0.0.1:{port} cannot be used: {error}; give another port"))
    })
}

/// Opens the system's browser, if there is one.
fn open(address: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Nobody else waits for it.
        Ok(mut child) => _ = std::thread::spawn(move || child.wait()),
        Err(_) => note!("note: no browser was found: open the address yourself"),
    }
}
