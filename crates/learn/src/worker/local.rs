//! A worker on this machine.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use class::settings::Settings;
use class::store::{Job, Store, Verdict, shown};
use class::worker::{Judge, LEASE, Versions, Worker};
use common::signals;
use exercise::Exercise;
use serde_json::Value;

use super::Options;
use super::versions::{same_course, version, version_of};
use crate::account::Class;
use crate::arguments::Orders;
use crate::compile::Compiler;
use crate::course::Course;
use crate::error::{Error, Result};
use crate::isolation::{Judges, Limits, Pages};
use crate::marks::{Mark, Status};
use crate::programs;
use crate::recorded::some_seed_of;
use crate::student::EXPLAINED_AFTER;
use crate::terminal::note;

/// Set by Ctrl-C.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The most workers of a machine.
const MOST: u32 = 999;

/// The longest step that is shown.
const LONGEST_STEP: usize = 100;

/// The most bytes of a page that is kept.
const LONGEST_PAGE: usize = 1 << 20;

/// The most places of a verdict that are kept, and of a message.
const PLACES: usize = 100;
const LONGEST_MESSAGE: usize = 400;

/// Compiled kernels are deleted beyond so many bytes, which is checked after so many jobs.
const MOST_CACHED: u64 = 512 << 20;
const LOOKED_AFTER: u32 = 16;

/// Works until it is interrupted.
pub fn work(course: &Course, options: &Options) -> Result<bool> {
    let settings = options.class.as_deref().map(Settings::read).transpose()?;
    #[cfg(target_os = "linux")]
    if let Some(parent) = options.parent {
        crate::start::end_with(parent)?;
    }
    let of_settings = settings.as_ref().map(|settings| settings.database.clone());
    let Some(database) = options.database.clone().or(of_settings) else {
        return Err(Error::Usage("--database: name the database of the class".to_owned()));
    };
    if let Some(why) = sandbox::missing() {
        return Err(Error::Usage(format!(
            "no sandbox: {why}; without one a submission may read every file that you can read: run workers on Linux \
             6.2 or newer"
        )));
    }
    signals::on_each(|signal| {
        // The second time at once.
        if ENDING.swap(true, Ordering::Relaxed) {
            std::process::exit(128 + signal);
        }
    });
    if class::store::file(&database).is_some_and(|file| !file.is_file()) {
        return Err(Error::Usage(format!("{database}: there is no such file: start the server first")));
    }
    keep_from_judges(course, &database, class::store::file(&database).as_deref())?;
    let of_server = of_server(options);
    if !of_server {
        Class::new(&options.user, settings.as_ref(), Some(course), &database).settle(|| Ok(None))?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::Usage(format!("the worker cannot be started: {error}")))?;
    runtime.block_on(async {
        let store = Store::open(&database).await?;
        if !of_server && let Some(servers) = store.course().await? {
            same_course(course, &servers).map_err(Error::Usage)?;
        }
        let (number, _own) = numbered(course, options.number)?;
        let local =
            Local::new(course, number as usize, of_server).map_err(|error| match ENDING.load(Ordering::Relaxed) {
                true => Error::Usage("interrupted before the worker was ready".to_owned()),
                false => error,
            })?;
        let limits = store.limits().await?.unwrap_or_default();
        let name = format!("{} {number}", std::process::id());
        note!("Worker {number} takes jobs from {}. Ctrl-C ends it.", shown(&database));
        let worker = Worker { store: &store, name, limits, lease: LEASE, ending: &ENDING };
        worker.work(local, |error| note!("note: {error}; the worker tries again")).await?;
        Ok(true)
    })
}

