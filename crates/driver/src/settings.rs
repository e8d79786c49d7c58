//! What the environment sets: the table in the documentation of this crate.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use simt::orders::DrawnOrder;
use simt::{Checks, Model};

use crate::boundary::say;

/// Device memory unless `COALESCE_MEMORY` says otherwise. Pages that nobody writes take no room.
const DEFAULT_MEMORY: u64 = 16 << 30;

/// The version of CUDA that the driver reports unless `COALESCE_CUDA` sets another: 12.8.
const CUDA: c_int = 12_080;

/// A version of CUDA, such as 13.0, as the API has it: 13000.
///
/// # Errors
///
/// What is wrong with it, in a line.
pub fn cuda_of(text: &str) -> Result<c_int, String> {
    let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match parts {
        Some((major @ 12..=13, minor @ 0..=9)) => Ok(major * 1000 + minor * 10),
        _ => Err(format!("'{text}' is no version of CUDA that programs are for; give 12.0 to 13.9")),
    }
}

/// The most devices.
const MOST_DEVICES: usize = 16;

/// The GPUs of a list: their names, separated by commas, or how many there are of the usual one.
///
/// # Errors
///
/// What is wrong with the list, in a line.
pub fn gpus_of(list: &str, usual: &'static Model) -> Result<Vec<&'static Model>, String> {
    let wrong = || format!("give 1 to {MOST_DEVICES} devices, or a list of GPUs");
    let gpus = match list.parse() {
        Ok(count) if (1..=MOST_DEVICES).contains(&count) => vec![usual; count],
        Ok(_) => return Err(wrong()),
        Err(_) => {
            let named = |name: &str| Model::named(name.trim()).ok_or_else(|| format!("there is no GPU '{name}'"));
            list.split(',').map(named).collect::<Result<Vec<_>, _>>()?
        }
    };
    if gpus.len() <= MOST_DEVICES { Ok(gpus) } else { Err(wrong()) }
}

/// What the environment sets.
pub struct Settings {
    /// The version of CUDA that the driver says it is for.
    pub cuda: c_int,
    /// The GPU of each device, whose properties are shown and whose times are predicted.
    pub gpus: Vec<&'static Model>,
    /// The name of each device, instead of one that says what it is.
    pub name: Option<String>,
    /// How launches run, unless a recording of the process itself says otherwise.
    pub launches: Arc<LaunchSettings>,
    /// The file for the record of the host code.
    pub host_record: Option<String>,
    /// The memory of each device in bytes.
    pub memory: u64,
    /// Where PTX goes.
    pub dump: Option<String>,
    /// Further folders of sources.
    pub sources: Vec<PathBuf>,
    /// Columns of messages.
    pub width: usize,
}

/// How launches run.
pub struct LaunchSettings {
    /// Whether they run on the device's model.
    pub modelled: bool,
    /// What the sanitizer looks for.
    pub checks: Checks,
    /// The same in kernels that were not chosen.
    pub unchosen_checks: Checks,
    /// The only kernel to check, predict and record.
    pub only: Option<String>,
    /// Whether records have requests, of which pictures are drawn.
    pub watches: bool,
    /// The folder for records of launches.
    pub record: Option<PathBuf>,
    /// Whether an access out of bounds is shown and skipped, as most of them pass unnoticed on a
    /// GPU.
    pub goes_on: bool,
    /// Whether a fault is the status of the next call, as on a GPU, not that of the launch.
    pub defers: bool,
    /// `Some`: whether times are predicted; `None`: once an event that takes times exists.
    pub predict: Option<bool>,
    /// Whether predicted times are those of launches whose data is in the level-2 cache, if it
    /// fits.
    pub warm: bool,
    /// The most warp instructions of a launch.
    pub steps: Option<u64>,
    /// Other orders in which launches run.
    pub orders: Option<Orders>,
    /// Whether a recording leaves what streams were given.
    pub notes_given: bool,
}

/// Other orders of blocks and warps, whose results are compared with the usual order's.
#[expect(clippy::large_enum_variant, reason = "there is one")]
pub enum Orders {
    /// So many, drawn from a seed.
    Drawn { count: u32, seed: u64 },
    /// This one.
    One(DrawnOrder),
}

/// Set when the driver is first called. A bad value is reported and ignored.
pub static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let reader = Reader { of: &of_environment, wrong: &|problem| say(&problem) };
    let folders = |name: &str| std::env::var_os(name).map(|all| std::env::split_paths(&all).collect::<Vec<_>>());
    fault_text::sources::also_beside(folders("COALESCE_BESIDE").unwrap_or_default());
    let columns = reader.number("COLUMNS").map_or(wording::WIDTH, |columns| columns.clamp(40, 1000) as usize);
    Settings {
        cuda: reader.cuda(),
        sources: folders("COALESCE_SOURCES").unwrap_or_default(),
        width: columns,
        gpus: reader.gpus(),
        name: reader.value("COALESCE_NAME"),
        launches: Arc::new(reader.launches()),
        host_record: reader.value("COALESCE_HOST_RECORD"),
        memory: reader.number("COALESCE_MEMORY").unwrap_or(DEFAULT_MEMORY),
        dump: reader.value("COALESCE_DUMP"),
    }
});

