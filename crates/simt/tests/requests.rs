//! Requests that a launch keeps ([`Launch::watch`]), and what GPUs make of them. The property: the
//! cost of a request equals the counters of a launch that makes this request alone, on every model,
//! and what is listed adds up to the cost.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simt::counts::AccessKind;
use simt::models::{BankRule, TransactionRule};
use simt::requests::{Piece, Request, RequestedMemory, Service, Unit, Watch};
use simt::textures::{ArrayShape, ChannelType, Sampling, TexelFormat, TextureSource};
use simt::{Launch, LoadCaching, Memory, Model, Program, Report};

/// All requests of the first blocks.
const ALL: Watch = Watch { blocks: 0..4, warps: 0..32, requests: 8 };

/// Bytes of each memory that lanes access.
const ROOM: u64 = 4096;

/// One instruction, which takes its addresses from the kernel's parameters: these are not counted.
fn kernel(instruction: &str, symbol: &str) -> String {
    format!(
        r"
.version 8.4
.target sm_90
.address_size 64
.const .align 16 .b8 constants[4096];
.global .align 16 .b8 variables[4096];
.visible .entry one(.param .align 8 .b8 first[256], .param .align 8 .b8 second[256], .param .u32 mask, .param .u32 zeros)
{{
	.reg .pred %p<3>;
	.reg .b16 %h<5>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<12>;
	.shared .align 16 .b8 stage[4096];
	.local .align 16 .b8 own[4096];
	mov.u32 %r1, %laneid;
	mul.wide.u32 %rd1, %r1, 8;
	mov.u64 %rd2, first;
	add.u64 %rd2, %rd2, %rd1;
	ld.param.u64 %rd3, [%rd2];
	mov.u64 %rd2, second;
	add.u64 %rd2, %rd2, %rd1;
	ld.param.u64 %rd4, [%rd2];
	mov.u64 %rd5, {symbol};
	add.u64 %rd3, %rd3, %rd5;
	mov.u64 %rd5, stage;
	add.u64 %rd4, %rd4, %rd5;
	ld.param.u32 %r2, [mask];
	shr.u32 %r2, %r2, %r1;
	and.b32 %r2, %r2, 1;
	setp.ne.u32 %p1, %r2, 0;
	ld.param.u32 %r2, [zeros];
	shr.u32 %r2, %r2, %r1;
	and.b32 %r2, %r2, 1;
	setp.ne.u32 %p2, %r2, 0;
	{instruction}
	ret;
}}"
    )
}

/// A kernel's instruction, the bytes of a lane, and the variable that it accesses.
struct Instruction {
    text: String,
    width: u32,
    symbol: &'static str,
    /// Whether all lanes must take part.
    by_all: bool,
}

fn instructions() -> Vec<Instruction> {
    let mut all = Vec::new();
    let mut add = |text: String, width, symbol, by_all| {
        let text = if by_all { text } else { format!("@%p1 {text}") };
        all.push(Instruction { text, width, symbol, by_all });
    };
    let registers =
        [(1, "u8 %h1"), (2, "u16 %h1"), (4, "u32 %r5"), (8, "v2.u32 {%r5, %r6}"), (16, "v4.u32 {%r5, %r6, %r7, %r8}")];
    for (width, register) in registers {
        let (ty, register) = register.split_once(' ').expect("both are there");
        for (load, symbol) in [
            ("ld.global", "variables"),
            ("ld.global.nc", "variables"),
            ("ld.global.cg", "variables"),
            ("ld.shared", "stage"),
            ("ld.const", "constants"),
            ("ld.local", "own"),
        ] {
            add(format!("{load}.{ty} {register}, [%rd3];"), width, symbol, false);
        }
        for (store, symbol) in [("st.global", "variables"), ("st.shared", "stage"), ("st.local", "own")] {
            add(format!("{store}.{ty} [%rd3], {register};"), width, symbol, false);
        }
    }
    for (width, ty, register) in [(4, "u32", "%r5"), (8, "u64", "%rd6")] {
        for (space, symbol) in [("global", "variables"), ("shared", "stage")] {
            add(format!("atom.{space}.add.{ty} {register}, [%rd3], {register};"), width, symbol, false);
            add(format!("red.{space}.add.{ty} [%rd3], {register};"), width, symbol, false);
        }
    }
    for (width, cache) in [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")] {
        add(format!("cp.async.{cache}.shared.global [%rd4], [%rd3], {width}, %p2;"), width, "variables", false);
    }
    add("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%rd3];".into(), 16, "stage", true);
    add("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r6}, [%rd3];".into(), 16, "stage", true);
    add("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%rd3], {%r5, %r6, %r7, %r8};".into(), 16, "stage", true);
    all
}

