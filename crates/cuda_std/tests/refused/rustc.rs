//! What rustc refuses: threads, tiles and what a thread owns kept beyond a phase, forged indices,
//! shared access to what is exclusive.

use core::cell::{Cell, OnceCell, RefCell};

use cuda_std::disjoint::{Position, ThreadIndex};
use cuda_std::phases::{Block, BlockSlice, Own, Shared, Thread, TransposedMatrix};
use cuda_std::prelude::*;

type B = Block<64>;
type T = Shared<[u32; 64]>;

// Escape through Cell captured outside
pub fn r01(b: &mut B, t: &T) {
    let c: Cell<Option<&[u32; 64]>> = Cell::new(None);
    b.each(|th| c.set(Some(t.read(th)))); //~ E0521
}

// Escape through OnceCell
pub fn r02(b: &mut B, t: &T) {
    let c: OnceCell<&[u32; 64]> = OnceCell::new();
    b.each(|th| {
        let _ = c.set(t.read(th)); //~ E0521
    });
}

// A static OnceCell
pub fn r03(b: &mut B, t: &T) {
    static S: OnceCell<&'static [u32; 64]> = OnceCell::new(); //~ E0277
    b.each(|th| {
        let _ = S.set(t.read(th)); //~ E0521
    });
}

// Thread 'static annotated closure
pub fn r04(b: &mut B, t: &T) {
    let mut k: Option<&'static [u32; 64]> = None;
    b.each(|th: Thread<'static, 64, 1>| k = Some(t.read(th))); //~ lifetime may not live long enough
}

// Value returned
pub fn r05(b: &mut B, t: &mut T) {
    b.fill(t, |th, i| th); //~ E0308
}

// Struct with own stored
pub struct K<'p>(Option<Own<'p, [u32; 64], 64, 1>>);
pub fn r06<'p>(b: &mut B, t: &mut T, k: &mut K<'p>) {
    b.update(t, |_, o| k.0 = Some(o)); //~ E0521 //~ lifetime may not live long enough
}

// A phase within a phase
pub fn r07(b: &mut B, t: &mut T, u: &mut T) {
    b.update(t, |_, o| { //~ E0501 //~ E0500
        b.fill(u, |_, i| i);
    });
}

// Two Owns of one tile through tuple nesting
pub fn r08(b: &mut B, t: &mut T) {
    b.update((&mut *t, (&mut *t, &mut *t)), |_, _| ()); //~ E0499 //~ E0499
}