/// A variable of the environment.
pub fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Reads variables.
pub struct Reader<'a> {
    /// The value of a variable.
    pub of: &'a dyn Fn(&str) -> Option<String>,
    /// Takes what is wrong with one.
    pub wrong: &'a dyn Fn(String),
}

impl Reader<'_> {
    fn value(&self, name: &str) -> Option<String> {
        (self.of)(name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &str) -> Option<u64> {
        let text = self.value(name)?;
        let value = text.parse::<u64>();
        value.map_err(|_| (self.wrong)(format!("{name}: '{text}' is not a number"))).ok()
    }

    /// The version of CUDA.
    fn cuda(&self) -> c_int {
        let version = self.value("COALESCE_CUDA").map_or(Ok(CUDA), |text| cuda_of(&text));
        version.unwrap_or_else(|problem| {
            (self.wrong)(format!("COALESCE_CUDA: {problem}"));
            CUDA
        })
    }

    /// The GPU of each device.
    pub fn gpus(&self) -> Vec<&'static Model> {
        let wanted = self.value("COALESCE_DEVICE").unwrap_or_else(|| "hopper".to_owned());
        let gpu = Model::named(&wanted).unwrap_or_else(|| {
            let names: Vec<&str> = Model::all().iter().map(|model| model.name).collect();
            (self.wrong)(format!("COALESCE_DEVICE: there is no GPU '{wanted}'; there are {}", names.join(", ")));
            Model::named("hopper").unwrap_or(&Model::all()[0])
        });
        let list = self.value("COALESCE_DEVICES");
        list.map_or(Ok(vec![gpu]), |list| gpus_of(&list, gpu)).unwrap_or_else(|error| {
            (self.wrong)(format!("COALESCE_DEVICES: {error}"));
            vec![gpu]
        })
    }

    /// How launches run.
    pub fn launches(&self) -> LaunchSettings {
        let of = |name: &str| self.value(name);
        let checks = of("COALESCE_CHECK").map_or(Ok(Checks::NONE), |text| text.parse::<Checks>());
        let checks = checks.unwrap_or_else(|error| {
            (self.wrong)(format!("COALESCE_CHECK: {error}"));
            Checks::NONE
        });
        let fault = of("COALESCE_FAULT").unwrap_or_else(|| "stop".to_owned());
        if !["stop", "continue", "defer"].contains(&&*fault) {
            (self.wrong)(format!("COALESCE_FAULT: '{fault}' is unknown; give stop, continue or defer"));
        }
        let goes_on = fault == "continue";
        let caches = of("COALESCE_CACHES").unwrap_or_else(|| "cold".to_owned());
        if !["cold", "warm"].contains(&&*caches) {
            (self.wrong)(format!("COALESCE_CACHES: '{caches}' is unknown; give cold or warm"));
        }
        let one = of("COALESCE_SCHEDULE").and_then(|text| {
            let order = text.parse::<DrawnOrder>();
            order.map_err(|error| (self.wrong)(format!("COALESCE_SCHEDULE: {error}"))).ok()
        });
        let count = self.number("COALESCE_SCHEDULES").map(|count| count.min(u32::MAX.into()) as u32);
        let drawn = || {
            let count = count.filter(|&count| count > 0)?;
            Some(Orders::Drawn { count, seed: self.number("COALESCE_SEED").unwrap_or(1) })
        };
        LaunchSettings {
            orders: one.map(Orders::One).or_else(drawn),
            modelled: of("COALESCE_MODEL").is_some_and(|value| value != "0"),
            checks: Checks { memory: checks.memory || goes_on, ..checks },
            // Only the check can skip an access; without it, a fault ends the launch.
            unchosen_checks: Checks { memory: goes_on, ..Checks::NONE },
            goes_on,
            defers: fault == "defer",
            only: of("COALESCE_ONLY_KERNEL"),
            watches: of("COALESCE_REQUESTS").is_some_and(|value| value != "0"),
            record: of("COALESCE_RECORD").map(PathBuf::from),
            predict: match of("COALESCE_PREDICT").as_deref() {
                Some("always") => Some(true),
                Some("never") => Some(false),
                _ => None,
            },
            warm: caches == "warm",
            steps: self.number("COALESCE_STEPS"),
            notes_given: of("COALESCE_GIVEN").is_some_and(|value| value != "0"),
        }
    }
}
