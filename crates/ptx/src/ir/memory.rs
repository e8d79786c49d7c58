//! How accesses to memory are ordered, cached and combined: the modifiers of loads, stores, atomic
//! operations and fences. Plain data.

use super::names::names;

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
