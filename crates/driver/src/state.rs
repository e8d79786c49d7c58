//! What exists in this process: the device, its memory, and everything that has a handle.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_int;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, TryLockError};

use simt::faults::AllocationSpan;
use simt::{Memory, Model, Output};

use crate::boundary::callbacks::{at_end, is_forked};
use crate::boundary::{Done, Status};
use crate::graph_memory::GraphMemory;
use crate::host;
use crate::objects::{
    Allocation, Array, Context, Event, Function, Handle, Kind, Link, Mapping, Module, Physical, Pool, Primary,
    Reference, Stream, UserObject,
};
use crate::pools;
use crate::record::Recorder;
use crate::running::{self, Destroyed};
use crate::settings::{LaunchSettings, SETTINGS};
use crate::work::{Capture, Executable, Graph};

/// Values that clients keep with a context.
pub type Stored = HashMap<(usize, usize), usize>;

/// Everything.
pub struct State {
    pub initialized: bool,
    pub memory: Memory,
    pub allocations: BTreeMap<u64, Allocation>,
    /// Memory without an address, by its handle.
    pub physical: HashMap<Handle, Physical>,
    /// Where it is mapped.
    pub mappings: BTreeMap<u64, Mapping>,
    /// Addresses at which it can be, and how many bytes each range has.
    pub reserved: BTreeMap<u64, u64>,
    /// The files behind memory that other processes can open, and theirs.
    pub shared: HashMap<u64, File>,
    pub contexts: HashMap<Handle, Context>,
    /// The primary context of each device.
    pub primaries: Vec<Primary>,
    /// From which context another's memory may be used.
    pub peers: HashSet<(Handle, Handle)>,
    /// Bytes of each device's allocations.
    pub used: Vec<u64>,
    pub modules: HashMap<Handle, Module>,
    pub functions: HashMap<Handle, Function>,
    pub streams: HashMap<Handle, Stream>,
    pub events: HashMap<Handle, Event>,
    pub graphs: HashMap<Handle, Graph>,
    /// The graph of each node.
    pub node_graphs: HashMap<Handle, Handle>,
    pub executables: HashMap<Handle, Executable>,
    pub user_objects: HashMap<Handle, UserObject>,
    pub graph_memory: GraphMemory,
    /// The captures under way, by their ids.
    pub captures: HashMap<u64, Capture>,
    pub arrays: HashMap<Handle, Array>,
    /// Arrays with levels; each level that was asked for is one of `arrays`.
    pub mipmapped: HashMap<Handle, Array>,
    /// Texture and surface references, and whether the host has changed one since the last launch.
    pub references: HashMap<Handle, Reference>,
    pub references_changed: bool,
    pub links: HashMap<Handle, Link>,
    /// Pools of memory, among them the devices' own (`pools`).
    pub pools: HashMap<Handle, Pool>,
    /// The pool of each device from which streams allocate.
    pub current_pools: Vec<Handle>,
    pub limits: HashMap<u32, usize>,
    pub stored: Stored,
    pub output: Output,
    /// The time that the host knows of, in microseconds: the end of all that it has waited for.
    /// Launches last as long as predicted, or else as long as their simulation took.
    pub host: f64,
    /// Whether an event that takes times was ever made.
    pub timed: bool,
    /// The fault after which the context is lost.
    pub lost: Option<Status>,
    /// A fault that the next synchronisation reports.
    pub pending: Option<Status>,
    /// How launches run.
    pub settings: Arc<LaunchSettings>,
    /// What launches leave for `coalesce run`, or for the process itself (`recording`).
    pub recorder: Recorder,
    /// The same around the recording under way, the innermost last.
    pub outer: Vec<(Arc<LaunchSettings>, Recorder)>,
    /// What the host code did.
    pub host_recorder: host::Recorder,
    /// The preference of the context between shared memory and L1, as numbered by the API.
    pub cache: u32,
    next: usize,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| {
    host::begin();
    if SETTINGS.launches.record.is_some() || SETTINGS.host_record.is_some() {
        at_end(finish);
    }
    Mutex::new(State {
        initialized: false,
        memory: Memory::new(SETTINGS.memory.saturating_mul(SETTINGS.gpus.len() as u64)),
        allocations: BTreeMap::new(),
        physical: HashMap::new(),
        mappings: BTreeMap::new(),
        reserved: BTreeMap::new(),
        shared: HashMap::new(),
        contexts: HashMap::new(),
        primaries: vec![Primary::default(); SETTINGS.gpus.len()],
        peers: HashSet::new(),
        used: vec![0; SETTINGS.gpus.len()],
        modules: HashMap::new(),
        functions: HashMap::new(),
        streams: Stream::defaults(),
        events: HashMap::new(),
        graphs: HashMap::new(),
        node_graphs: HashMap::new(),
        executables: HashMap::new(),
        user_objects: HashMap::new(),
        graph_memory: GraphMemory::default(),
        captures: HashMap::new(),
        arrays: HashMap::new(),
        mipmapped: HashMap::new(),
        references: HashMap::new(),
        references_changed: false,
        links: HashMap::new(),
        pools: pools::defaults(),
        current_pools: (0..SETTINGS.gpus.len()).map(pools::default_of).collect(),
        limits: HashMap::new(),
        stored: HashMap::new(),
        output: Output::default(),
        host: 0.0,
        timed: false,
        lost: None,
        pending: None,
        settings: SETTINGS.launches.clone(),
        recorder: Recorder::new(SETTINGS.launches.record.clone()),
        outer: Vec::new(),
        host_recorder: host::Recorder::default(),
        cache: 0,
        next: 0x1000,
    })
});

