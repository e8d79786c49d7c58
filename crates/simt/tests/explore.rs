//! All orders of blocks and warps of small launches: what depends on the order is found with few
//! switches, and what does not has been tried in every order that may differ.

use simt::orders::{Bounds, DrawnOrder, Explored};
use simt::{InvalidLaunch, Launch, LaunchError, Memory, Program, TrapKind};

const ORDERS: &str = include_str!("data/orders.ptx");

/// Words of the output.
const WORDS: usize = 128;

/// A launch of a kernel of `text`: its memory, and what the usual order leaves there.
struct Bench {
    module: ptx::Module,
    kernel: &'static str,
    blocks: u32,
    threads: u32,
}

impl Bench {
    fn new(text: &str, kernel: &'static str, (blocks, threads): (u32, u32)) -> Self {
        Self { module: ptx::parse("orders.ptx", text).unwrap(), kernel, blocks, threads }
    }

    fn with<R>(&self, run: impl FnOnce(&Program, &Memory, &Launch, &dyn Fn() -> Vec<u8>) -> R) -> R {
        let mut memory = Memory::new(1 << 20);
        let program = Program::load(&self.module, &mut memory).unwrap();
        let output = memory.allocate(4 * WORDS as u64).unwrap();
        memory.fill(output, 4 * WORDS as u64, 0).unwrap();
        let arguments: [&[u8]; 1] = [&output.to_le_bytes()];
        let (grid, block) = ([self.blocks, 1, 1], [self.threads, 1, 1]);
        let launch = Launch { kernel: self.kernel, grid, block, arguments: &arguments, ..Launch::default() };
        let read = || {
            let mut bytes = vec![0; 4 * WORDS];
            memory.read(output, &mut bytes).unwrap();
            bytes
        };
        run(&program, &memory, &launch, &read)
    }

    fn launched(&self, order: Option<DrawnOrder>) -> Result<Vec<u8>, LaunchError> {
        self.with(|program, memory, launch, read| {
            program.launch(memory, &Launch { order, ..launch.clone() }).map(|_| read())
        })
    }

    /// Explores, and compares with the usual order.
    fn explored(&self, preemptions: Option<u32>) -> Explored {
        let usual = self.launched(None).unwrap();
        self.with(|program, memory, launch, read| {
            let before = read();
            let bounds = Bounds { preemptions, orders: 20_000 };
            let mut differs = |trap: Option<&simt::Trap>| trap.is_some() || read() != usual;
            let explored = program.explore(memory, launch, &bounds, &mut differs).unwrap();
            assert_eq!(read(), before, "memory is as it was");
            explored
        })
    }
}

#[test]
fn what_depends_on_the_order_is_found_and_its_twin_is_tried_in_all_orders() {
    for (kernel, twin, shape, switches) in [
        ("lost_update", "lost_update_right", (3, 32), 1),
        ("last_block", "last_block_right", (3, 32), 1),
        ("no_barrier", "no_barrier_right", (1, 128), 1),
        ("one_barrier", "one_barrier_right", (1, 128), 0),
    ] {
        for preemptions in [None, Some(1)] {
            let bench = Bench::new(ORDERS, kernel, shape);
            let explored = bench.explored(preemptions);
            let different = explored.different.as_ref().unwrap_or_else(|| panic!("{kernel}: {explored:?}"));
            assert_eq!(different.len(), switches, "{kernel}: {different:?}");
            // The text of the order alone leads there.
            let order: DrawnOrder = explored.order().unwrap().to_string().parse().unwrap();
            assert_ne!(bench.launched(Some(order)), bench.launched(None), "{kernel}, {order}");
            let right = Bench::new(ORDERS, twin, shape).explored(preemptions);
            assert!(right.complete && right.different.is_none(), "{twin}: {right:?}");
        }
    }
}

