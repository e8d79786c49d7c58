//! What exists in this process: the device, its memory, and everything that has a handle.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, TryLockError};

use simt::{AllocationSpan, ArrayHandle, ArrayShape, Checks, Memory, Model, Output, Program};

use crate::boundary::{Done, Status, say};
use crate::record::Recorder;

/// A handle: a number that the caller takes for a pointer.
pub type Handle = usize;

/// What the environment sets.
pub struct Settings {
    /// The GPU whose properties are shown and whose times are predicted.
    pub gpu: &'static Model,
    /// Whether launches run on its model.
    pub modelled: bool,
    /// What the sanitizer looks for.
    pub checks: Checks,
    /// The same in kernels that were not chosen.
    pub unchosen_checks: Checks,
    /// The only kernel to check, predict and record.
    pub only: Option<String>,
    /// The folder for records of launches.
    pub record: Option<String>,
    /// Whether an access out of bounds is shown and skipped, as most of them pass unnoticed on a GPU.
    pub goes_on: bool,
    /// Whether a fault is the status of the next call, as on a GPU, not that of the launch.
    pub defers: bool,
    /// `Some`: whether times are predicted; `None`: once an event that takes times exists.
    pub predict: Option<bool>,
    /// The most warp instructions of a launch.
    pub steps: Option<u64>,
    /// The device's memory in bytes.
    pub memory: u64,
    /// Where PTX goes.
    pub dump: Option<String>,
}

/// Set when the driver is first called. A bad value is reported and ignored.
pub static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let wanted = of("COALESCE_DEVICE").unwrap_or_else(|| "hopper".to_owned());
    let gpu = Model::named(&wanted).unwrap_or_else(|| {
        let names: Vec<&str> = Model::all().iter().map(|model| model.name).collect();
        say(&format!("COALESCE_DEVICE: there is no GPU '{wanted}'; there are {}", names.join(", ")));
        Model::named("hopper").unwrap_or(&Model::all()[0])
    });
    let checks = of("COALESCE_CHECK").map_or(Ok(Checks::NONE), |text| text.parse::<Checks>());
    let checks = checks.unwrap_or_else(|error| {
        say(&format!("COALESCE_CHECK: {error}"));
        Checks::NONE
    });
    let fault = of("COALESCE_FAULT").unwrap_or_else(|| "stop".to_owned());
    if !["stop", "continue", "defer"].contains(&&*fault) {
        say(&format!("COALESCE_FAULT: '{fault}' is none of stop, continue, defer"));
    }
    let goes_on = fault == "continue";
    // Only the check can skip an access; without it, a fault ends the launch.
    let unchosen_checks = Checks { memory: goes_on, ..Checks::NONE };
    let number = |name: &str| {
        let text = of(name)?;
        let value = text.parse::<u64>();
        value.map_err(|_| say(&format!("{name}: '{text}' is not a number"))).ok()
    };
    Settings {
        gpu,
        modelled: of("COALESCE_MODEL").is_some_and(|value| value != "0"),
        checks: Checks { memory: checks.memory || goes_on, ..checks },
        unchosen_checks,
        goes_on,
        defers: fault == "defer",
        only: of("COALESCE_ONLY_KERNEL"),
        record: of("COALESCE_RECORD"),
        predict: match of("COALESCE_PREDICT").as_deref() {
            Some("always") => Some(true),
            Some("never") => Some(false),
            _ => None,
        },
        steps: number("COALESCE_STEPS"),
        memory: number("COALESCE_MEMORY").unwrap_or(DEFAULT_MEMORY),
        dump: of("COALESCE_DUMP"),
    }
});

/// Device memory unless `COALESCE_MEMORY` says otherwise. Pages that nobody writes take no room.
const DEFAULT_MEMORY: u64 = 16 << 30;

/// Which memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    /// Pinned memory of the host, at the same address on both sides.
    Host,
    /// Managed memory, at the same address on both sides.
    Managed,
    /// Memory of the host that was registered: `usize` is its address there.
    Registered(usize),
}

/// An allocation, under its device address.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub bytes: u64,
    pub kind: Kind,
    /// A number that no other allocation has.
    pub id: u64,
}

impl Allocation {
    /// The host's address of its first byte, if the host can reach it.
    pub fn on_host(&self, address: u64) -> Option<u64> {
        match self.kind {
            Kind::Device => None,
            Kind::Host | Kind::Managed => Some(address),
            Kind::Registered(host) => Some(host as u64),
        }
    }
}

/// A loaded module, or library: the API has both, here they are one.
pub struct Module {
    pub program: Arc<Program>,
    /// Bytes of its constants.
    pub constants: u64,
    /// Handles of the functions that were asked for, by name.
    pub functions: HashMap<String, Handle>,
}

/// A kernel: a `CUfunction` or `CUkernel`.
#[derive(Clone)]
pub struct Function {
    pub module: Handle,
    pub program: Arc<Program>,
    pub name: String,
    /// The name, with the zero byte of C.
    pub c_name: std::ffi::CString,
    /// `MAX_DYNAMIC_SHARED_SIZE_BYTES`, as set.
    pub dynamic_limit: i32,
    /// `PREFERRED_SHARED_MEMORY_CARVEOUT`, as set.
    pub carveout: i32,
}

/// A stream.
#[derive(Clone, Copy, Default)]
pub struct Stream {
    pub flags: u32,
    pub priority: i32,
}

/// An event.
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub flags: u32,
    /// The device's clock when it was recorded, in microseconds.
    pub at: Option<f64>,
}

/// An array.
#[derive(Clone, Copy)]
pub struct Array {
    pub handle: ArrayHandle,
    pub shape: ArrayShape,
    /// The level, of one with levels.
    pub level: u32,
    pub format: u32,
    pub flags: u32,
}

