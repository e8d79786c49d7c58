//! Warp instructions per second, with all counters on: a padded transpose, a naive matrix product
//! and a reduction, on one and on two threads of the host, and with all checks on; and the naive
//! product at the lab sheet's own size. The figures are in `measurements/speed.md`.
//!
//! One thread is measured in CPU time, which other programs on the machine disturb least.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use simt::{Checks, Launch, Memory, Program};

struct Subject {
    name: &'static str,
    kernel: &'static str,
    text: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Bytes of each buffer, in the order of the parameters.
    buffers: &'static [u64],
    /// The last parameter, where there is one.
    size: Option<u32>,
    /// Warp instructions of a launch.
    instructions: u64,
    runs: &'static [Run],
}

/// A way to run a subject.
struct Run {
    name: &'static str,
    threads: usize,
    checks: Checks,
}

const ONE: Run = Run { name: "1 thread", threads: 1, checks: Checks::NONE };
const TWO: Run = Run { name: "2 threads", threads: 2, checks: Checks::NONE };
const CHECKED: Run = Run { name: "all checks", threads: 1, checks: Checks::ALL };

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "transpose_padded",
        kernel: "transpose_padded",
        text: include_str!("transpose.ptx"),
        grid: [32, 32, 1],
        block: [32, 8, 1],
        buffers: &[1024 * 1024 * 4, 1024 * 1024 * 4],
        size: Some(1024),
        instructions: 434_176,
        runs: &[ONE, TWO, CHECKED],
    },
    Subject {
        name: "matmul_naive",
        kernel: "matmul_naive",
        text: include_str!("matmul.ptx"),
        grid: [8, 8, 1],
        block: [16, 16, 1],
        buffers: &[128 * 128 * 4, 128 * 128 * 4, 128 * 128 * 4],
        size: Some(128),
        instructions: 800_768,
        runs: &[ONE, TWO, CHECKED],
    },
    Subject {
        name: "reduce",
        kernel: "reduce",
        text: include_str!("reduction.ptx"),
        grid: [1024, 1, 1],
        block: [256, 1, 1],
        buffers: &[1024 * 1024, 1024 * 4],
        size: None,
        instructions: 634_880,
        runs: &[ONE, TWO, CHECKED],
    },
    Subject {
        name: "matmul_naive_1000",
        kernel: "matmul_naive",
        text: include_str!("matmul.ptx"),
        grid: [63, 63, 1],
        block: [16, 16, 1],
        buffers: &[1000 * 1000 * 4, 1000 * 1000 * 4, 1000 * 1000 * 4],
        size: Some(1000),
        instructions: 378_887_040,
        runs: &[ONE, TWO],
    },
];

/// For how long this thread has run, where the system reports it.
fn time_run() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn throughput(criterion: &mut Criterion) {
    for subject in SUBJECTS {
        let module = ptx::parse(subject.name, subject.text).expect("the fixture is right");
        let mut memory = Memory::new(1 << 30);
        let program = Program::load(&module, &mut memory).expect("the fixture loads");
        let mut arguments: Vec<Vec<u8>> = Vec::new();
        for (index, &bytes) in subject.buffers.iter().enumerate() {
            let address = memory.allocate(bytes).expect("there is room");
            // All but the result, as a program would: otherwise the sanitizer reports reads of
            // memory that nothing wrote.
            if index + 1 < subject.buffers.len() {
                memory.write(address, &vec![0; bytes as usize]).expect("it was allocated");
            }
            arguments.push(address.to_le_bytes().to_vec());
        }
        arguments.extend(subject.size.map(|size| size.to_le_bytes().to_vec()));
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let mut group = criterion.benchmark_group(subject.name);
        for run in subject.runs {
            let launch = Launch {
                kernel: subject.kernel,
                grid: subject.grid,
                block: subject.block,
                arguments: &arguments,
                threads: Some(run.threads),
                checks: run.checks,
                ..Launch::default()
            };
            group.throughput(Throughput::Elements(subject.instructions));
            group.sample_size(if subject.instructions > 100_000_000 { 10 } else { 20 });
            group.bench_function(run.name, |bencher| {
                bencher.iter_custom(|times| {
                    let clock = || if run.threads == 1 { time_run() } else { None };
                    let (start, ran) = (Instant::now(), clock());
                    for _ in 0..times {
                        let report = program.launch(&memory, &launch).expect("the fixture runs");
                        assert_eq!(report.counters().instructions_executed, subject.instructions);
                    }
                    clock().zip(ran).map_or(start.elapsed(), |(now, before)| now - before)
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