/// The lanes' elements: patterns of the course, and any.
fn elements() -> impl Strategy<Value = [u64; 32]> {
    let any = prop::array::uniform32(0..ROOM);
    prop_oneof![
        (0..64u64, 0..40u64).prop_map(|(first, stride)| std::array::from_fn(|lane| first + stride * lane as u64)),
        (0..32u64, 0..64u64).prop_map(|(bits, first)| std::array::from_fn(|lane| first + (lane as u64 ^ bits))),
        (1..32u64, 0..64u64).prop_map(|(together, first)| std::array::from_fn(|lane| first + lane as u64 / together)),
        (1..9u64).prop_flat_map(|bits| prop::array::uniform32(0..1u64 << bits)),
        any,
    ]
}

fn lanes() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(u32::MAX), 1 => Just(0xffff), 1 => Just(0x8000_0001), 2 => any::<u32>()]
}

fn bytes(elements: &[u64; 32], width: u32) -> Vec<u8> {
    let address = |element: &u64| element * u64::from(width) % ROOM;
    elements.iter().flat_map(|element| address(element).to_le_bytes()).collect()
}

fn load(text: &str) -> (Memory, Program) {
    let module = ptx::parse("one.ptx", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let mut memory = Memory::new(64 << 20);
    let program = Program::load(&module, &mut memory).unwrap_or_else(|error| panic!("{error}"));
    (memory, program)
}

/// Each model, and none.
fn models() -> impl Iterator<Item = Option<&'static Model>> {
    std::iter::once(None).chain(Model::all().iter().map(Some))
}

/// The cost of the only request to its memory is what the launch has counted.
fn agrees(report: &Report, request: &Request, model: Option<&'static Model>) {
    let service = request.service(model, LoadCaching::Default);
    assert_eq!(report.service_of(request), service);
    let counters = report.counters();
    let what = format!("{} on {:?}: {request:?}", report.instruction_of(request).text, model.map(|model| model.name));
    let name = |kind| (kind, request.memory);
    match name(request.kind) {
        (kind, RequestedMemory::Global) => {
            let global = match kind {
                AccessKind::Load | AccessKind::Copy => counters.global.load,
                AccessKind::Store => counters.global.store,
                AccessKind::Atomic => counters.global.atomic,
                AccessKind::Reduction => counters.global.reduction,
            };
            assert_eq!(u64::from(service.bytes_asked), global.bytes, "{what}");
            let plain = matches!(kind, AccessKind::Load | AccessKind::Store);
            if model.is_none_or(|model| model.global == TransactionRule::Sectors)
                || !(plain || kind == AccessKind::Copy)
            {
                assert_eq!((service.unit, u64::from(service.count)), (Unit::Sector, global.sectors), "{what}");
            }
            if let Some(counted) = counters.model.filter(|_| plain) {
                let counted = if kind == AccessKind::Load { counted.global_load } else { counted.global_store };
                let found = [service.count, service.bytes_moved, service.bytes_asked].map(u64::from);
                assert_eq!(found, [counted.transactions, counted.bytes_moved, counted.bytes_asked], "{what}");
            }
        }
        (kind, RequestedMemory::Shared) => {
            let shared = match kind {
                AccessKind::Load => counters.shared.load,
                AccessKind::Store => counters.shared.store,
                AccessKind::Atomic => counters.shared.atomic,
                AccessKind::Reduction => counters.shared.reduction,
                AccessKind::Copy => counters.shared.copy,
            };
            let found = [service.count, service.conflicts].map(u64::from);
            assert_eq!(found, [shared.wavefronts, shared.bank_conflicts], "{what}");
            // Copies past L1 move runs, and fill whatever the banks.
            if !what.contains("cp.async.cg") {
                banks_serve_one_word_a_pass(&service, model, &what);
            }
        }
        (kind, RequestedMemory::Local) => {
            let local = if kind == AccessKind::Load { counters.local.load } else { counters.local.store };
            assert_eq!([service.count, service.bytes_asked].map(u64::from), [local.sectors, local.bytes], "{what}");
        }
        (_, RequestedMemory::Constant) => assert_eq!(u64::from(service.count), counters.constant.addresses, "{what}"),
        (_, other) => panic!("{other:?}: {what}"),
    }
    adds_up(request, &service, &what);
}

/// In a pass, a bank serves one word; Kepler's of 8 bytes two of 4 that share a row.
fn banks_serve_one_word_a_pass(service: &Service, model: Option<&'static Model>, what: &str) {
    let banks = service.banks.expect("shared memory has banks");
    let mut rows: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for ask in &service.asks {
        assert!(ask.pass < service.count, "{what}");
        let bank = ask.address / u64::from(banks.bytes) % u64::from(banks.count);
        let row = match model.map(|model| model.shared.banks) {
            Some(BankRule::Kepler4) if !what.contains("Copy") => ask.address / 256,
            _ => ask.address / u64::from(banks.bytes),
        };
        assert_eq!(*rows.entry((ask.pass, bank)).or_insert(row), row, "{what}");
    }
    let waits = service.asks.iter().any(|ask| ask.turn > 0);
    // Fermi's words of 16 bytes have a conflict that no word waits for.
    assert!(!waits || service.conflicts > 0, "{what}");
}

