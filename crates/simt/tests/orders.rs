//! Drawn orders of blocks and warps: what depends on the order is found, what does not stays right,
//! and the same request gives the same run.

use simt::faults::AccessAction;
use simt::orders::{Drawn, DrawnOrder, Followed, Start, Strategy, Touch};
use simt::{Checks, InvalidLaunch, Launch, LaunchError, Memory, Model, Output, Program, Report, TrapKind};

/// Kernels that are right in the usual order only, with a twin each.
const ATTACKS: [(&str, u32); 6] = [
    ("lost_update", 40),
    ("last_block", 32),
    ("no_barrier", 1),
    ("one_barrier", 1),
    ("no_warp_barrier", 1),
    ("unset", 1),
];

/// Words of the output.
const WORDS: usize = 128;

struct Bench {
    module: ptx::Module,
    /// Of a block.
    threads: u32,
}

impl Bench {
    fn new() -> Self {
        Self { module: ptx::parse("orders.ptx", include_str!("data/orders.ptx")).unwrap(), threads: 128 }
    }

    /// The kernels about stores that are seen late.
    fn of_messages() -> Self {
        Self { module: ptx::parse("message.ptx", include_str!("data/message.ptx")).unwrap(), threads: 1 }
    }

    /// The output, and the accesses that are followed, of a launch in an order.
    fn follow(
        &self,
        kernel: &str,
        blocks: u32,
        order: DrawnOrder,
        follows: impl Fn(u64) -> Followed,
    ) -> (Vec<u32>, Vec<Touch>) {
        let (words, report) = self.launched(1, kernel, blocks, Some(order), &|output| Some(follows(output))).unwrap();
        (words, report.touches().to_vec())
    }

    fn run(&self, kernel: &str, blocks: u32, order: Option<DrawnOrder>) -> Result<(Vec<u32>, Option<Drawn>), String> {
        self.run_on(1, kernel, blocks, order)
    }

    fn run_on(
        &self,
        threads: usize,
        kernel: &str,
        blocks: u32,
        order: Option<DrawnOrder>,
    ) -> Result<(Vec<u32>, Option<Drawn>), String> {
        self.launched(threads, kernel, blocks, order, &|_| None).map(|(words, report)| (words, report.drawn()))
    }

    /// The output, and the report; `follows` is given the output's address.
    fn launched(
        &self,
        threads: usize,
        kernel: &str,
        blocks: u32,
        order: Option<DrawnOrder>,
        follows: &dyn Fn(u64) -> Option<Followed>,
    ) -> Result<(Vec<u32>, Report), String> {
        let mut memory = Memory::new(1 << 20);
        let program = Program::load(&self.module, &mut memory).unwrap();
        let output = memory.allocate(4 * WORDS as u64).unwrap();
        memory.fill(output, 4 * WORDS as u64, 0).unwrap();
        let arguments: [&[u8]; 1] = [&output.to_le_bytes()];
        let launch = Launch {
            kernel,
            grid: [blocks, 1, 1],
            block: [self.threads, 1, 1],
            arguments: &arguments,
            step_limit: 1 << 24,
            threads: Some(threads),
            order,
            follows: follows(output),
            ..Launch::default()
        };
        let report = program.launch(&memory, &launch).map_err(|error| error.to_string())?;
        let mut bytes = vec![0; 4 * WORDS];
        memory.read(output, &mut bytes).unwrap();
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        Ok((words, report))
    }

    /// The first nine orders of a seed, as a caller runs them: the points of one for the next.
    fn portfolio(&self, kernel: &str, blocks: u32, seed: u64) -> Vec<(DrawnOrder, Result<Vec<u32>, String>)> {
        let mut points = 0;
        let of = |index| {
            let order = DrawnOrder::nth(seed, index, points);
            let result = self.run(kernel, blocks, Some(order));
            points = result.as_ref().ok().and_then(|(_, drawn)| *drawn).map_or(points, |drawn| drawn.points);
            (order, result.map(|(words, _)| words))
        };
        (0..9).map(of).collect()
    }
}

