//! The intrinsics of LLVM's NVPTX backend that this crate is built on (LLVM manual, "User Guide for
//! NVPTX Back-end").
//!
//! They exist only on the device; in the host's documentation the module is empty.

macro_rules! intrinsics {
    ($($name:ident = $symbol:literal ($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $(
                #[link_name = $symbol]
                pub safe fn $name($($parameter: $ty),*) $(-> $result)?;
            )*
        }
    };
}

// Special registers.
intrinsics! {
    tid_x = "llvm.nvvm.read.ptx.sreg.tid.x"() -> u32;
    tid_y = "llvm.nvvm.read.ptx.sreg.tid.y"() -> u32;
    tid_z = "llvm.nvvm.read.ptx.sreg.tid.z"() -> u32;
    ntid_x = "llvm.nvvm.read.ptx.sreg.ntid.x"() -> u32;
    ntid_y = "llvm.nvvm.read.ptx.sreg.ntid.y"() -> u32;
    ntid_z = "llvm.nvvm.read.ptx.sreg.ntid.z"() -> u32;
    ctaid_x = "llvm.nvvm.read.ptx.sreg.ctaid.x"() -> u32;
    ctaid_y = "llvm.nvvm.read.ptx.sreg.ctaid.y"() -> u32;
    ctaid_z = "llvm.nvvm.read.ptx.sreg.ctaid.z"() -> u32;
    nctaid_x = "llvm.nvvm.read.ptx.sreg.nctaid.x"() -> u32;
    nctaid_y = "llvm.nvvm.read.ptx.sreg.nctaid.y"() -> u32;
    nctaid_z = "llvm.nvvm.read.ptx.sreg.nctaid.z"() -> u32;
    warpsize = "llvm.nvvm.read.ptx.sreg.warpsize"() -> u32;
    laneid = "llvm.nvvm.read.ptx.sreg.laneid"() -> u32;
    lanemask_eq = "llvm.nvvm.read.ptx.sreg.lanemask.eq"() -> u32;
    lanemask_lt = "llvm.nvvm.read.ptx.sreg.lanemask.lt"() -> u32;
    lanemask_le = "llvm.nvvm.read.ptx.sreg.lanemask.le"() -> u32;
    lanemask_gt = "llvm.nvvm.read.ptx.sreg.lanemask.gt"() -> u32;
    lanemask_ge = "llvm.nvvm.read.ptx.sreg.lanemask.ge"() -> u32;
    warpid = "llvm.nvvm.read.ptx.sreg.warpid"() -> u32;
    nwarpid = "llvm.nvvm.read.ptx.sreg.nwarpid"() -> u32;
    smid = "llvm.nvvm.read.ptx.sreg.smid"() -> u32;
    nsmid = "llvm.nvvm.read.ptx.sreg.nsmid"() -> u32;
    clock = "llvm.nvvm.read.ptx.sreg.clock"() -> u32;
    clock64 = "llvm.nvvm.read.ptx.sreg.clock64"() -> u64;
    globaltimer = "llvm.nvvm.read.ptx.sreg.globaltimer"() -> u64;
    dynamic_smem_size = "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"() -> u32;
    total_smem_size = "llvm.nvvm.read.ptx.sreg.total_smem_size"() -> u32;
}

// Barriers and fences.
intrinsics! {
    barrier_sync = "llvm.nvvm.barrier.cta.sync.aligned.all"(barrier: u32);
    membar_cta = "llvm.nvvm.membar.cta"();
    membar_gl = "llvm.nvvm.membar.gl"();
    membar_sys = "llvm.nvvm.membar.sys"();
    bar_warp_sync = "llvm.nvvm.bar.warp.sync"(mask: u32);
    nanosleep = "llvm.nvvm.nanosleep"(nanoseconds: u32);
    activemask = "llvm.nvvm.activemask"() -> u32;
}

// Approximate math.
intrinsics! {
    sin_approx = "llvm.nvvm.sin.approx.f"(x: f32) -> f32;
    cos_approx = "llvm.nvvm.cos.approx.f"(x: f32) -> f32;
    ex2_approx = "llvm.nvvm.ex2.approx.f32"(x: f32) -> f32;
    lg2_approx = "llvm.nvvm.lg2.approx.f"(x: f32) -> f32;
    rsqrt_approx = "llvm.nvvm.rsqrt.approx.f"(x: f32) -> f32;
    rcp_approx = "llvm.nvvm.rcp.approx.ftz.f"(x: f32) -> f32;
    sqrt_approx = "llvm.nvvm.sqrt.approx.f"(x: f32) -> f32;
    div_approx = "llvm.nvvm.div.approx.f"(x: f32, y: f32) -> f32;
    rsqrt_approx_f64 = "llvm.nvvm.rsqrt.approx.d"(x: f64) -> f64;
}

// Exactly rounded math instructions.
intrinsics! {
    sqrt_f32 = "llvm.sqrt.f32"(x: f32) -> f32;
    sqrt_f64 = "llvm.sqrt.f64"(x: f64) -> f64;
    fma_f32 = "llvm.fma.f32"(a: f32, b: f32, c: f32) -> f32;
    fma_f64 = "llvm.fma.f64"(a: f64, b: f64, c: f64) -> f64;
    floor_f32 = "llvm.floor.f32"(x: f32) -> f32;
    floor_f64 = "llvm.floor.f64"(x: f64) -> f64;
    ceil_f32 = "llvm.ceil.f32"(x: f32) -> f32;
    ceil_f64 = "llvm.ceil.f64"(x: f64) -> f64;
    trunc_f32 = "llvm.trunc.f32"(x: f32) -> f32;
    trunc_f64 = "llvm.trunc.f64"(x: f64) -> f64;
    round_even_f32 = "llvm.roundeven.f32"(x: f32) -> f32;
    round_even_f64 = "llvm.roundeven.f64"(x: f64) -> f64;
}

// Shuffles and matches, which all lanes of `mask` execute together.
intrinsics! {
    match_any_32 = "llvm.nvvm.match.any.sync.i32"(mask: u32, value: u32) -> u32;
    match_any_64 = "llvm.nvvm.match.any.sync.i64"(mask: u32, value: u64) -> u32;
    vote_ballot = "llvm.nvvm.vote.ballot.sync"(mask: u32, predicate: bool) -> u32;
    vote_all = "llvm.nvvm.vote.all.sync"(mask: u32, predicate: bool) -> bool;
    vote_any = "llvm.nvvm.vote.any.sync"(mask: u32, predicate: bool) -> bool;
    vote_uni = "llvm.nvvm.vote.uni.sync"(mask: u32, predicate: bool) -> bool;
}

#[cfg(target_feature = "sm_80")]
intrinsics! {
    redux_add = "llvm.nvvm.redux.sync.add"(value: u32, mask: u32) -> u32;
    redux_and = "llvm.nvvm.redux.sync.and"(value: u32, mask: u32) -> u32;
    redux_or = "llvm.nvvm.redux.sync.or"(value: u32, mask: u32) -> u32;
    redux_xor = "llvm.nvvm.redux.sync.xor"(value: u32, mask: u32) -> u32;
    redux_max_i32 = "llvm.nvvm.redux.sync.max"(value: u32, mask: u32) -> u32;
    redux_min_i32 = "llvm.nvvm.redux.sync.min"(value: u32, mask: u32) -> u32;
    redux_max_u32 = "llvm.nvvm.redux.sync.umax"(value: u32, mask: u32) -> u32;
    redux_min_u32 = "llvm.nvvm.redux.sync.umin"(value: u32, mask: u32) -> u32;
}

// Those that take or return a one-bit value, or two values: C has no type for that, so they use
// LLVM's own ABI.
macro_rules! unadjusted {
    ($($name:ident = $symbol:literal ($($parameter:ident: $ty:ty),*) -> $result:ty;)*) => {
        #[cfg(target_arch = "nvptx64")]
        #[allow(improper_ctypes)]
        unsafe extern "unadjusted" {
            $(
                #[link_name = $symbol]
                pub safe fn $name($($parameter: $ty),*) -> $result;
            )*
        }
    };
}

unadjusted! {
    barrier_count = "llvm.nvvm.barrier.cta.red.popc.aligned.all"(barrier: u32, predicate: bool) -> u32;
    barrier_and = "llvm.nvvm.barrier.cta.red.and.aligned.all"(barrier: u32, predicate: bool) -> bool;
    barrier_or = "llvm.nvvm.barrier.cta.red.or.aligned.all"(barrier: u32, predicate: bool) -> bool;
    shfl_idx = "llvm.nvvm.shfl.sync.idx.i32p"(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    shfl_up = "llvm.nvvm.shfl.sync.up.i32p"(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool);
    shfl_down = "llvm.nvvm.shfl.sync.down.i32p"(mask: u32, value: u32, delta: u32, clamp: u32) -> (u32, bool);
    shfl_xor = "llvm.nvvm.shfl.sync.bfly.i32p"(mask: u32, value: u32, lane_mask: u32, clamp: u32) -> (u32, bool);
    match_all_32 = "llvm.nvvm.match.all.sync.i32p"(mask: u32, value: u32) -> (u32, bool);
    match_all_64 = "llvm.nvvm.match.all.sync.i64p"(mask: u32, value: u64) -> (u32, bool);
}

// LLVM's reader turns these names into its own atomic operations, which Rust cannot express.
#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.atomic.load.add.f32.p0"]
    pub fn atomic_add_f32(address: *mut f32, value: f32) -> f32;
    #[link_name = "llvm.nvvm.atomic.load.add.f64.p0"]
    pub fn atomic_add_f64(address: *mut f64, value: f64) -> f64;
    #[link_name = "llvm.nvvm.atomic.load.inc.32.p0"]
    pub fn atomic_inc(address: *mut u32, limit: u32) -> u32;
    #[link_name = "llvm.nvvm.atomic.load.dec.32.p0"]
    pub fn atomic_dec(address: *mut u32, limit: u32) -> u32;
}
