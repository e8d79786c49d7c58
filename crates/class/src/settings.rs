//! `class.toml`: the settings of a class. Reads and checks them; writes nothing.
//!
//! ```toml
//! title = "GPU memory, winter 2026"
//! address = "https://class.example.org"   # as browsers reach it; https: behind a proxy with TLS
//! listen = "127.0.0.1:8391"
//! course = "exercises"                    # relative to this file; default: the clone's
//! database = "class.db"                   # a file of SQLite, or postgres://USER@HOST/NAME
//! workers = 2                             # that the server starts
//! user = "class"                          # whom root becomes; default: the owner of the clone
//! counts = "best"                         # of the submissions in time, or "latest"
//!
//! [late]                                  # for all exercises; without it nothing counts when late
//! percent_per_day = 10
//! cut_off_days = 7
//!
//! [[exercise]]                            # in order; default: all of the course
//! name = "guard"
//! points = 2                              # default: those of course.toml
//! deadline = 2026-12-01T23:59:00+01:00
//!
//! [limits]                                # see `Limits`
//! seconds_per_hour = 600
//!
//! [openid]                                # sign-in with a university's account: see `OpenId`
//! issuer = "https://login.example.org"
//! client_id = "gpu-class"
//! secret_file = "openid.secret"           # or secret_env = "NAME"
//! claim = "email"
//! unverified_email = false                # true: the provider's administrator sets all addresses
//! ```

mod openid;

use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::value::Datetime;

pub use self::openid::{OpenId, SecretOf};
use crate::error::Error;
use crate::{DAY, HOUR, Millis};

/// The settings of a class.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the class.
    pub title: String,
    /// The address for browsers, as they write it: in lower case, without its scheme's own port and
    /// without a slash at its end.
    pub address: String,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The folder of the course, if it is not the clone's.
    pub course: Option<PathBuf>,
    /// The database's address: `sqlite:` or `postgres:`. It may have a password: see
    /// [`crate::store::shown`].
    pub database: String,
    /// How many workers the server starts.
    pub workers: u32,
    /// The user that the programs run as when root starts them. Default: the owner of the clone.
    pub user: Option<String>,
    /// Which submission counts.
    pub counts: Counts,
    /// The exercises, if not all of the course.
    pub exercises: Vec<Assigned>,
    /// The limits.
    pub limits: Limits,
    /// Sign-in with a university's account, if there is one.
    pub openid: Option<OpenId>,
}

/// An exercise as the class has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    /// The exercise.
    pub name: String,
    /// Its points, if they are not those of the course.
    pub points: Option<f64>,
    /// Its deadline.
    pub deadline: Option<Millis>,
    /// What is late.
    pub late: Late,
}

/// Which of a student's submissions counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// The one with the most points.
    #[default]
    Best,
    /// The last one that is not too late.
    Latest,
}

/// What a late submission loses.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Late {
    /// Of the points, for each day that has begun: for each 24 hours, also when clocks change.
    pub percent_per_day: f64,
    /// After so many days nothing counts any more; 0: nothing that is late counts.
    pub cut_off_days: u32,
}

/// What a class may take.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request.
    pub body_bytes: usize,
    /// Bytes of a student's file.
    pub source_bytes: usize,
    /// Seconds that a student's runs may cost in each hour of the clock. A run costs its processor
    /// time, or half of its time on a worker if that is more.
    pub seconds_per_hour: u32,
    /// Runs of a student that may wait.
    pub waiting_per_student: u32,
    /// Runs that may wait in all.
    pub waiting: u32,
    /// Runs of a student that are kept in a day: more are refused.
    pub runs_per_day: u32,
    /// Seconds for one file.
    pub seconds_per_file: u32,
    /// MiB of memory for one file.
    pub memory_mib: u32,
    /// Sign-ins that may fail, for an address within ten minutes.
    pub failed_sign_ins: u32,
    /// Days until one must sign in again.
    pub session_days: u32,
    /// Requests of a student in a minute.
    pub student_requests: u32,
    /// Requests of an address in a minute, of all there who are not signed in.
    pub address_requests: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            source_bytes: 1 << 16,
            seconds_per_hour: 600,
            waiting_per_student: 4,
            waiting: 2000,
            runs_per_day: 500,
            seconds_per_file: 60,
            memory_mib: 6144,
            failed_sign_ins: 20,
            session_days: 30,
            student_requests: 1200,
            address_requests: 400,
        }
    }
}