#[test]
fn each_attack_is_found_by_each_portfolio_and_its_twin_stays_right() {
    let bench = Bench::new();
    for (kernel, blocks) in ATTACKS {
        let (usual, drawn) = bench.run(kernel, blocks, None).unwrap();
        assert_eq!(drawn, None);
        let twin = format!("{kernel}_right");
        let (right, _) = bench.run(&twin, blocks, None).unwrap();
        // Tickets are the twin's own.
        assert_eq!(usual[..33], right[..33], "{kernel} is right in the usual order");
        for seed in 0..20 {
            let found = bench.portfolio(kernel, blocks, seed);
            let others = found.iter().filter(|(_, result)| result.as_ref() != Ok(&usual)).count();
            assert!(others > 0, "{kernel}, seed {seed}: all orders give the same");
            for (order, result) in bench.portfolio(&twin, blocks, seed) {
                assert_eq!(result.as_ref(), Ok(&right), "{twin}, {order}");
            }
        }
    }
}

#[test]
fn the_same_order_is_the_same_run_on_any_number_of_threads() {
    let bench = Bench::new();
    for (kernel, blocks) in ATTACKS.into_iter().chain([("locked", 8), ("later_block", 40)]) {
        for index in 0..9 {
            let order = Some(DrawnOrder::nth(5, index, 300));
            let one = bench.run_on(1, kernel, blocks, order);
            assert!(one.as_ref().is_ok_and(|(_, drawn)| drawn.is_some()), "{kernel}: {one:?}");
            for threads in [1, 2, 5] {
                assert_eq!(bench.run_on(threads, kernel, blocks, order), one, "{kernel}, {order:?}");
            }
        }
    }
}