/// Refuses a file in a folder that judges read: exercises, libraries, and the compiler's. `what` names
/// it.
///
/// # Errors
///
/// [`Error::Usage`].
pub fn keep_from_judges(course: &Course, what: &str, file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = whole(file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let read =
        [course.folder.clone(), course.root.join("crates"), course.root.join("target"), "/usr".into(), "/lib".into()];
    match read.iter().any(|read| folder.starts_with(whole(read))) {
        true => Err(Error::Usage(format!("{what}: a judge may read what is there: put the file elsewhere"))),
        false => Ok(()),
    }
}

/// The number of this worker, which no other one of this clone has until the file is closed.
fn numbered(course: &Course, wanted: Option<u32>) -> Result<(u32, File)> {
    let folder = course.root.join("target/learn");
    fs::create_dir_all(&folder).map_err(Error::writing(&folder))?;
    for number in wanted.map_or(1..=MOST, |number| number..=number) {
        let path = folder.join(format!("worker-{number}"));
        let file = File::create(&path).map_err(Error::writing(&path))?;
        match file.try_lock() {
            Ok(()) => return Ok((number, file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(Error::writing(&path)(error)),
        }
    }
    Err(Error::Usage(match wanted {
        Some(number) => format!("--number {number}: there is such a worker already"),
        None => format!("this machine has {MOST} workers already"),
    }))
}

/// What judges here.
struct Local {
    course: Course,
    compiler: Compiler,
    job: usize,
    grader: String,
    /// Whether the server has started this worker, with its own course.
    of_server: bool,
    /// How many jobs there were.
    jobs: u32,
    /// Keeps other processes out of the compiler's folder.
    _lock: File,
}

impl Local {
    /// Prepares the compiler and the device library.
    fn new(course: &Course, number: usize, of_server: bool) -> Result<Self> {
        // Students' own runs, and those of `grade`, have the numbers from 0.
        let job = 1000 - number;
        let compiler = Compiler::new(&course.root, job, false)?.sandboxed(true).stopped_by(&ENDING).announcing();
        compiler.warm()?;
        let exercises = course.names().map(|name| course.exercise(name)).collect::<Result<Vec<_>>>()?;
        let lock = compiler.hand_over(&exercises)?;
        let program = programs::own_program();
        let program = fs::read(&program).map_err(Error::reading(&program))?;
        let grader = version(&[&program, compiler.basis()?.as_bytes()]);
        Ok(Self { course: course.clone(), compiler, job, grader, of_server, jobs: 0, _lock: lock })
    }

    /// The course and the exercise as they are now, and the versions. The teacher may have changed
    /// the course; while it is being changed, it is as it was.
    fn now(&self, job: &Job) -> Result<(Course, Exercise, Versions)> {
        let course = Course::find(&self.course.root, Some(&self.course.folder)).unwrap_or_else(|_| self.course.clone());
        let exercise = course.exercise(&job.exercise)?;
        let version = version_of(&exercise)?;
        Ok((course, exercise, Versions { course: version, grader: self.grader.clone() }))
    }

    /// Judges a job. `None`: it was stopped.
    fn judged(&self, job: &Job, stop: &AtomicBool, tell: &(dyn Fn(&str) + Sync)) -> Result<Option<Verdict>> {
        let (course, exercise, versions) = self.now(job)?;
        let limits =
            Limits { time_limit: u64::from(job.seconds), memory_limit: u64::from(job.memory_mib), ..Limits::default() };
        let explained = job.wrong_before >= EXPLAINED_AFTER as u64;
        let judges = Judges {
            course: &course,
            limits,
            seed: some_seed_of(&exercise)?,
            orders: Orders { schedules: None, schedule: None },
            model: None,
            stop,
            pages: if explained { Pages::Explained } else { Pages::Unexplained },
        };
        let at = (&self.compiler, self.job);
        let said = judges.said(&exercise, job.text.as_bytes(), at, limits.time_limit, &|event| {
            if let Some(step) = step(event) {
                tell(&step);
            }
        });
        Ok(said.map(|(mark, page)| verdict(mark, page, versions)))
    }
}

/// A verdict of a mark and a part of a page. A page that a student's file makes very long is not kept.
fn verdict(mark: Mark, page: Option<String>, Versions { course, grader }: Versions) -> Verdict {
    let of_page: Option<Value> = page.as_deref().and_then(|page| serde_json::from_str(page).ok());
    let places = of_page.as_ref().and_then(|page| page.get("places")).map_or("[]".to_owned(), places);
    Verdict {
        status: word(mark.status),
        milliseconds: (1e3 * mark.seconds) as i64,
        report: mark.report,
        places,
        page: page.filter(|page| of_page.is_some() && page.len() <= LONGEST_PAGE),
        course,
        grader,
    }
}

/// The first places of a page, with the begins of their messages.
fn places(of_page: &Value) -> String {
    let mut places = of_page.as_array().cloned().unwrap_or_default();
    places.truncate(PLACES);
    for message in places.iter_mut().filter_map(|place| place.get_mut("message")) {
        if let Some((end, _)) = message.as_str().and_then(|text| text.char_indices().nth(LONGEST_MESSAGE)) {
            *message = message.as_str().unwrap_or_default()[..end].into();
        }
    }
    Value::from(places).to_string()
}

impl Judge for Local {
    fn accepts(&mut self, servers: &str) -> std::result::Result<(), String> {
        if self.of_server {
            return Ok(());
        }
        // As it is now: files may change here, too.
        let course = Course::find(&self.course.root, Some(&self.course.folder));
        same_course(&course.map_err(|error| error.to_string())?, servers)
    }

    fn versions(&self, job: &Job) -> Option<Versions> {
        self.now(job).ok().map(|(_, _, versions)| versions)
    }

    fn judge(&mut self, job: &Job, stop: &AtomicBool, tell: &(dyn Fn(&str) + Sync)) -> Option<Verdict> {
        self.jobs = self.jobs.wrapping_add(1);
        if self.jobs.is_multiple_of(LOOKED_AFTER) {
            self.compiler.forget_old(MOST_CACHED);
        }
        self.judged(job, stop, tell).unwrap_or_else(|error| {
            note!("note: run {} is not judged: {error}", job.run);
            Some(Verdict {
                status: word(Status::Failed),
                milliseconds: 0,
                report: error.to_string(),
                places: "[]".to_owned(),
                page: None,
                course: String::new(),
                grader: self.grader.clone(),
            })
        })
    }
}

/// A status as `grade --json` writes it.
fn word(status: Status) -> String {
    serde_json::to_value(status).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What an event says of the step that begins: its name, and the sizes.
fn step(event: &str) -> Option<String> {
    let event: Value = serde_json::from_str(event).ok()?;
    let name = event.get("event")?.as_str()?;
    let step = match event.get("sizes").and_then(Value::as_str) {
        Some(sizes) => format!("{name} {sizes}"),
        None => name.to_owned(),
    };
    Some(step.chars().filter(|c| *c != '\0').take(LONGEST_STEP).collect())
}

/// Whether the server has started this worker.
fn of_server(options: &Options) -> bool {
    #[cfg(target_os = "linux")]
    return options.parent.is_some();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = options;
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statuses_are_words_of_marks() {
        assert_eq!(
            [Status::Solved, Status::GoalsMissed, Status::Failed].map(word),
            ["solved", "goals_missed", "failed"]
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let place = |length| json!({ "line": 7, "column": 1, "message": "\u{e9}".repeat(length) });
        let kept = |all: Vec<Value>| serde_json::from_str::<Vec<Value>>(&places(&all.into())).unwrap();
        assert_eq!(kept(vec![place(400), place(401)]), [place(400), place(400)]);
        assert_eq!(kept(vec![place(1); 101]), vec![place(1); 100]);
        assert_eq!([json!({}), json!([3])].map(|odd| places(&odd)), ["[]", "[3]"]);
        let mark = || Mark {
            exercise: "guard".to_owned(),
            status: Status::Wrong,
            report: "wrong".to_owned(),
            seconds: 1.5,
            digest: None,
            points: 0.0,
            max_points: 0.0,
            score: None,
        };
        let versions = || Versions { course: "c".to_owned(), grader: "g".to_owned() };
        let of = |page: String| verdict(mark(), Some(page), versions());
        let page = |length| json!({ "html": "x".repeat(length), "places": [place(1)] }).to_string();
        let rest = page(0).len();
        let whole = of(page(LONGEST_PAGE - rest));
        assert_eq!(whole.page.map(|page| page.len()), Some(LONGEST_PAGE));
        let long = of(page(LONGEST_PAGE - rest + 1));
        assert_eq!((long.page, long.places, long.status.as_str()), (None, whole.places, "wrong"));
    }

    #[test]
    fn a_step_is_a_name_and_sizes() {
        assert_eq!(step(r#"{"event":"compiling"}"#).as_deref(), Some("compiling"));
        assert_eq!(step(r#"{"event":"running","sizes":"n = 7"}"#).as_deref(), Some("running n = 7"));
        assert_eq!(step(r#"{"event":3}"#), None);
        assert_eq!(step("{\"event\":\"a\\u0000b\"}").as_deref(), Some("ab"));
        assert_eq!(step(&format!(r#"{{"event":"{}"}}"#, "x".repeat(999))).map(|step| step.len()), Some(LONGEST_STEP));
    }
}
