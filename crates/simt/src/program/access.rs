//! The decoded form of loads, stores, atomic operations and fences: addresses, operands and memory
//! order.

use ptx::{EvictionPriority, Ordering, Scope, Space};

use crate::instruction::AccessKind;
use crate::lanes::Update;
use crate::model::CacheHint;
use crate::site::AccessAction;

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressOperand {
    pub space: Space,
    /// The row of base addresses.
    pub address: u32,
    /// Whether that row has 64 bits.
    pub wide: bool,
    /// Whether the start of the frame's local memory is added.
    pub frame: bool,
    pub offset: u64,
    /// The access's index among [`Code::accesses`](super::Code::accesses).
    pub slot: u32,
}

/// The scope of a fence or a strong operation: the threads that it is for. Wider scopes compare
/// greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SyncScope {
    Block,
    Cluster,
    #[default]
    All,
}

impl From<Scope> for SyncScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Cluster => Self::Cluster,
            Scope::Device | Scope::System => Self::All,
        }
    }
}

/// A fence: its scope, and the state spaces in which it orders generic accesses before async ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub scope: SyncScope,
    pub shared_to_async: bool,
    pub global_to_async: bool,
    /// Whether it releases writes to tensor maps, for copies that acquire them.
    pub releases_maps: bool,
}

impl Fence {
    /// A fence without proxies.
    pub fn of(scope: SyncScope) -> Self {
        Self { scope, shared_to_async: false, global_to_async: false, releases_maps: false }
    }
}

/// An access's memory order, for the sanitizer: the machine executes all accesses in program order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Order {
    /// Whether it is a strong operation: anything but a plain load or store.
    pub strong: bool,
    /// Whether it is volatile.
    pub volatile: bool,
    /// A load that the program declares read-only during the launch: `ld.global.nc`, `ldu`.
    pub read_only: bool,
    /// The scope of a strong operation.
    pub scope: SyncScope,
    /// The scope to which it releases, if it does.
    pub releases: Option<SyncScope>,
    /// The scope from which it acquires, if it does: for drawn orders alone.
    pub acquires: Option<SyncScope>,
}

impl Order {
    /// That of an atomic operation, which is strong in any case.
    pub fn atomic(ordering: Ordering, scope: Scope) -> Self {
        Self { strong: true, scope: scope.into(), ..Self::new(ordering, scope) }
    }

    pub fn new(ordering: Ordering, scope: Scope) -> Self {
        let both = matches!(ordering, Ordering::AcquireRelease | Ordering::SequentiallyConsistent);
        let (releases, acquires) = (both || ordering == Ordering::Release, both || ordering == Ordering::Acquire);
        Self {
            strong: ordering != Ordering::Weak,
            volatile: ordering == Ordering::Volatile,
            read_only: false,
            scope: match ordering {
                Ordering::Weak | Ordering::Volatile => SyncScope::All,
                _ => scope.into(),
            },
            releases: releases.then_some(scope.into()),
            acquires: acquires.then_some(scope.into()),
        }
    }
}

/// A request that is counted for an access instead of the one that PTX has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedAs {
    pub reach: AddressOperand,
    /// Bytes of a lane.
    pub width: u32,
}

/// What an operation on an mbarrier does there, as far as the order of threads goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierAccess {
    Arrival,
    Wait,
    Beginning,
    End,
}

/// The path of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The generic proxy: loads, stores and atomic operations.
    Generic,
    /// A texture or surface, which may not see what this launch has written.
    Texture,
    /// An operation on an mbarrier. One on another block's mbarrier releases to that block.
    Mbarrier,
    /// The tensor map proxy, through which a copy reads the map that describes it.
    TensorMap,
    /// The async proxy: bulk copies and `wgmma`.
    Async,
}

/// Which requests the hardware makes for an access (`requests`).
#[derive(Clone, Debug)]
pub(crate) enum Requests {
    /// One, as PTX has it.
    Own,
    /// One, by one of the lanes for all.
    OneLane,
    /// These, or none.
    Others(Box<[CountedAs]>),
}

/// What an instruction does to memory in each of its lanes: all that is known of an access when the
/// instruction is decoded. Whoever observes an access (`machine/observe`) gets it by reference.
#[derive(Clone, Debug)]
pub(crate) struct MemoryOperation {
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    pub kind: AccessKind,
    /// The same, as far as the sanitizer cares.
    pub action: AccessAction,
    /// Bytes a lane accesses: 1, 2, 4, 8 or 16.
    pub width: u32,
    /// Bytes of an element. A vector access has several.
    pub element: u32,
    pub order: Order,
    /// Which parts of the value that is read are only copied.
    pub copied: Copied,
    /// Whether the old value is read but does not matter.
    pub overwrites: bool,
    pub path: Path,
    /// Which caches it asks for, on a model.
    pub hint: CacheHint,
    /// What it asks of L2, on a model.
    pub eviction: Eviction,
    pub requests: Requests,
}

/// Which priority an access gives its lines in L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eviction {
    /// This one.
    Priority(EvictionPriority),
    /// That of the policy in this row.
    Policy(u32),
}