#[test]
fn who_polls_waits_until_somebody_writes() {
    // A lock, and blocks that wait for later ones: without sleep, the orders had no end.
    for (kernel, blocks, least) in [("locked", 2, 2), ("locked", 3, 6), ("later_block", 3, 1)] {
        let explored = Bench::new(ORDERS, kernel, (blocks, 1)).explored(None);
        assert!(explored.complete && explored.different.is_none(), "{kernel}: {explored:?}");
        assert!((least..5_000).contains(&explored.orders), "{kernel}: {explored:?}");
    }
    let waits = Bench::new(ORDERS, "waits", (3, 32));
    let mut kinds = Vec::new();
    waits.with(|program, memory, launch, _| {
        let bounds = Bounds { preemptions: None, orders: 100 };
        let mut differs = |trap: Option<&simt::Trap>| {
            kinds.extend(trap.map(|trap| trap.kind.clone()));
            false
        };
        let explored = program.explore(memory, launch, &bounds, &mut differs).unwrap();
        assert!(explored.complete && explored.orders == 1, "reads do not depend on each other: {explored:?}");
    });
    assert!(matches!(kinds[..], [TrapKind::NoProgress { waiting: 3, .. }]), "{kinds:?}");
}

#[test]
fn lanes_that_hold_a_lock_go_on_although_others_poll() {
    // Lane 1 gets the lock in the same step in which lane 0 fails, which then polls.
    let text = ORDERS.replace("and.b32 %r2, %r1, 31;\n\tsetp.ne.u32 %p1, %r2, 0;", "setp.gt.u32 %p1, %r1, 1;");
    assert_ne!(text, ORDERS);
    let explored = Bench::new(&text, "locked", (1, 32)).explored(None);
    assert!(explored.complete && explored.different.is_none(), "{explored:?}");
}

#[test]
fn two_warps_with_eight_accesses_have_as_many_orders_as_there_are() {
    let eight = "    atom.global.add.u32 %r1, [%rd1], 1;\n".repeat(8);
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n    .reg .u32 %r<2>;\n    \
         .reg .u64 %rd<2>;\n    ld.param.u64 %rd1, [out];\n{eight}    ret;\n}}\n"
    );
    // 16! / (8! 8!)
    let explored = Bench::new(&text, "k", (2, 1)).explored(None);
    assert!(explored.complete && explored.orders == 12_870, "{explored:?}");
    let alike = Bench::new(&text.replace("atom.global.add.u32 %r1,", "red.global.add.u32"), "k", (2, 1));
    assert_eq!(alike.explored(None).orders, 1);
}

#[test]
fn what_is_not_explored_is_refused() {
    let refused = |bench: Bench| {
        bench.with(|program, memory, launch, _| {
            let bounds = Bounds { preemptions: None, orders: 9 };
            match program.explore(memory, launch, &bounds, &mut |_| false) {
                Err(LaunchError::Invalid(InvalidLaunch::NotExplored { why, .. })) => why,
                other => panic!("{other:?}"),
            }
        })
    };
    assert!(refused(Bench::new(ORDERS, "lost_update", (5_000, 32))).starts_with("it has too many warps"));
    let long = ORDERS
        .replace("ld.acquire.gpu.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1];\n\tadd.u64 %rd1, %rd1, 0;");
    let counts = long.replace("setp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra $wait;\n\tret;", "bra $wait;");
    assert_ne!(counts, long);
    let endless = counts.replace("add.u64 %rd1, %rd1, 0;", "add.u32 %r1, %r1, 1;\n\tst.global.u32 [%rd1], %r1;");
    assert!(refused(Bench::new(&endless, "waits", (1, 1))).contains("more than 8192 accesses"));
    let phase = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n    .shared .align 8 .b64 p;\n    \
                 mbarrier.init.shared.b64 [p], 1;\n    ret;\n}\n";
    assert!(refused(Bench::new(phase, "k", (1, 1))).contains("asynchronous copies"));
}