thread_local! {
    /// The contexts of this thread, the current one last. Never dropped: what a thread destroys at
    /// its end may still call the driver, and a list of a few numbers is all that a thread leaves.
    pub static CURRENT: RefCell<ManuallyDrop<Vec<Handle>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

impl State {
    /// A new handle.
    pub fn handle(&mut self) -> Handle {
        self.next += 0x10;
        self.next
    }

    /// The allocation that an address is in, and where it starts.
    pub fn allocation(&self, address: u64) -> Option<(u64, Allocation)> {
        let (&start, &allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.bytes.max(1)).then_some((start, allocation))
    }

    /// The device memory that an address is in: an allocation, mappings side by side, or a variable
    /// of a module.
    pub fn span(&self, address: u64) -> Option<AllocationSpan> {
        if let Some((start, allocation)) = self.allocation(address) {
            return Some(AllocationSpan { address: start, bytes: allocation.bytes });
        }
        if let Some(span) = self.mapped(address) {
            return Some(span);
        }
        self.memory.allocations().find(|span| address.wrapping_sub(span.address) < span.bytes)
    }

    /// The mapping that an address is in, if it can be accessed, and those right behind it.
    fn mapped(&self, address: u64) -> Option<AllocationSpan> {
        let (&start, first) = self.mappings.range(..=address).next_back()?;
        let mut end = start + first.bytes;
        if address >= end {
            return None;
        }
        let mut all = self.mappings.range(start..);
        let mut next = start;
        while let Some((_, mapping)) = all.next().filter(|(at, mapping)| **at == next && mapping.access != 0) {
            next += mapping.bytes;
            end = next;
        }
        (next > start).then_some(AllocationSpan { address: start, bytes: end - start })
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

    /// A stream, by its number.
    pub fn stream(&self, stream: Handle) -> Done<&Stream> {
        self.streams.get(&stream).ok_or(Status::INVALID_HANDLE)
    }

    /// A stream to change, by its number.
    pub fn stream_mut(&mut self, stream: Handle) -> Done<&mut Stream> {
        self.streams.get_mut(&stream).ok_or(Status::INVALID_HANDLE)
    }

    /// An event to change.
    pub fn event_mut(&mut self, event: Handle) -> Done<&mut Event> {
        self.events.get_mut(&event).ok_or(Status::INVALID_HANDLE)
    }

    /// Waits for all streams.
    pub fn synchronize_all(&mut self) -> Done {
        self.host = self.streams.values().map(|stream| stream.clock).fold(self.host, f64::max);
        self.synchronize()
    }

    /// Forgets a fault, with the context that it has taken.
    pub fn recover(&mut self) {
        (self.lost, self.pending) = (None, None);
    }

    /// A device's primary context, to change.
    pub fn primary(&mut self, device: c_int) -> Done<&mut Primary> {
        let index = usize::try_from(device).map_err(|_| Status::INVALID_DEVICE)?;
        self.primaries.get_mut(index).ok_or(Status::INVALID_DEVICE)
    }

    /// A device's primary context, which exists from then on.
    pub fn primary_context(&mut self, device: c_int) -> Done<Handle> {
        let next = self.handle();
        let primary = self.primary(device)?;
        let (context, flags) = (*primary.context.get_or_insert(next), primary.flags);
        self.contexts.entry(context).or_insert(Context { flags, device });
        Ok(context)
    }

    /// The device of the current context; without one, the first.
    pub fn device(&self) -> c_int {
        let context = current().ok().and_then(|context| self.contexts.get(&context));
        context.map_or(0, |context| context.device)
    }

    /// The GPU of that device.
    pub fn gpu(&self) -> &'static Model {
        SETTINGS.gpus[self.device() as usize]
    }

    /// Bytes of a device's memory in use: its allocations, and what modules have, which is counted
    /// on each.
    pub fn used_on(&self, device: c_int) -> u64 {
        let others = self.used.iter().enumerate().filter(|(index, _)| *index != device as usize);
        self.memory.used().saturating_sub(others.map(|(_, used)| used).sum())
    }
}

/// The state, whatever a panic left.
pub fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Finishes the records when the process ends, unless another thread holds the lock: for ever,
/// perhaps. A fork's records are those of the process that it is a fork of.
extern "C" fn finish() {
    if is_forked() {
        return;
    }
    let state = match STATE.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(mut state) = state {
        state.recorder.finish();
        state.outer.iter_mut().for_each(|(_, recorder)| recorder.finish());
        // What graphs keep for their next launch is theirs.
        let allocated = state.allocations.iter().filter(|(address, _)| !state.graph_memory.is_free(**address));
        let allocated = allocated.map(|(_, allocation)| allocation.bytes);
        let left: Vec<u64> = allocated.chain(state.physical.values().map(|physical| physical.memory.bytes())).collect();
        // Two streams exist always.
        let handles = state.streams.len().saturating_sub(2) + state.events.len();
        state.host_recorder.finish(&left, handles as u64);
    }
}

/// Fails if a fault shows now that all launches have ended.
pub fn settled() -> Done {
    ready()?.synchronize_all()
}

/// The state of an initialised driver.
pub fn ready() -> Done<MutexGuard<'static, State>> {
    let state = lock();
    if state.initialized { Ok(state) } else { Err(Status::NOT_INITIALIZED) }
}

/// The state for work of the current context, which must exist and not be lost.
pub fn working() -> Done<MutexGuard<'static, State>> {
    let state = ready()?;
    // Destroyed by another thread, it stays this one's current context.
    let context = current()?;
    if !state.contexts.contains_key(&context) || running::destroys(Destroyed::Context(context)) {
        return Err(Status::CONTEXT_IS_DESTROYED);
    }
    state.check()?;
    Ok(state)
}

/// The current context.
pub fn current() -> Done<Handle> {
    CURRENT.with_borrow(|all| all.last().copied()).filter(|&context| context != 0).ok_or(Status::INVALID_CONTEXT)
}
