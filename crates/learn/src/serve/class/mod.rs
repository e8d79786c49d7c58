//! `cargo learn serve --class class.toml`: the course for a class. What is kept is in the crate
//! [`class`]; here is all that people see.
//!
//! ```text
//! request ── guard ── answers ─┬─ sign_in, openid                           links and sessions
//!                              ├─ map, work, run (events), history           a student's own
//!                              └─ matrix, exercises, marks                   the teacher's
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`guard`], [`origin`], [`limiter`] | which requests pass |
//! | [`sign_in`], [`openid`] | who one is |
//! | [`lessons`] | the exercises with points and deadlines |
//! | [`diff`], [`chart`], [`hard_lines`], [`time`] | parts of pages |
//!
//! *Invariant:* an answer to a student has nothing of another student's: each handler takes the
//! student from the session, never from the request.

mod answers;
mod chart;
mod diff;
mod events;
mod exercises;
mod guard;
mod hard_lines;
mod history;
mod lessons;
mod limiter;
mod map;
pub mod marks;
mod matrix;
mod openid;
mod origin;
mod refusal;
mod run;
mod sign_in;
mod status;
mod time;
mod work;

use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use class::Millis;
use class::settings::{SecretOf, Settings};
use class::store::Store;

use self::guard::Guard;
pub use self::lessons::Lessons;
pub use self::sign_in::link;
use super::Options;
use super::bundle::Bundle;
use super::connections::{self, Bounds};
use crate::account::Class;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::terminal::show_line;

/// How many connections there may be: each page that waits for a verdict has one.
const CONNECTIONS: Bounds = Bounds { all: 4096, of_address: 1024 };

/// How often to look whether the course is another one.
const COURSE: Duration = Duration::from_secs(20);

/// What the answers need.
struct Server {
    course: Course,
    settings: Settings,
    store: Store,
    lessons: RwLock<Arc<Lessons>>,
    guard: Guard,
    openid: Option<openid::Provider>,
    streams: events::Streams,
    bundle: Bundle,
    /// Whether pages have a plain text area in any case.
    plain: bool,
}

impl Server {
    fn lessons(&self) -> Arc<Lessons> {
        Arc::clone(&self.lessons.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the course again.
    fn read_lessons(&self) -> Result<()> {
        let course = Course::find(&self.course.root, Some(&self.course.folder))?;
        let lessons = Arc::new(Lessons::read(&course, &self.settings)?);
        *self.lessons.write().unwrap_or_else(PoisonError::into_inner) = lessons;
        Ok(())
    }

    fn has_editor(&self) -> bool {
        !self.plain && self.bundle.is_there()
    }
}

/// Refuses settings, a database or a secret where judges read.
fn keep_from_judges(course: &Course, file: &Path, settings: &Settings) -> Result<()> {
    crate::worker::keep_from_judges(course, &file.display().to_string(), Some(file))?;
    crate::worker::keep_from_judges(course, &settings.database, class::store::file(&settings.database).as_deref())?;
    match settings.openid.as_ref().map(|openid| &openid.secret) {
        Some(secret @ SecretOf::File(file)) => crate::worker::keep_from_judges(course, &secret.to_string(), Some(file)),
        _ => Ok(()),
    }
}

/// Keeps the versions of the exercises as they are now: the teacher may change the course.
async fn keep_course(server: Arc<Server>) {
    loop {
        tokio::time::sleep(COURSE).await;
        let read = Arc::clone(&server);
        let read = move || {
            let course = Course::find(&read.course.root, Some(&read.course.folder))?;
            Lessons::read(&course, &read.settings)?.versions()
        };
        // While files are being changed, it is as it was.
        let Ok(Ok(now)) = tokio::task::spawn_blocking(read).await else { continue };
        let put = match server.store.course().await {
            Ok(kept) if kept.as_ref() == Some(&now) => Ok(()),
            Ok(_) => server.store.put_course(&now).await,
            Err(error) => Err(error),
        };
        if let Err(error) = put {
            refusal::note_seldom(&error.to_string());
        }
    }
}

/// The time of this machine.
pub fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// The socket that listens.
fn listener(settings: &Settings, options: &Options) -> Result<TcpListener> {
    let listen = settings.listen;
    let failed = |error| Error::Usage(format!("listen = \"{listen}\": the address cannot be used: {error}"));
    #[cfg(unix)]
    if options.listening {
        use std::os::fd::AsFd as _;
        let listener = TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?);
        return listener.local_addr().map(|_| listener).map_err(failed);
    }
    #[cfg(not(unix))]
    let _ = options;
    TcpListener::bind(listen).map_err(failed)
}

/// Serves until it is interrupted.
pub fn serve(file: &Path, course: Option<&Path>, options: &Options) -> Result<bool> {
    let plain = options.plain;
    let settings = Settings::read(file)?;
    let course = Course::here(course.or(settings.course.as_deref()))?;
    let failed = |error: std::io::Error| Error::Usage(format!("the server cannot be started: {error}"));
    keep_from_judges(&course, file, &settings)?;
    let account = Class::new(&options.user, Some(&settings), Some(&course), &settings.database);
    account.settle(|| listener(&settings, options).map(Some))?;
    let lessons = Lessons::read(&course, &settings)?;
    let openid = settings.openid.as_ref().map(|of| openid::Provider::new(of, &settings)).transpose()?;
    let listen = settings.listen;
    let listener = listener(&settings, options)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bundle = Bundle::new(&course.root);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let store = Store::open(&settings.database).await?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        if !plain {
            bundle.begin();
        }
        show_line!(
            "{} is at {} (it listens at {listen}). Ctrl-C ends it.",
            crate::terminal::plain(&settings.title),
            settings.address
        )?;
        store.put_limits(&settings.limits).await?;
        store.put_course(&lessons.versions()?).await?;
        let _workers = crate::worker::start(&course, file, settings.workers);
        let guard = Guard::new(&settings);
        let lessons = RwLock::new(Arc::new(lessons));
        let server = Arc::new(Server {
            course,
            settings,
            store,
            lessons,
            guard,
            openid,
            streams: events::streams(),
            bundle,
            plain,
        });
        tokio::spawn(keep_course(Arc::clone(&server)));
        match connections::serve(listener, answers::routes(server), CONNECTIONS.within_descriptors()).await {}
    })
}
