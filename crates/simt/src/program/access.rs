//! The decoded form of loads, stores, atomic operations and fences: where they go, what they carry, and how they are
//! ordered.

use ptx::{AtomicOp, Ordering, Scope, Space, Type};

use crate::model::CacheWish;

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub space: Space,
    /// The row that addresses start from.
    pub address: u32,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// Whether the frame's local memory is to be added.
    pub frame: bool,
    pub offset: u64,
    /// Which of the [`Code::accesses`](super::Code::accesses) it is.
    pub slot: u32,
}

/// The threads that a fence or a strong operation is for; wider ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    Block,
    Cluster,
    #[default]
    All,
}

impl From<Scope> for Audience {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Cluster => Self::Cluster,
            Scope::Device | Scope::System => Self::All,
        }
    }
}

/// A fence: for whom, and of which state spaces it puts the accesses of the generic proxy before those of the async one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub audience: Audience,
    pub shared_to_async: bool,
    pub global_to_async: bool,
    /// Whether it puts what wrote tensor maps before what acquires them for copies.
    pub releases_maps: bool,
}

impl Fence {
    /// One between threads alone.
    pub fn of(audience: Audience) -> Self {
        Self { audience, shared_to_async: false, global_to_async: false, releases_maps: false }
    }
}

/// How an access is ordered with others, for the sanitizer: the machine makes all in the order of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Order {
    /// Made to be concurrent with others: anything but a plain load or store.
    pub strong: bool,
    /// Volatile.
    pub volatile: bool,
    /// A load of what nothing writes during the launch, as the program says: `ld.global.nc`, `ldu`.
    pub read_only: bool,
    /// Strong for these threads alone.
    pub audience: Audience,
    /// Releases what came before it, to these threads.
    pub releases: Option<Audience>,
}

impl Order {
    pub fn new(ordering: Ordering, scope: Scope) -> Self {
        let releases =
            matches!(ordering, Ordering::Release | Ordering::AcquireRelease | Ordering::SequentiallyConsistent);
        Self {
            strong: ordering != Ordering::Weak,
            volatile: ordering == Ordering::Volatile,
            read_only: false,
            audience: match ordering {
                Ordering::Weak | Ordering::Volatile => Audience::All,
                _ => scope.into(),
            },
            releases: releases.then_some(scope.into()),
        }
    }
}

/// A load: `count` elements of `element` bytes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub reach: Reach,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    /// Whether the destinations have 64 bits.
    pub wide: bool,
    /// Whether narrower values are sign-extended.
    pub signed: bool,
    /// Which caches it goes through, where a model has any.
    pub wish: CacheWish,
    pub order: Order,
    pub copied: Copied,
}

/// What becomes of a value that is loaded, in one word: it goes with each access that is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied(u32);

impl Copied {
    const IN_PLACE: u32 = 1 << 7;
    const FOLLOWED: u32 = 1 << 8;
    const PLACE: u32 = 9;

    /// An element is read only to be stored elsewhere, or not used at all.
    pub fn add(&mut self, element: usize) {
        self.0 |= 1 << element.min(6);
    }

    /// Whether one is.
    pub fn has(self, element: u32) -> bool {
        self.0 >> element.min(6) & 1 == 1
    }

    /// Whether the value goes back to where it came from, with some of its bits replaced, and nowhere else.
    pub fn is_in_place(self) -> bool {
        self.0 & Self::IN_PLACE != 0
    }

    /// Whether the registers that it goes to are followed, so that reading it unwritten is not yet a fault.
    pub fn is_followed(self) -> bool {
        self.0 & Self::FOLLOWED != 0
    }

    /// They are.
    pub fn follow(&mut self) {
        self.0 |= Self::FOLLOWED;
    }

    /// The instruction that stores it as it is, where nothing else uses it: an index in `Code::places`.
    pub fn stored_at(self) -> Option<u32> {
        (self.0 >> Self::PLACE).checked_sub(1)
    }

    /// It is so.
    pub fn mark(&mut self, in_place: bool, stored_at: Option<u32>) {
        self.0 |= if in_place { Self::IN_PLACE } else { 0 };
        // Instructions without room here do not count.
        let place = stored_at.map_or(0, |place| place + 1);
        self.0 |= if place < 1 << (32 - Self::PLACE) { place << Self::PLACE } else { 0 };
    }
}

/// A store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub reach: Reach,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    pub order: Order,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub reach: Reach,
    pub op: AtomicOp,
    pub ty: Type,
    pub flush: bool,
    pub d: Option<u32>,
    pub a: u32,
    pub b: u32,
    pub order: Order,
    /// Whether it replaces a value that is never used.
    pub overwrites: bool,
    /// Of a vector, `d` and `a` of the elements after the first.
    pub rest: Box<[(Option<u32>, u32)]>,
}

impl Atomic {
    /// Bytes that a lane accesses.
    pub fn width(&self) -> u32 {
        self.ty.bytes() * (1 + self.rest.len() as u32)
    }

    /// `d` and `a` of each element.
    pub fn elements(&self) -> impl Iterator<Item = (Option<u32>, u32)> {
        std::iter::once((self.d, self.a)).chain(self.rest.iter().copied())
    }
}
