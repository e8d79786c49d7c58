//! The reduction against plain enumeration, on random small kernels.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::search::{Ended, Reduction, Search};
use crate::order::Dice;
use crate::{Launch, Memory, Program};

/// Words that threads share in global memory; behind them each thread has one for what it has read.
const SHARED: u64 = 2;
const THREADS: u64 = 6;

/// A random kernel for so many blocks of so many warps, of which `lanes` lanes act differently.
struct Random {
    text: String,
    blocks: u32,
    warps: u32,
}

impl Random {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let (blocks, warps, lanes) =
            [(2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 3, 1), (2, 1, 2), (2, 2, 1)][dice.below(7) as usize];
        let threads = u64::from(blocks * warps * lanes);
        // At most a few thousand orders.
        let length = 1 + dice.below([0, 0, 4, 2, 1][threads as usize]);
        let barrier = (warps > 1 && dice.one_in(2)).then(|| dice.below(length));
        let mut body = String::new();
        for thread in 0..threads {
            let _ = writeln!(body, "T{thread}:");
            for step in 0..length {
                let address = 4 * dice.below(SHARED);
                let (global, shared) = (format!("[%rd1+{address}]"), format!("[words+{address}]"));
                body += &match dice.below(10) {
                    0 | 1 => format!("    ld.volatile.global.u32 %r2, {global};\n    mad.lo.u32 %r1, %r1, 3, %r2;\n"),
                    2 | 3 => format!("    st.volatile.global.u32 {global}, %r1;\n"),
                    4 => format!("    ld.volatile.shared.u32 %r2, {shared};\n    mad.lo.u32 %r1, %r1, 3, %r2;\n"),
                    5 => format!("    st.volatile.shared.u32 {shared}, %r1;\n"),
                    6 => format!("    atom.global.add.u32 %r2, {global}, %r1;\n    mad.lo.u32 %r1, %r1, 3, %r2;\n"),
                    7 => format!("    red.global.add.u32 {global}, %r1;\n"),
                    8 => format!("    red.global.max.u32 {global}, %r1;\n"),
                    _ => format!("    atom.global.cas.b32 %r2, {global}, 0, %r1;\n    mad.lo.u32 %r1, %r1, 3, %r2;\n"),
                };
                if barrier == Some(step) {
                    body += "    bar.sync 0;\n";
                }
            }
            body += "    bra DONE;\n";
        }
        let mut choice = String::new();
        for thread in 1..threads {
            let _ = write!(choice, "    setp.eq.u32 %p1, %r6, {thread};\n    @%p1 bra T{thread};\n");
        }
        let text = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{
    .reg .pred %p<3>;\n    .reg .u32 %r<8>;\n    .reg .u64 %rd<4>;\n    .shared .align 4 .b32 words[{SHARED}];
    ld.param.u64 %rd1, [out];
    mov.u32 %r3, %tid.x;\n    and.b32 %r4, %r3, 31;\n    setp.ge.u32 %p1, %r4, {lanes};\n    @%p1 exit;
    shr.u32 %r5, %r3, 5;\n    mov.u32 %r6, %ctaid.x;\n    mad.lo.u32 %r6, %r6, {warps}, %r5;\n    mad.lo.u32 %r6, %r6, {lanes}, %r4;
    add.u32 %r1, %r6, 5;\n{choice}{body}DONE:
    mul.wide.u32 %rd2, %r6, 4;\n    add.u64 %rd2, %rd2, %rd1;\n    st.global.u32 [%rd2+{}], %r1;\n    ret;\n}}\n",
            4 * SHARED
        );
        Self { text, blocks, warps }
    }
}

/// Final memories, each with how many orders led to it; and how many orders differ in total.
type Results = (BTreeSet<Vec<u8>>, BTreeSet<Vec<(u32, u32, Vec<u32>)>>, u64);

fn results(random: &Random, reduction: Reduction) -> Results {
    let module = ptx::parse("random.ptx", &random.text).unwrap_or_else(|error| panic!("{error}\n{}", random.text));
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let bytes = 4 * (SHARED + THREADS);
    let out = memory.allocate(bytes).unwrap();
    memory.fill(out, bytes, 0).unwrap();
    let arguments: [&[u8]; 1] = [&out.to_le_bytes()];
    let (grid, block) = ([random.blocks, 1, 1], [32 * random.warps, 1, 1]);
    let launch = Launch { kernel: "k", grid, block, arguments: &arguments, ..Launch::default() };
    let (mut memories, mut classes, mut orders) = (BTreeSet::new(), BTreeSet::new(), 0);
    program
        .on_steps(&memory, &launch, |launched, before| {
            let mut search = Search::new(launched, reduction);
            loop {
                memory.rewind(before);
                if search.run() == Ended::Whole {
                    assert!(launched.trap.lock().unwrap().is_none(), "{}", random.text);
                    let mut left = vec![0; bytes as usize];
                    memory.read(out, &mut left).unwrap();
                    memories.insert(left);
                    classes.insert(search.class());
                    orders += 1;
                }
                if !search.backtrack() {
                    return Ok(());
                }
            }
        })
        .unwrap();
    (memories, classes, orders)
}

/// Kernels of each test.
const KERNELS: u64 = 200;

#[test]
fn orders_that_are_left_out_are_like_others() {
    let (mut all, mut run) = (0, 0);
    for seed in 0..KERNELS {
        let random = Random::new(seed);
        let (memories, classes, orders) = results(&random, Reduction::None(None));
        let (reduced, kept, ran) = results(&random, Reduction::SourceSets);
        assert_eq!(reduced, memories, "seed {seed}\n{}", random.text);
        assert_eq!(ran, kept.len() as u64, "two orders of seed {seed} are alike\n{}", random.text);
        assert_eq!(kept, classes, "seed {seed}\n{}", random.text);
        (all, run) = (all + orders, run + ran);
    }
    assert!(run * 4 < all, "{run} of {all} orders");
}

#[test]
fn a_bound_of_preemptions_leaves_out_no_result_within_it() {
    for seed in 0..KERNELS {
        let random = Random::new(seed);
        for most in 0..3 {
            let (memories, ..) = results(&random, Reduction::None(Some(most)));
            let (reduced, ..) = results(&random, Reduction::Preemptions(most));
            assert_eq!(reduced, memories, "seed {seed}, {most} preemptions\n{}", random.text);
        }
    }
}