impl Default for Eviction {
    fn default() -> Self {
        Self::Priority(EvictionPriority::Unchanged)
    }
}

impl MemoryOperation {
    /// A plain access, by the generic proxy.
    pub fn new(place: u32, kind: AccessKind, width: u32) -> Self {
        Self {
            place,
            kind,
            action: match kind {
                AccessKind::Load | AccessKind::Copy => AccessAction::Read,
                AccessKind::Store => AccessAction::Write,
                AccessKind::Atomic | AccessKind::Reduction => AccessAction::Atomic,
            },
            width,
            element: width,
            order: Order::default(),
            copied: Copied::default(),
            overwrites: false,
            path: Path::Generic,
            hint: CacheHint::None,
            eviction: Eviction::default(),
            requests: Requests::Own,
        }
    }

    /// An atomic operation that orders nothing.
    pub fn atomic(place: u32, width: u32) -> Self {
        let order = Order { strong: true, ..Order::default() };
        Self { order, hint: CacheHint::Bypass, ..Self::new(place, AccessKind::Atomic, width) }
    }

    /// An operation on an mbarrier. Arrivals, and copies that complete there, release to the whole
    /// cluster, where threads of other blocks may wait. Waits acquire what was released before the
    /// phase was complete. `mbarrier.init` is a plain write. `inval` orders nothing and races with
    /// nothing but plain accesses: NVIDIA's pipelines leave the last one to a lane that knows of
    /// the other lanes' arrivals by a vote.
    pub fn mbarrier(place: u32, access: MbarrierAccess) -> Self {
        let plain = Self::atomic(place, 8);
        let (action, order) = match access {
            MbarrierAccess::Arrival => {
                (AccessAction::Atomic, Order { releases: Some(SyncScope::Cluster), ..plain.order })
            }
            MbarrierAccess::Wait => (AccessAction::Read, plain.order),
            MbarrierAccess::Beginning => (AccessAction::Write, Order::default()),
            MbarrierAccess::End => (AccessAction::Atomic, plain.order),
        };
        Self { action, order, overwrites: true, path: Path::Mbarrier, ..plain }
    }

    /// The same on another path.
    pub fn through(self, path: Path) -> Self {
        Self { path, ..self }
    }
}

/// A load of `count` elements.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub operation: MemoryOperation,
    pub reach: AddressOperand,
    pub count: u32,
    pub rows: [u32; 4],
    /// Whether the destinations have 64 bits.
    pub wide: bool,
    /// Whether narrower values are sign-extended.
    pub signed: bool,
}

/// What happens to a loaded value, packed into one word because every checked access carries it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied(u32);

impl Copied {
    const IN_PLACE: u32 = 1 << 7;
    const FOLLOWED: u32 = 1 << 8;
    const PLACE: u32 = 9;

    /// Marks an element as only copied: it is stored elsewhere, or not used at all.
    pub fn add(&mut self, element: usize) {
        self.0 |= 1 << element.min(6);
    }

    /// Whether an element is only copied.
    pub fn has(self, element: u32) -> bool {
        self.0 >> element.min(6) & 1 == 1
    }

    /// Whether the value is only stored back to where it came from, with some bits replaced.
    pub fn is_in_place(self) -> bool {
        self.0 & Self::IN_PLACE != 0
    }

    /// Whether its destination registers are tracked, so that loading it unwritten is not yet a
    /// fault.
    pub fn is_followed(self) -> bool {
        self.0 & Self::FOLLOWED != 0
    }

    /// Marks the destination registers as tracked.
    pub fn follow(&mut self) {
        self.0 |= Self::FOLLOWED;
    }

    /// The instruction that stores it unchanged, if nothing else uses it: an index in
    /// `Code::places`.
    pub fn stored_at(self) -> Option<u32> {
        (self.0 >> Self::PLACE).checked_sub(1)
    }

    /// Sets what [`Copied::is_in_place`] and [`Copied::stored_at`] return.
    pub fn mark(&mut self, in_place: bool, stored_at: Option<u32>) {
        self.0 |= if in_place { Self::IN_PLACE } else { 0 };
        // Indices that do not fit are dropped.
        let place = stored_at.map_or(0, |place| place + 1);
        self.0 |= if place < 1 << (32 - Self::PLACE) { place << Self::PLACE } else { 0 };
    }
}

/// A store of `count` elements.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub operation: MemoryOperation,
    pub reach: AddressOperand,
    pub count: u32,
    pub rows: [u32; 4],
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub operation: MemoryOperation,
    pub reach: AddressOperand,
    pub update: Update,
    pub d: Option<u32>,
    pub a: u32,
    pub b: u32,
    /// For a vector, `d` and `a` of the elements after the first.
    pub rest: Box<[(Option<u32>, u32)]>,
}

impl Atomic {
    /// `d` and `a` of each element.
    pub fn elements(&self) -> impl Iterator<Item = (Option<u32>, u32)> {
        std::iter::once((self.d, self.a)).chain(self.rest.iter().copied())
    }
}
