//! How accesses to memory are ordered, cached and combined: the modifiers of loads, stores, atomic
//! operations and fences. Plain data.

use super::names::names;
use super::operand::Operand;

names! {
    /// Memory ordering of a load, store, atomic operation or fence.
    #[derive(Default)]
    #[allow(missing_docs)]
    pub enum Ordering {
        #[default]
        Weak = "weak",
        Volatile = "volatile",
        Relaxed = "relaxed",
        Acquire = "acquire",
        Release = "release",
        AcquireRelease = "acq_rel",
        SequentiallyConsistent = "sc",
        /// `.mmio`.
        MemoryMapped = "mmio",
    }
}

names! {
    /// The threads to which an ordering applies.
    #[derive(Default)]
    #[allow(missing_docs)]
    pub enum Scope {
        Block = "cta",
        Cluster = "cluster",
        #[default]
        Device = "gpu",
        System = "sys",
    }
}

names! {
    /// Cache operators of loads and stores (PTX ISA, "Cache Operators").
    #[derive(Default)]
    #[allow(missing_docs)]
    pub enum CacheOperator {
        /// None given.
        #[default]
        Default = "",
        /// `ca`: at all levels.
        AllLevels = "ca",
        /// `cg`: at L2 and not at L1.
        GlobalLevel = "cg",
        /// `cs`: streaming.
        Streaming = "cs",
        /// `lu`: last use.
        LastUse = "lu",
        /// `cv`: fetch again.
        Volatile = "cv",
        /// `wb`: write back.
        WriteBack = "wb",
        /// `wt`: write through.
        WriteThrough = "wt",
    }
}

names! {
    /// When L2 evicts a line (PTX ISA, "Cache Eviction Priority Hints").
    #[derive(Default)]
    pub enum EvictionPriority {
        /// As it was; for a new line, `Normal`.
        #[default]
        Unchanged = "L2::evict_unchanged",
        /// After those that go first.
        Normal = "L2::evict_normal",
        /// Before all others.
        First = "L2::evict_first",
        /// After all others.
        Last = "L2::evict_last",
    }
}

/// Which priority a load or store gives its lines in L2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvictionHint {
    /// This one.
    Priority(EvictionPriority),
    /// That of a policy, `.L2::cache_hint`, of type `b64`.
    Policy(Operand),
}

impl Default for EvictionHint {
    fn default() -> Self {
        Self::Priority(EvictionPriority::Unchanged)
    }
}

impl EvictionHint {
    /// The policy.
    pub fn policy(&self) -> Option<&Operand> {
        match self {
            Self::Policy(policy) => Some(policy),
            Self::Priority(_) => None,
        }
    }
}

names! {
    /// Operations of `atom` and `red`.
    #[allow(missing_docs)]
    pub enum AtomicOp {
        And = "and",
        Or = "or",
        Xor = "xor",
        Exchange = "exch",
        CompareAndSwap = "cas",
        Add = "add",
        Increment = "inc",
        Decrement = "dec",
        Minimum = "min",
        Maximum = "max",
    }
}