/// What is listed is what is asked for, and what moves holds it.
fn adds_up(request: &Request, service: &Service, what: &str) {
    let mut asked = [0; 32];
    service.asks.iter().for_each(|ask| asked[usize::from(ask.lane)] += ask.bytes);
    let expected = std::array::from_fn(|lane| if request.mask >> lane & 1 == 1 { request.width } else { 0 });
    assert_eq!(asked, expected, "{what}");
    let moved: u32 = service.pieces.iter().map(|piece| piece.bytes * piece.times).sum();
    assert_eq!(moved, service.bytes_moved, "{what}");
    if service.bytes_moved > 0 {
        assert_eq!(service.pieces.iter().map(|piece| piece.times).sum::<u32>(), service.count, "{what}");
        for ask in &service.asks {
            let size = ask.bytes.min(16);
            for first in (ask.address..ask.address + u64::from(ask.bytes)).step_by(size as usize) {
                let end = first + u64::from(size);
                let holds = |piece: &Piece| piece.address <= first && end <= piece.address + u64::from(piece.bytes);
                assert!(service.pieces.iter().any(holds), "{what}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_request_costs_what_a_launch_of_it_alone_counts(
        first in elements(), second in elements(), mask in lanes(), zeros in prop_oneof![Just(0u32), any::<u32>()]
    ) {
        for Instruction { text, width, symbol, by_all } in instructions() {
            let (memory, program) = load(&kernel(&text, symbol));
            let mask = if by_all { u32::MAX } else { mask };
            let arguments = [bytes(&first, width), bytes(&second, width), mask.to_le_bytes().into(), zeros.to_le_bytes().into()];
            let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
            for model in models() {
                let launch = Launch { kernel: "one", block: [32, 1, 1], arguments: &arguments, model, watch: Some(ALL), ..Launch::default() };
                let report = program.launch(&memory, &launch).unwrap_or_else(|error| panic!("{error}: {text}"));
                let copies = usize::from(text.contains("cp.async") && mask & !zeros != 0);
                prop_assert_eq!(report.requests().len(), usize::from(mask != 0) + copies, "{}", text);
                report.requests().iter().for_each(|request| agrees(&report, request, model));
            }
        }
    }
}

/// Texels of the lanes, in an array or in pitched memory.
#[test]
fn fetches_cost_what_a_launch_of_them_counts() {
    let module = ptx::parse("textures.ptx", include_str!("data/textures.ptx")).expect("the kernels are valid");
    let mut memory = Memory::new(64 << 20);
    let program = Program::load(&module, &mut memory).expect("there is room");
    let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
    let array =
        memory.allocate_array(&ArrayShape { width: 64, height: 64, ..ArrayShape::of(format) }).expect("there is room");
    let address = memory.allocate(64 * 256).expect("there is room");
    let pitched = TextureSource::Pitched { address, width: 64, height: 64, pitch: 256, format };
    let patterns: [fn(u32) -> [u32; 2]; 4] =
        [|lane| [lane, 0], |lane| [0, lane], |lane| [lane % 8, lane / 8], |lane| [lane * 37 % 64, lane * 11 % 64]];
    for source in [TextureSource::Array(array), pitched] {
        let texture = memory.create_texture(&source, &Sampling::default()).expect("it can be read");
        for pattern in patterns {
            let words = (0..32).flat_map(|lane| [pattern(lane)[0], pattern(lane)[1], 0, 0]);
            let words: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            let [input, output] = [0; 2].map(|_| memory.allocate(words.len() as u64).expect("there is room"));
            memory.write(input, &words).expect("allocated");
            let arguments = [texture, input, output].map(u64::to_le_bytes);
            let arguments: Vec<&[u8]> = arguments.iter().map(|bytes| bytes.as_slice()).collect();
            for model in models() {
                let launch = Launch {
                    kernel: "fetch_2d_f32_s32",
                    block: [32, 1, 1],
                    arguments: &arguments,
                    model,
                    watch: Some(ALL),
                    ..Launch::default()
                };
                let report = program.launch(&memory, &launch).expect("it runs");
                let fetches = report.requests().iter().filter(|request| request.memory == RequestedMemory::Texture);
                let services: Vec<_> =
                    fetches.map(|request| (request, request.service(model, LoadCaching::Default))).collect();
                let [(request, service)] = services.as_slice() else { panic!("one fetch, not {}", services.len()) };
                let counted = report.counters().texture;
                assert_eq!([service.count, service.bytes_asked].map(u64::from), [counted.sectors, counted.bytes]);
                adds_up(request, service, "a fetch");
            }
        }
    }
}

/// Bulk copies: the sectors that they move, of any address and size that they can have.
#[test]
fn bulk_copies_cost_what_a_launch_of_them_counts() {
    let load = "mbarrier.init.shared::cta.b64 [full], 1;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %r3;
	@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd4], [%rd3], %r3, [full];
again:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
	@!%p2 bra again;";
    let store = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%rd4], %r3;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;";
    for (body, kind) in [(load, AccessKind::Copy), (store, AccessKind::Store)] {
        let body = format!(".shared .align 8 .b64 full;\n\tmov.u32 %r3, %r2;\n\tld.param.u32 %r3, [zeros];\n\t{body}");
        let (memory, program) = self::load(&kernel(&body, "variables"));
        for (start, size) in [(0u64, 128u32), (16, 128), (16, 160), (112, 16), (48, 1024), (0, 16)] {
            let arguments =
                [start.to_le_bytes().repeat(32), [0; 256].into(), 1u32.to_le_bytes().into(), size.to_le_bytes().into()];
            let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
            for model in ["tesla", "fermi", "hopper"].map(Model::named) {
                let launch =
                    Launch { kernel: "one", arguments: &arguments, model, watch: Some(ALL), ..Launch::default() };
                let report = program.launch(&memory, &launch).unwrap_or_else(|error| panic!("{error}"));
                let [request] = report.requests() else { panic!("one copy, not {}", report.requests().len()) };
                assert_eq!((request.kind, request.memory, request.width), (kind, RequestedMemory::Global, size));
                let service = request.service(model, LoadCaching::Default);
                let caches = report.counters().model.expect("there is a model").caches;
                let moved = match (model.and_then(|model| model.l2.as_ref()), kind) {
                    (Some(_), AccessKind::Copy) => caches.l2_to_l1_sectors * 32,
                    (Some(_), _) => caches.l1_to_l2_sectors * 32,
                    (None, AccessKind::Copy) => caches.dram_read_bytes,
                    (None, _) => caches.dram_write_bytes,
                };
                assert_eq!(
                    u64::from(service.bytes_moved),
                    moved,
                    "{start} {size} {kind:?} {:?}",
                    model.map(|model| model.name)
                );
                adds_up(request, &service, "a copy");
            }
        }
    }
}

/// Which requests are kept: the first of each instruction, of the blocks and warps that the launch
/// names, whatever the host does.
#[test]
fn the_first_requests_are_kept_whatever_the_number_of_threads() {
    let text = "
.version 8.4
.target sm_90
.address_size 64
.visible .entry walk(.param .u64 cells)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [cells];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r1, %r2, 128, %r1;
	mov.u32 %r3, 0;
again:
	mad.lo.u32 %r4, %r3, 7, %r1;
	and.b32 %r4, %r4, 1023;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd2, %rd1, %rd2;
	ld.global.u32 %r5, [%rd2];
	red.global.add.u32 [%rd2], %r5;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, 5;
	@%p1 bra again;
	ret;
}";
    let (mut memory, program) = load(text);
    let cells = memory.allocate(4096).expect("there is room").to_le_bytes();
    let run = |threads, watch: Option<Watch>, model| {
        let arguments: &[&[u8]] = &[&cells];
        let launch = Launch {
            kernel: "walk",
            grid: [64, 1, 1],
            block: [128, 1, 1],
            arguments,
            threads: Some(threads),
            watch,
            model,
            ..Launch::default()
        };
        program.launch(&memory, &launch).expect("it runs")
    };
    let watch = Watch { blocks: 2..4, warps: 1..3, requests: 3 };
    for model in [None, Model::named("fermi"), Model::named("hopper")] {
        let report = run(1, Some(watch.clone()), model);
        let found: Vec<_> = report
            .requests()
            .iter()
            .map(|request| (request.kind, request.block, request.warp, request.addresses[0]))
            .collect();
        let start = u64::from_le_bytes(cells);
        let expected = [AccessKind::Load, AccessKind::Reduction].into_iter().flat_map(|kind| {
            let warps = (2..4).flat_map(|block| [1, 2].map(|warp| (block, warp)));
            warps.flat_map(move |(block, warp)| {
                (0..3)
                    .map(move |round| (kind, block, warp, start + 4 * (128 * block + 32 * u64::from(warp) + 7 * round)))
            })
        });
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert_eq!(run(4, Some(watch.clone()), model).requests(), report.requests());
        // What is kept changes nothing else.
        let without = run(1, None, model);
        assert!(without.requests().is_empty());
        assert_eq!(without.counters(), report.counters());
    }
}