// Tiles for own type
pub struct W1;
impl cuda_std::phases::Tiles for W1 { //~ E0277
    type Own<'p, const X: u32, const Y: u32> = ();
    fn mark(&mut self) {}
    unsafe fn own<const X: u32, const Y: u32>(self, t: Thread<'_, X, Y>) {}
}

// Clone a Shared
pub fn r11(t: &T) -> T {
    t.clone() //~ E0308
}

// Make a Block
pub fn r12() -> B {
    B::new() //~ E0133
}

// Default / literal ThreadIndex
pub fn r13() -> ThreadIndex {
    Default::default() //~ E0277
}

pub fn r14() -> ThreadIndex {
    ThreadIndex { index: 3, thread: core::marker::PhantomData }
}

// Max of two indices
pub fn r15(a: ThreadIndex) -> ThreadIndex {
    core::cmp::max(a, a) //~ E0277
}

// Index from number
pub fn r16() -> ThreadIndex {
    5usize.into() //~ E0277
}

// Static index
pub fn r17() {
    static S: OnceCell<ThreadIndex> = OnceCell::new(); //~ E0277
}

// Bytemuck cast an index
pub fn r18() -> ThreadIndex {
    bytemuck::cast(5u64) //~ E0277
}

pub fn r19() -> ThreadIndex {
    bytemuck::Zeroable::zeroed() //~ E0277
}

// Send a DisjointSlice / two refs
pub fn r20(s: &mut DisjointSlice<u32>) {
    let i = thread::linear_index();
    let a = s.get_mut(i);
    let b = s.get_mut(i); //~ E0499
    drop((a, b));
}

pub fn r21(s: &DisjointSlice<u32>) {
    s.get_mut(thread::linear_index()); //~ E0596
}

pub fn r22(s: &DisjointSlice<u32>) {
    let _ = s.clone();
}

// Shuffle an index or a reference
pub fn r23(b: &mut B) {
    b.warp_reduce(thread::linear_index(), |a, _| a); //~ E0277
}

pub fn r24(b: &mut B, t: &mut u32) {
    b.warp_reduce(t, |a, _| a); //~ E0277
}

pub fn r25(b: &mut B) {
    b.warp_reduce(true, |a, _| a); //~ E0277
}

pub fn r26(b: &mut B) {
    b.warp_reduce('a', |a, _| a); //~ E0277
}

// Wrong index type for matrix
pub fn r27(m: &mut DisjointMatrix<u32>) {
    m.get_mut(thread::linear_index()); //~ E0308
}

pub fn r28(m: &mut DisjointMatrix<u32>) {
    m.get_mut(thread::thread_idx()); //~ E0308
}

// Position literal
pub fn r29() -> Position {
    Position { row: 0, col: 0, thread: core::marker::PhantomData }
}

// Grid stride by other thread: nothing; set fields
pub fn r30() {
    let mut g = thread::grid_stride(10);
    g.next = 3; //~ E0616
}

// Shared static of bool / with a value
// Block of other shape for TransposedMatrix
pub fn r32(m: &mut TransposedMatrix<u32, 32>, b: Block<64>) {
    b.finish(|t| m.each(t, |_, e| *e = 1)); //~ E0308
}

// BlockSlice twice
pub fn r33(m: &mut BlockSlice<u32>, b: Block<64>) {
    b.finish(|t| {
        let x = m.get_mut(t);
        let y = m.get_mut(t); //~ E0499
        drop((x, y));
    });
}

// Own after move
pub fn r34(b: &mut B, t: &mut T) {
    b.update(t, |_, mut o| {
        let r = o.one();
        o.each(|_, _| ()); //~ E0382
        *r = 1;
    });
}

// Get_mut twice on 2-D own
pub fn r35(b: &mut Block<32, 8>, t: &mut Shared<[[u32; 32]; 32]>) {
    b.update(t, |_, mut o| {
        let r = o.get_mut(0);
        let s = o.get_mut(0); //~ E0499
        drop((r, s));
    });
}

// Read in update through a closure captured before
pub fn r36(b: &mut B, t: &mut T) {
    let f = |th: Thread<64, 1>| t.read(th)[0];
    b.update(&mut *t, |th, o| *o.one() = f(th)); //~ E0502
}

// Tile with bool / char / enum / reference
pub fn r37(t: &Shared<[bool; 4]>) {} //~ E0277

pub fn r38(t: &Shared<[char; 4]>) {} //~ E0277

pub fn r39(t: &Shared<[&'static u32; 4]>) {} //~ E0277

pub fn r40(t: &Shared<[core::num::NonZeroU32; 4]>) {} //~ E0277

pub fn r41(t: &Shared<[(u8, u32); 4]>) {} //~ E0277

pub fn r42(t: &Shared<[core::ptr::NonNull<u32>; 4]>) {} //~ E0277

pub fn r43(t: &Shared<[Cell<u32>; 4]>) {} //~ E0277

// Static mut-like: static Cell, static RefCell
static ST: Cell<u32> = Cell::new(0); //~ E0277
static SR: RefCell<u32> = RefCell::new(0); //~ E0277
// A promoted reference to a cell
// Rebinding the block after finish by mem::replace
pub fn r47(mut b: B) {
    let c = core::mem::replace(&mut b, B::new()); //~ E0133
    c.finish(|_| ());
    b.each(|_| ());
}

// Pairs keeps references
pub fn r48(b: &mut B, t: &mut T) {
    let mut k = None;
    b.pairs(t, 3, |a, c| k = Some(a)); //~ E0521
}

// Element_mut without unsafe
pub fn r49(s: &mut DisjointSlice<u32>) {
    s.element_mut(0); //~ E0133
}

// Warp shuffle without unsafe
// Own marker call and thread constructor
pub fn r51() {
    cuda_std::phases::marker::reached(); //~ E0603
}

pub fn r52() {
    Thread::<64, 1>::here(); //~ E0624
}

// Fill_by_warp reading the array
pub fn r53(b: &mut B, t: &mut Shared<[u32; 2]>) {
    b.fill_by_warp(&mut *t, |th| t.read(th)[0]); //~ E0502
}

// Fill that reads
pub fn r54(b: &mut B, t: &mut T) {
    b.fill(&mut *t, |th, i| t.read(th)[0]); //~ E0502
}

// Async / generator state keeps it
pub fn r55(b: &mut B, t: &T) {
    let mut f = None;
    b.each(|th| {
        f = Some(move || t.read(th)[0]); //~ E0521
    });
}

// Dyn
pub fn r56<'a>(b: &mut B, t: &'a T, k: &mut Option<&'a dyn Fn() -> u32>) {
    b.each(|th| {
        let g = move || t.read(th)[0];
        *k = Some(&g); //~ E0521 //~ E0521
    });
}