impl Array {
    /// Texels of its level in each dimension; layers count as the third.
    pub fn extents(&self) -> [usize; 3] {
        let ArrayShape { width, height, depth, layers, .. } = self.shape;
        let shrunk = |texels: u32| if texels == 0 { 0 } else { (texels >> self.level.min(31)).max(1) as usize };
        [shrunk(width), shrunk(height), if layers > 0 { layers as usize } else { shrunk(depth) }]
    }
}

/// Values that clients keep with a context.
pub type Stored = HashMap<(usize, usize), usize>;

/// Everything.
pub struct State {
    pub initialized: bool,
    pub memory: Memory,
    pub allocations: BTreeMap<u64, Allocation>,
    pub contexts: HashMap<Handle, u32>,
    pub primary: Option<Handle>,
    pub primary_count: u32,
    pub primary_flags: u32,
    pub modules: HashMap<Handle, Module>,
    pub functions: HashMap<Handle, Function>,
    pub streams: HashMap<Handle, Stream>,
    pub events: HashMap<Handle, Event>,
    pub arrays: HashMap<Handle, Array>,
    /// Arrays with levels; each level that was asked for is one of `arrays`.
    pub mipmapped: HashMap<Handle, Array>,
    pub links: HashMap<Handle, crate::link::Link>,
    pub pools: HashMap<Handle, ()>,
    pub limits: HashMap<u32, usize>,
    pub stored: Stored,
    pub output: Output,
    /// The device's clock, in microseconds: predicted times of launches that have one, the host's
    /// time for the rest.
    pub clock: f64,
    /// Whether an event that takes times was ever made.
    pub timed: bool,
    /// The fault after which the context is lost.
    pub lost: Option<Status>,
    /// A fault that the next synchronisation reports.
    pub pending: Option<Status>,
    /// What launches leave for `coalesce run`.
    pub recorder: Recorder,
    next: usize,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| {
    Mutex::new(State {
        initialized: false,
        memory: Memory::new(SETTINGS.memory),
        allocations: BTreeMap::new(),
        contexts: HashMap::new(),
        primary: None,
        primary_count: 0,
        primary_flags: 0,
        modules: HashMap::new(),
        functions: HashMap::new(),
        streams: HashMap::new(),
        events: HashMap::new(),
        arrays: HashMap::new(),
        mipmapped: HashMap::new(),
        links: HashMap::new(),
        pools: HashMap::new(),
        limits: HashMap::new(),
        stored: HashMap::new(),
        output: Output::default(),
        clock: 0.0,
        timed: false,
        lost: None,
        pending: None,
        recorder: Recorder::default(),
        next: 0x1000,
    })
});

thread_local! {
    /// The contexts of this thread, the current one last.
    pub static CURRENT: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

impl State {
    /// A handle that nothing else has.
    pub fn handle(&mut self) -> Handle {
        self.next += 0x10;
        self.next
    }

    /// The allocation that an address is in, and where it starts.
    pub fn allocation(&self, address: u64) -> Option<(u64, Allocation)> {
        let (&start, &allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.bytes.max(1)).then_some((start, allocation))
    }

    /// The device memory that an address is in: an allocation, or a variable of a module.
    pub fn span(&self, address: u64) -> Option<AllocationSpan> {
        if let Some((start, allocation)) = self.allocation(address) {
            return Some(AllocationSpan { address: start, bytes: allocation.bytes });
        }
        self.memory.allocations().find(|span| address.wrapping_sub(span.address) < span.bytes)
    }

    /// The allocation of registered host memory that a host address is in.
    pub fn registered(&self, host: usize) -> Option<(u64, Allocation)> {
        self.allocations.iter().map(|(&start, &allocation)| (start, allocation)).find(|(_, allocation)| {
            matches!(allocation.kind, Kind::Registered(base) if host.wrapping_sub(base) < allocation.bytes as usize)
        })
    }

    /// Fails once a fault has taken the context.
    pub fn check(&self) -> Done {
        self.lost.map_or(Ok(()), Err)
    }

    /// Waits for all launches: a fault that was deferred shows here.
    pub fn synchronize(&mut self) -> Done {
        self.lost = self.lost.or(self.pending.take());
        self.check()
    }

    /// Forgets a fault, with the context that it has taken.
    pub fn recover(&mut self) {
        (self.lost, self.pending) = (None, None);
    }

    /// The primary context, which exists from then on.
    pub fn primary_context(&mut self) -> Handle {
        if let Some(context) = self.primary {
            return context;
        }
        let (context, flags) = (self.handle(), self.primary_flags);
        self.contexts.insert(context, flags);
        self.primary = Some(context);
        context
    }
}

/// The state, whatever a panic left.
pub fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The state, unless another thread uses it.
pub fn try_lock() -> Option<MutexGuard<'static, State>> {
    match STATE.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Fails if a fault shows now that all launches have ended.
pub fn settled() -> Done {
    ready()?.synchronize()
}

/// The state of an initialised driver.
pub fn ready() -> Done<MutexGuard<'static, State>> {
    let state = lock();
    if state.initialized { Ok(state) } else { Err(Status::NOT_INITIALIZED) }
}

/// The state for work of the current context, which must exist and not be lost.
pub fn working() -> Done<MutexGuard<'static, State>> {
    let state = ready()?;
    current()?;
    state.check()?;
    Ok(state)
}

/// The current context.
pub fn current() -> Done<Handle> {
    CURRENT.with_borrow(|all| all.last().copied()).filter(|&context| context != 0).ok_or(Status::INVALID_CONTEXT)
}