#[test]
fn a_missing_fence_is_found_where_stores_are_late_only() {
    for (kernel, twins, (blocks, threads), at, expected) in [
        ("message", &["fenced", "released"][..], (2, 1), 2, 42),
        ("fenced_in_block", &["fenced_in_block_and_device", "fenced_by_another_warp"], (2, 64), 2, 42),
        ("shared_message", &["shared_message_fenced", "shared_message_released"], (1, 64), 2, 42),
        ("ticket", &["ticket_fenced"], (4, 1), 0, 10),
        ("look_back", &["look_back_released"], (4, 1), 3, 10),
        ("unlock", &["unlock_released"], (4, 1), 0, 4),
    ] {
        let bench = Bench { threads, ..Bench::of_messages() };
        let words = |kernel: &str, blocks, text: String| {
            let order = Some(text.parse().unwrap());
            bench.run(kernel, blocks, order).unwrap_or_else(|why| panic!("{why}")).0
        };
        let right = bench.run(kernel, blocks, None).unwrap().0[at];
        assert_eq!(right, expected, "{kernel}");
        let wrong = |kernel: &str, weak: u32| {
            let of = |seed: u32| words(kernel, blocks, format!("random:1:{seed},weak={weak}"))[at] != right;
            (0..256).filter(|&seed| of(seed)).count()
        };
        assert_eq!(wrong(kernel, 0), 0, "{kernel} is right in any order of accesses");
        for weak in [2, 4] {
            let found = wrong(kernel, weak);
            assert!(found > 20, "{kernel}: {found} of 256");
            for twin in twins {
                assert_eq!(wrong(twin, weak), 0, "{twin}, one store in {weak}");
            }
        }
        // Whatever the seed, some of the few sets of late instructions show it.
        let late = |kernel: &str, seed: u32, late: u32| {
            let order = format!("random:1:{seed},late={late}").parse().unwrap();
            let (words, drawn) = bench.run(kernel, blocks, Some(order)).unwrap_or_else(|why| panic!("{why}"));
            (words[at] != right, drawn.unwrap().late)
        };
        for seed in 0..32 {
            let (_, most) = late(kernel, seed, 0);
            assert!((2..=6).contains(&most), "{kernel}: {most}");
            assert!((1..=most).any(|of| late(kernel, seed, of).0), "{kernel}, seed {seed}");
            for twin in twins {
                assert!((1..=most).all(|of| !late(twin, seed, of).0), "{twin}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_missing_acquire_is_found_where_reads_find_older_values_only() {
    let text = include_str!("data/message.ptx");
    let without = ptx::parse("message.ptx", &text.replace(".acquire", ".relaxed")).unwrap();
    for (kernel, (blocks, threads), at) in [
        ("released", (2, 1), 2),
        ("look_back_released", (4, 1), 3),
        ("unlock_released", (4, 1), 0),
        ("shared_message_released", (1, 64), 2),
    ] {
        let right = Bench { threads, ..Bench::of_messages() };
        let wrong = Bench { threads, module: without.clone() };
        let usual = right.run(kernel, blocks, None).unwrap().0[at];
        let differ = |bench: &Bench, rest: &str| {
            let of = |seed: u32| {
                let order = format!("random:1:{seed}{rest}").parse().unwrap();
                bench.run(kernel, blocks, Some(order)).unwrap_or_else(|why| panic!("{why}")).0[at] != usual
            };
            (0..256).filter(|&seed| of(seed)).count()
        };
        assert_eq!(differ(&wrong, ",weak=2"), 0, "{kernel} releases");
        for rest in [",stale=2", ",stale=4", ",weak=4,stale=2", ",late=1,stale=2"] {
            let found = differ(&wrong, rest);
            assert!(found > 20, "{kernel}, {rest}: {found} of 256");
            assert_eq!(differ(&right, rest), 0, "{kernel}, {rest}");
        }
    }
}

#[test]
fn what_a_block_knows_is_never_older_again() {
    // The twins are right, however old what the others read may be.
    for (kernel, (blocks, threads)) in [
        ("fenced", (2, 1)),
        ("ticket_fenced", (4, 1)),
        ("shared_message_fenced", (1, 64)),
        ("fenced_in_block_and_device", (2, 64)),
        ("fenced_by_another_warp", (2, 64)),
        ("own", (1, 64)),
    ] {
        let bench = Bench { threads, ..Bench::of_messages() };
        let (usual, _) = bench.run(kernel, blocks, None).unwrap();
        for seed in 0..128 {
            for rest in ["stale=1", "stale=2,lanes=2", "weak=2,stale=2"] {
                let order = format!("random:1:{seed},{rest}").parse().unwrap();
                let (words, _) = bench.run(kernel, blocks, Some(order)).unwrap();
                assert_eq!(words[..4], usual[..4], "{kernel}, seed {seed}, {rest}");
            }
        }
    }
}

#[test]
fn who_waits_finds_what_it_waited_for() {
    for (kernel, blocks, threads, words) in [
        ("phase", 1, 64, [42, 42, 42]),
        ("phase_of_another_block", 2, 64, [42, 42, 0]),
        ("polls_and_reads", 2, 1, [42, 42, 0]),
    ] {
        let module = ptx::parse("waits.ptx", include_str!("data/waits.ptx")).unwrap();
        let bench = Bench { module, threads };
        for seed in 0..128 {
            let order = format!("random:1:{seed},stale=1").parse().unwrap();
            let (found, _) = bench.run(kernel, blocks, Some(order)).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(found[..3], words, "{kernel}, seed {seed}");
        }
    }
}

#[test]
fn what_no_order_of_accesses_gives_late_stores_give() {
    let bench = Bench::of_messages();
    let read = |seed: u32, weak: u32| {
        let order = format!("random:1:{seed},weak={weak}").parse().unwrap();
        let (words, _) = bench.run("buffering", 2, Some(order)).unwrap();
        (words[2], words[3])
    };
    assert!((0..256).all(|seed| read(seed, 0) != (0, 0)));
    assert!((0..256).any(|seed| read(seed, 2) == (0, 0)));
}

#[test]
fn own_stores_and_those_before_a_barrier_are_never_late() {
    let bench = Bench { threads: 64, ..Bench::of_messages() };
    let (usual, _) = bench.run("own", 1, None).unwrap();
    for seed in 0..128 {
        for text in [format!("random:1:{seed},weak=1"), format!("random:1:{seed},weak=2,lanes=2")] {
            let (words, _) = bench.run("own", 1, Some(text.parse().unwrap())).unwrap();
            assert_eq!(words, usual, "{text}");
        }
    }
    // All attacks' twins, and stores that land at the end of the launch.
    let bench = Bench::new();
    for (kernel, blocks) in ATTACKS {
        let twin = format!("{kernel}_right");
        let (right, _) = bench.run(&twin, blocks, None).unwrap();
        for seed in 0..32 {
            let order = format!("random:1:{seed},weak=2").parse().unwrap();
            assert_eq!(bench.run(&twin, blocks, Some(order)).map(|(words, _)| words), Ok(right.clone()), "{twin}");
        }
    }
}

#[test]
fn followed_accesses_are_all_that_change_the_bytes() {
    let bench = Bench::new();
    let order: DrawnOrder = "random:1:3,lanes=2".parse().unwrap();
    let (words, touches) =
        bench.follow("lost_update", 8, order, |output| Followed::Bytes { block: None, address: output, bytes: 4 });
    assert_eq!(touches.iter().filter(|touch| touch.site.action == Some(AccessAction::Write)).count(), 8);
    let mut value = 0;
    for touch in &touches {
        assert_eq!((touch.before, touch.width, touch.shared_of, touch.lanes, touch.late), (value, 4, None, 1, false));
        assert!(touch.site.ptx_line > 0 && touch.thread.1 == 0);
        value = touch.after;
    }
    assert_eq!(value, u128::from(words[0]));
    // One thread: it reads, then writes one more.
    let (_, own) = bench.follow("lost_update", 8, order, |_| Followed::Thread { block: 5, thread: 0 });
    let [read, write] = own.as_slice() else { panic!("{own:?}") };
    assert_eq!((write.after, read.site.block), (read.before + 1, [5, 0, 0]));
    // A word of shared memory, and nothing that is not followed.
    let (_, shared) =
        bench.follow("no_barrier_right", 2, order, |_| Followed::Bytes { block: Some(1), address: 0, bytes: 4 });
    assert!(shared.len() >= 2 && shared.iter().all(|touch| touch.shared_of == Some(1)), "{shared:?}");
    // The late store of a message is kept where it lands, after the flag was read.
    let bench = Bench::of_messages();
    let late = (0..200).find_map(|seed| {
        let order = format!("random:1:{seed},weak=2").parse().unwrap();
        let followed = |output| Followed::Bytes { block: None, address: output, bytes: 4 };
        let (words, touches) = bench.follow("message", 2, order, followed);
        (words[2] == 0).then_some(touches)
    });
    let late = late.expect("an order shows it");
    let [read, write] = late.as_slice() else { panic!("{late:?}") };
    assert_eq!((read.before, read.site.action), (0, Some(AccessAction::Read)));
    assert_eq!((write.late, write.before, write.after, write.thread), (true, 0, 42, (0, 0)));
}

#[test]
fn seeds_differ() {
    let bench = Bench::new();
    let of = |seed: u64| {
        bench.run("lost_update", 40, Some(format!("random:1:{seed}").parse().unwrap())).map(|(words, _)| words[0])
    };
    let mut counts: Vec<u32> = (0..32).map(|seed| of(seed).unwrap()).collect();
    counts.sort_unstable();
    counts.dedup();
    assert!(counts.len() > 4, "{counts:?}");
}

#[test]
fn locks_and_blocks_that_wait_for_later_ones_end() {
    let bench = Bench::new();
    let sum = |blocks: u32| blocks * (blocks + 1) / 2;
    for seed in 0..20 {
        for (order, result) in bench.portfolio("locked", 8, seed) {
            assert_eq!(result.map(|words| words[0]), Ok(32), "{order}");
        }
        for (order, result) in bench.portfolio("later_block", 40, seed) {
            assert_eq!(result.map(|words| words[0]), Ok(sum(40)), "{order}");
        }
    }
    for text in ["usual:1,resident=1,start=up", "random:1:1,resident=1,start=up", "pct:1:0:1,resident=2,start=up"] {
        let (words, drawn) = bench.run("later_block", 40, Some(text.parse().unwrap())).unwrap();
        assert_eq!(words[0], sum(40), "{text}");
        assert!(drawn.is_some_and(|drawn| drawn.resident >= 40), "{drawn:?}");
    }
}

#[test]
fn starts_and_residents_are_as_given() {
    let bench = Bench::new();
    for (text, resident, start) in [
        ("usual:1,start=down", 1, Start::Down),
        ("usual:1", 1, Start::Up),
        ("random:1:1,resident=7,start=shuffled", 7, Start::Shuffled),
        ("random:1:1,resident=1000,start=up", 32, Start::Up),
    ] {
        let (words, drawn) = bench.run("last_block_right", 32, Some(text.parse().unwrap())).unwrap();
        assert_eq!(words[0], 528, "{text}: each block ran once");
        let drawn = drawn.unwrap();
        assert_eq!((drawn.resident, drawn.start), (resident, start), "{text}");
    }
    // The last block first: nobody has written yet.
    let (words, drawn) = bench.run("last_block", 32, Some("usual:1,start=down".parse().unwrap())).unwrap();
    assert_eq!((words[0], drawn.unwrap().interruptions), (32, 0));
    // One block after another: each update is kept, however often its warps are interrupted.
    let (words, drawn) = bench.run("lost_update", 40, Some("random:1:1,resident=1".parse().unwrap())).unwrap();
    assert_eq!((words[0], drawn.unwrap().points), (40, 80));
}

#[test]
fn a_fault_of_a_drawn_order_is_a_trap() {
    let bench = Bench::new();
    for index in 0..9 {
        let order = DrawnOrder::nth(1, index, 10);
        let message = bench.run("fault", 8, Some(order)).unwrap_err();
        assert!(message.contains("fault"), "{message}");
    }
}

#[test]
fn a_wait_for_what_nobody_writes_is_a_trap() {
    let message = Bench::new().run("waits", 3, Some("pct:1:0:1,resident=1".parse().unwrap())).unwrap_err();
    assert!(message.contains("3 blocks wait for memory that nothing writes"), "{message}");
}

#[test]
fn an_endless_launch_reaches_its_limit() {
    let module = ptx::parse(
        "endless.ptx",
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry endless()\n{\n.reg .b32 %r;\nmov.u32 %r, 0;\n\
         $again:\nadd.u32 %r, %r, 1;\nbra $again;\n}\n",
    )
    .unwrap();
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    for index in 0..4 {
        let order = Some(DrawnOrder::nth(1, index, 10));
        let launch = Launch { kernel: "endless", grid: [8, 1, 1], step_limit: 100_000, order, ..Launch::default() };
        match program.launch(&memory, &launch) {
            Err(LaunchError::Trap(trap)) => assert_eq!(trap.kind, TrapKind::StepLimit { limit: 100_000 }),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_needs_the_usual_order_is_rejected() {
    let bench = Bench::new();
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&bench.module, &mut memory).unwrap();
    let arguments: [&[u8]; 1] = [&[0; 8]];
    let order = Some(DrawnOrder::new(1, Strategy::Usual));
    let output = Output::default();
    let launch = Launch { kernel: "fault", arguments: &arguments, order, output: Some(&output), ..Launch::default() };
    let hopper = Model::named("hopper");
    for (with, launch) in [
        ("a model", Launch { model: hopper, ..launch.clone() }),
        ("checks", Launch { checks: Checks::ALL, ..launch.clone() }),
        ("a prediction", Launch { predicts: hopper, ..launch.clone() }),
    ] {
        let wrong = LaunchError::Invalid(InvalidLaunch::DrawnOrder { kernel: "fault".into(), with });
        assert_eq!(program.launch(&memory, &launch), Err(wrong));
    }
}
