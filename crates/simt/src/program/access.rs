//! The decoded form of loads, stores, atomic operations and fences: addresses, operands and memory
//! order.

use ptx::{Ordering, Scope, Space};

use super::requests::Combined;
use crate::lanes::Update;
use crate::model::CacheHint;

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
}

impl Order {
    /// That of an atomic operation, which is strong in any case.
    pub fn atomic(ordering: Ordering, scope: Scope) -> Self {
        Self { strong: true, scope: scope.into(), ..Self::new(ordering, scope) }
    }

    pub fn new(ordering: Ordering, scope: Scope) -> Self {
        let releases =
            matches!(ordering, Ordering::Release | Ordering::AcquireRelease | Ordering::SequentiallyConsistent);
        Self {
            strong: ordering != Ordering::Weak,
            volatile: ordering == Ordering::Volatile,
            read_only: false,
            scope: match ordering {
                Ordering::Weak | Ordering::Volatile => SyncScope::All,
                _ => scope.into(),
            },
            releases: releases.then_some(scope.into()),
        }
    }
}

/// A request that is counted for an access, in place of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedAs {
    pub reach: AddressOperand,
    /// Bytes of a lane.
    pub width: u32,
}

/// A load: `count` elements of `element` bytes each.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub reach: AddressOperand,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    /// Whether the destinations have 64 bits.
    pub wide: bool,
    /// Whether narrower values are sign-extended.
    pub signed: bool,
    /// Which caches it asks for, on a model.
    pub hint: CacheHint,
    pub order: Order,
    pub copied: Copied,
    /// The requests that are counted for it, if not its own (`requests`).
    pub counted: Option<Box<[CountedAs]>>,
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

/// A store.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub reach: AddressOperand,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    pub order: Order,
    /// As [`Load::counted`].
    pub counted: Option<Box<[CountedAs]>>,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub reach: AddressOperand,
    pub update: Update,
    pub d: Option<u32>,
    pub a: u32,
    pub b: u32,
    pub order: Order,
    /// Whether it replaces a value that is never used.
    pub overwrites: bool,
    /// How the hardware makes it.
    pub combined: Combined,
    /// For a vector, `d` and `a` of the elements after the first.
    pub rest: Box<[(Option<u32>, u32)]>,
}

impl Atomic {
    /// Bytes that a lane accesses.
    pub fn width(&self) -> u32 {
        self.update.ty.bytes() * (1 + self.rest.len() as u32)
    }

    /// `d` and `a` of each element.
    pub fn elements(&self) -> impl Iterator<Item = (Option<u32>, u32)> {
        std::iter::once((self.d, self.a)).chain(self.rest.iter().copied())
    }
}