/// The file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    address: Option<String>,
    #[serde(default = "listen")]
    listen: SocketAddr,
    course: Option<PathBuf>,
    #[serde(default = "database")]
    database: String,
    #[serde(default = "workers")]
    workers: u32,
    user: Option<String>,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    late: Late,
    #[serde(default, rename = "exercise")]
    exercises: Vec<Entry>,
    #[serde(default)]
    limits: Limits,
    openid: Option<openid::Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    points: Option<f64>,
    deadline: Option<Datetime>,
    late: Option<Late>,
}

/// The most bytes of the file.
const LONGEST: u64 = 1 << 20;

/// The most workers of a server.
const MOST_WORKERS: u32 = 256;

fn listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8391))
}

fn database() -> String {
    "class.db".to_owned()
}

fn workers() -> u32 {
    2
}

impl Settings {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`]: what is wrong in it, and where.
    pub fn read(file: &Path) -> crate::Result<Self> {
        let problem = |what: String| Error::Usage(format!("{}: {what}", file.display()));
        let mut text = String::new();
        let opened = fs::File::open(file).map_err(|error| problem(error.to_string()))?;
        opened.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| problem(error.to_string()))?;
        if text.len() as u64 > LONGEST {
            return Err(problem(format!("it has more than {LONGEST} bytes")));
        }
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let folder = std::path::absolute(if folder.as_os_str().is_empty() { Path::new(".") } else { &folder })
            .map_err(|error| problem(error.to_string()))?;
        Self::of(&text, &folder).map_err(problem)
    }

    /// The settings of a text, whose paths are relative to this folder.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn of(text: &str, folder: &Path) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| at_line(text, &error))?;
        let File { title, address, listen, course, database, workers, user, counts, late, exercises, limits, openid } =
            file;
        if title.trim().is_empty() {
            return Err("title: it is empty".to_owned());
        }
        if workers > MOST_WORKERS {
            return Err(format!("workers = {workers}: at most {MOST_WORKERS}"));
        }
        // Links lead there, and no browser finds this machine by the address that stands for all of its own.
        if address.is_none() && listen.ip().is_unspecified() {
            return Err(format!("listen = \"{listen}\": write address, too, as browsers reach it: http://NAME:PORT"));
        }
        let written = address.unwrap_or_else(|| format!("http://{listen}"));
        let address = as_browsers_write(&written);
        let host = address.strip_prefix("https://").or(address.strip_prefix("http://")).unwrap_or_default();
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control() || "/?#@".contains(c)) {
            return Err(format!("address = {written:?}: write https://NAME, without a path"));
        }
        limits.check()?;
        let exercises = exercises.into_iter().map(|entry| entry.assigned(late)).collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<&str> = exercises.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("exercise {:?} is there twice", twice[0]));
        }
        let course = course.map(|course| folder.join(course));
        let database = match database.split_once(':') {
            Some(("postgres" | "postgresql" | "sqlite", _)) => database,
            _ => format!("sqlite:{}", folder.join(database).display()),
        };
        let openid = openid.map(|entry| entry.checked(folder)).transpose()?;
        Ok(Self { title, address, listen, course, database, workers, user, counts, exercises, limits, openid })
    }

    /// Whether browsers reach the server by TLS, so that cookies are sent that way alone.
    pub fn tls(&self) -> bool {
        self.address.starts_with("https://")
    }
}

impl Limits {
    fn check(&self) -> Result<(), String> {
        let numbers = [
            ("body_bytes", self.body_bytes, 64 << 20),
            ("source_bytes", self.source_bytes, 16 << 20),
            ("seconds_per_hour", self.seconds_per_hour as usize, 3600 * 64),
            ("waiting_per_student", self.waiting_per_student as usize, 1000),
            ("waiting", self.waiting as usize, 1_000_000),
            ("runs_per_day", self.runs_per_day as usize, 1_000_000),
            ("seconds_per_file", self.seconds_per_file as usize, 3600),
            ("memory_mib", self.memory_mib as usize, 1 << 20),
            ("failed_sign_ins", self.failed_sign_ins as usize, 1_000_000),
            ("session_days", self.session_days as usize, 3650),
            ("student_requests", self.student_requests as usize, 1_000_000),
            ("address_requests", self.address_requests as usize, 1_000_000),
        ];
        match numbers.into_iter().find(|&(_, number, most)| !(1..=most).contains(&number)) {
            Some((name, number, most)) => Err(format!("limits: {name} = {number} is not from 1 to {most}")),
            None => Ok(()),
        }
    }
}

impl Entry {
    fn assigned(self, late: Late) -> Result<Assigned, String> {
        let Self { name, points, deadline, late: own } = self;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(format!("exercise {name:?} is no exercise's name"));
        }
        if let Some(points) = points.filter(|points| !(0.0..=1e6).contains(points)) {
            return Err(format!("exercise {name}: points = {points} is not from 0 to 1000000"));
        }
        let late = own.unwrap_or(late);
        if !(0.0..=100.0).contains(&late.percent_per_day) || late.cut_off_days > 3650 {
            return Err(format!("exercise {name}: late: percent_per_day from 0 to 100, cut_off_days up to 3650"));
        }
        let deadline = deadline.map(|time| millis(&time)).transpose();
        let deadline = deadline.map_err(|why| format!("exercise {name}: deadline: {why}"))?;
        Ok(Assigned { name, points, deadline, late })
    }
}

/// An address as browsers send it in `Origin` and `Host`.
fn as_browsers_write(address: &str) -> String {
    let mut address = address.to_ascii_lowercase();
    let port = if address.starts_with("https:") { ":443" } else { ":80" };
    if address.ends_with(port) {
        address.truncate(address.len() - port.len());
    }
    address
}

/// The milliseconds of a time with an offset from UTC.
fn millis(time: &Datetime) -> Result<Millis, String> {
    let wanted = || format!("{time}: write a date, a time and the offset, as 2026-12-01T23:59:00+01:00");
    let (Some(date), Some(clock), Some(offset)) = (time.date, time.time, time.offset) else { return Err(wanted()) };
    let offset = match offset {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i64::from(minutes),
    };
    let (hour, minute) = (i64::from(clock.hour), i64::from(clock.minute));
    let second = i64::from(clock.second.unwrap_or(0));
    let days = days(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    Ok(days * DAY + hour * HOUR + (minute - offset) * 60_000 + second * 1000)
}

/// The days from 1970 until a date of the Gregorian calendar. Years begin in March here, so that
/// the day of a leap year comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

/// An error of the parser on one line, with the line of the file.
fn at_line(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
    let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    line.map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Settings, String> {
        Settings::of(text, Path::new("/class"))
    }

    #[test]
    fn a_title_is_enough() {
        let settings = of("title = \"GPU memory\"").unwrap();
        assert_eq!(settings.database, "sqlite:/class/class.db");
        assert_eq!(settings.address, "http://127.0.0.1:8391");
        assert!(!settings.tls() && settings.exercises.is_empty() && settings.course.is_none());
        assert_eq!((settings.counts, settings.workers, settings.limits), (Counts::Best, 2, Limits::default()));
    }

    #[test]
    fn everything_can_be_set() {
        let settings = of("title = 'T'\naddress = 'https://c.example'\nlisten = '0.0.0.0:80'\ncourse = 'exercises'\n\
             database = 'postgres://teacher@db/class'\nworkers = 0\nuser = 'class'\ncounts = 'latest'\n[late]\npercent_per_day = 10\n\
             cut_off_days = 7\n[[exercise]]\nname = 'guard'\npoints = 2\ndeadline = 1970-01-02T01:00:01+01:00\n\
             [[exercise]]\nname = 'padding'\nlate = { cut_off_days = 1 }\n[limits]\nwaiting = 7\n")
        .unwrap();
        assert!(settings.tls());
        assert_eq!(settings.database, "postgres://teacher@db/class");
        assert_eq!(settings.course.as_deref(), Some(Path::new("/class/exercises")));
        assert_eq!(settings.user.as_deref(), Some("class"));
        assert_eq!((settings.counts, settings.workers, settings.limits.waiting), (Counts::Latest, 0, 7));
        let late = Late { percent_per_day: 10.0, cut_off_days: 7 };
        let guard = Assigned { name: "guard".to_owned(), points: Some(2.0), deadline: Some(DAY + 1000), late };
        assert_eq!(settings.exercises[0], guard);
        assert_eq!(settings.exercises[1].late, Late { percent_per_day: 0.0, cut_off_days: 1 });
    }

    #[test]
    fn an_address_is_as_browsers_write_it() {
        for (written, wanted) in [
            ("https://Class.Example:443", "https://class.example"),
            ("HTTP://class.example:80", "http://class.example"),
            ("https://class.example:80", "https://class.example:80"),
            ("http://[::1]:443", "http://[::1]:443"),
            ("http://class.example:8080", "http://class.example:8080"),
        ] {
            assert_eq!(of(&format!("title = 'T'\naddress = '{written}'")).unwrap().address, wanted);
        }
        assert_eq!(of("title = 'T'\nlisten = '127.0.0.1:80'").unwrap().address, "http://127.0.0.1");
    }

    #[test]
    fn what_is_wrong_is_one_line_that_names_it() {
        let titled = |rest: &str| of(&format!("title = 'T'\n{rest}")).unwrap_err();
        for (rest, wanted) in [
            ("workers = 'two'", "line 2: invalid type"),
            ("worker = 2", "line 2: unknown field `worker`"),
            ("workers = 1000", "workers = 1000: at most 256"),
            ("listen = '0.0.0.0:80'", "listen = \"0.0.0.0:80\": write address, too"),
            ("listen = '[::]:80'", "listen = \"[::]:80\": write address, too"),
            ("address = 'class.example'", "address = \"class.example\": write https://NAME"),
            ("address = 'http://a@b'", "address = \"http://a@b\": write"),
            ("address = 'HTTPS://:443'", "address = \"HTTPS://:443\": write"),
            ("counts = 'worst'", "line 2: unknown variant `worst`"),
            ("[limits]\nwaiting = 0", "limits: waiting = 0 is not from 1 to"),
            ("[[exercise]]\nname = '../x'", "exercise \"../x\" is no exercise's name"),
            ("[[exercise]]\nname = 'a'\npoints = -1", "exercise a: points = -1 is not"),
            ("[[exercise]]\nname = 'a'\npoints = nan", "exercise a: points = NaN is not"),
            ("[[exercise]]\nname = 'a'\ndeadline = 2026-12-01", "exercise a: deadline: 2026-12-01: write a date"),
            ("[[exercise]]\nname = 'a'\n[[exercise]]\nname = 'a'", "exercise \"a\" is there twice"),
            ("[[exercise]]\nname = 'a'\nlate = { percent_per_day = 101 }", "exercise a: late: percent_per_day"),
        ] {
            let said = titled(rest);
            assert!(said.starts_with(wanted) && !said.contains('\n'), "{rest}: {said}");
        }
        assert!(of("title = ' '").unwrap_err().starts_with("title"));
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let said = Settings::read(Path::new("/nowhere/class.toml")).unwrap_err().to_string();
        assert!(said.starts_with("/nowhere/class.toml: "), "{said}");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!((days(1970, 1, 1), days(1970, 3, 1), days(2000, 3, 1)), (0, 59, 11_017));
        assert_eq!((days(2024, 2, 29) + 1, days(2026, 12, 1)), (days(2024, 3, 1), 20_788));
        assert_eq!(days(1969, 12, 31), -1);
    }
}
