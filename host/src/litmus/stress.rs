//! A litmus test on a device: many instances of it, started together again and again, and how often
//! each outcome was seen. On the simulator warps run in drawn orders, with late stores and reads
//! that find older values.
//!
//! The threads of an instance are lanes of the same number in different warps: one warp for each
//! thread, in the blocks that the test names. The warps of a group of blocks meet before each
//! round, wait for a drawn number of steps, and then run 32 instances at once, with memory of their
//! own. All blocks are on the device at once, so that the meeting ends. Clusters of a launch have
//! one size: blocks that a test does not name fill them, and end at once.

use std::collections::BTreeMap;
use std::fmt::Write;

use cuda_std::launch::Arguments;
use device::{DeviceChoice, Error, LaunchConfig, OnDevice as _, Options, PtxFile, Result};
use litmus::{Action, Outcomes, Program, Scope, Step, Values};
use simt::orders::{DrawnOrder, Strategy};

/// Bytes from one instance's variable to the next: a sector.
const STEP: u64 = 32;
/// Words of a step.
const STEP_WORDS: usize = STEP as usize / 4;
/// Rounds of a launch.
const ROUNDS: u32 = 64;
/// How often, on average, the simulator's orders delay a store and give a read an older value: one
/// in so many; 0: never.
const WEAK: [(u32, u32); 4] = [(2, 2), (0, 2), (2, 0), (0, 0)];
/// Lanes of a warp: instances of a round.
const LANES: u32 = 32;
/// Registers whose last values are kept of each thread.
const REGISTERS: usize = 32;

/// The blocks of a test: for each, its threads. Those of a cluster are together, filled up to the
/// size of the largest, which comes second.
fn blocks(program: &Program) -> (Vec<Vec<usize>>, usize) {
    let mut clusters: BTreeMap<u32, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
    for (number, thread) in program.threads.iter().enumerate() {
        clusters.entry(thread.place.cluster).or_default().entry(thread.place.block).or_default().push(number);
    }
    let size = clusters.values().map(BTreeMap::len).max().unwrap_or(1);
    let filled =
        |blocks: BTreeMap<u32, Vec<usize>>| blocks.into_values().chain(std::iter::repeat_with(Vec::new)).take(size);
    (clusters.into_values().flat_map(filled).collect(), size)
}

/// Whether a test is about clusters: a thread is in one, or an access has that scope.
fn needs_clusters(program: &Program) -> bool {
    let is_cluster = |step: &Step| match &step.action {
        Action::Load { access, .. } | Action::Store { access, .. } | Action::Atomic { access, .. } => {
            access.scope == Some(Scope::Cluster)
        }
        Action::Fence { scope, .. } => *scope == Scope::Cluster,
        Action::Barrier => false,
    };
    program.threads.iter().any(|thread| !thread.place.has_own_cluster() || thread.steps.iter().any(is_cluster))
}

/// The kernel that runs a test.
pub(super) fn kernel(program: &Program) -> String {
    let (blocks, _) = blocks(program);
    let (version, target) = if needs_clusters(program) { ("7.8", 90) } else { ("7.0", 70) };
    let (count, threads) = (blocks.len(), program.threads.len());
    let mut text = format!(
        ".version {version}\n.target sm_{target}\n.address_size 64\n\
         .visible .entry stress(.param .u64 memory, .param .u64 results, .param .u64 meetings, .param .u32 seed)\n{{\n\
         \t.reg .b32 r<32>; .reg .pred p<8>;\n\
         \t.reg .b32 %s<20>; .reg .b64 %d<40>; .reg .pred %q<8>;\n\
         \tld.param.u64 %d1, [memory];\n\tld.param.u64 %d2, [results];\n\tld.param.u64 %d3, [meetings];\n\
         \tld.param.u32 %s9, [seed];\n\
         \tmov.u32 %s1, %ctaid.x;\n\tdiv.u32 %s2, %s1, {count};\n\trem.u32 %s3, %s1, {count};\n\
         \tmov.u32 %s4, %tid.x;\n\tshr.u32 %s5, %s4, 5;\n\tand.b32 %s6, %s4, 31;\n\
         \tmov.u32 %s7, 0;\n\
         \t// The group's meeting is a counter in a line of its own.\n\
         \tmul.wide.u32 %d4, %s2, 128;\n\tadd.u64 %d3, %d3, %d4;\n"
    );
    // Warps without a thread of the test end here.
    for (number, own) in blocks.iter().enumerate() {
        let _ = write!(
            text,
            "\tsetp.eq.u32 %q1, %s3, {number};\n\tsetp.ge.u32 %q2, %s5, {};\n\tand.pred %q3, %q1, %q2;\n\t@%q3 bra end;\n",
            own.len()
        );
    }
    let _ = write!(
        text,
        "round:\n\tsetp.ge.u32 %q1, %s7, {ROUNDS};\n\t@%q1 bra end;\n\
         \tadd.u32 %s8, %s7, 1;\n\tmul.lo.u32 %s10, %s8, {threads};\n\
         \tbar.warp.sync -1;\n\tsetp.ne.u32 %q2, %s6, 0;\n\t@%q2 bra met;\n\
         \tred.release.gpu.global.add.u32 [%d3], 1;\n\
         wait:\n\tld.acquire.gpu.global.u32 %s11, [%d3];\n\tsetp.lt.u32 %q3, %s11, %s10;\n\t@%q3 bra wait;\n\
         met:\n\tbar.warp.sync -1;\n\
         \t// A drawn number of steps.\n\
         \tmad.lo.u32 %s12, %s7, 747796405, %s9;\n\tmad.lo.u32 %s12, %s1, 277803737, %s12;\n\
         \tmad.lo.u32 %s12, %s5, 1566083941, %s12;\n\txor.b32 %s13, %s12, 2891336453;\n\tmul.lo.u32 %s12, %s13, 277803737;\n\
         \tshr.u32 %s12, %s12, 25;\n\
         late:\n\tsetp.eq.u32 %q4, %s12, 0;\n\t@%q4 bra start;\n\tsub.u32 %s12, %s12, 1;\n\tbra late;\n\
         start:\n\
         \tmad.lo.u32 %s14, %s2, {ROUNDS}, %s7;\n\tmad.lo.u32 %s14, %s14, {LANES}, %s6;\n\
         \tmov.u32 %s15, %nctaid.x;\n\tdiv.u32 %s15, %s15, {count};\n\tmul.lo.u32 %s15, %s15, {};\n",
        ROUNDS * LANES
    );
    for variable in 0..program.variables.len() {
        let register = 10 + variable;
        let _ = write!(
            text,
            "\tmad.lo.u32 %s16, %s15, {variable}, %s14;\n\tmul.wide.u32 %d{register}, %s16, {STEP};\n\
             \tadd.u64 %d{register}, %d1, %d{register};\n"
        );
    }
    for (number, own) in blocks.iter().enumerate() {
        for (warp, thread) in own.iter().enumerate() {
            let _ = write!(
                text,
                "\tsetp.eq.u32 %q1, %s3, {number};\n\tsetp.eq.u32 %q2, %s5, {warp};\n\tand.pred %q3, %q1, %q2;\n\t@%q3 bra thread{thread};\n"
            );
        }
    }
    text += "\tbra next;\n";
    for (number, thread) in program.threads.iter().enumerate() {
        let mut body = thread.body.clone();
        for (variable, (name, _)) in program.variables.iter().enumerate() {
            body = body.replace(&format!("[{name}]"), &format!("[%d{}]", 10 + variable));
        }
        let _ = write!(
            text,
            "thread{number}:\n{body}\tmad.lo.u32 %s17, %s14, {threads}, {number};\n\
             \tmul.wide.u32 %d5, %s17, {};\n\tadd.u64 %d5, %d2, %d5;\n",
            4 * REGISTERS
        );
        for (register, name) in thread.registers.keys().enumerate() {
            let _ = writeln!(text, "\tst.weak.global.u32 [%d5+{}], {name};", 4 * register);
        }
        text += "\tbra next;\n";
    }
    text += "next:\n\tadd.u32 %s7, %s7, 1;\n\tbra round;\nend:\n\tret;\n}\n";
    text
}

/// Runs a test at least `wanted` times, and counts the outcomes.
pub(super) fn seen(
    outcomes: &Outcomes<'_>,
    program: &Program,
    choice: DeviceChoice,
    wanted: u64,
) -> Result<(String, BTreeMap<Values, u64>)> {
    if program.threads.iter().any(|thread| thread.place.gpu != 0) {
        return Err(Error::request("--device", "a test of several GPUs does not run on a device: leave --device out"));
    }
    let options = Options { ptx: vec![PtxFile::of_text("stress.ptx", kernel(program))], ..crate::built_in::options() };
    let device = device::open(choice, &options)?;
    let is_simulated = device.properties().kind == device::Kind::Simulator;
    let (blocks, cluster) = blocks(program);
    let cluster = needs_clusters(program).then_some([cluster as u32, 1, 1]);
    let groups = if is_simulated { 1 } else { (device.multiprocessors() / blocks.len() as u32).max(1) };
    let instances = (groups * ROUNDS * LANES) as usize;
    let warps = blocks.iter().map(Vec::len).max().unwrap_or(1) as u32;
    let mut memory = device.buffer::<u32>(program.variables.len().max(1) * instances * STEP_WORDS)?;
    let mut meetings = device.buffer::<u32>(groups as usize * 32)?;
    let results = device.buffer::<u32>(instances * program.threads.len() * REGISTERS)?;
    let mut beginning = vec![0; memory.len()];
    for (at, (_, value)) in program.variables.iter().enumerate() {
        beginning[at * instances * STEP_WORDS..(at + 1) * instances * STEP_WORDS].fill(*value);
    }
    let asked: Vec<usize> =
        outcomes.all.keys().next().map(|values| values.variables.keys().copied().collect()).unwrap_or_default();
    let (mut all, mut count, mut seed, mut launches) = (BTreeMap::new(), 0, 1_u32, 0);
    while count < wanted {
        memory.write(&beginning)?;
        meetings.fill_bytes(0)?;
        let mut arguments = Arguments::new();
        for address in [memory.address(), results.address(), meetings.address()] {
            arguments.push_bytes(&address.to_le_bytes(), 8);
        }
        arguments.push_bytes(&seed.to_le_bytes(), 4);
        let (weak, stale) = WEAK[launches % WEAK.len()];
        let order = DrawnOrder { weak, stale, ..DrawnOrder::new(seed.into(), Strategy::Random { every: 1 }) };
        let config = LaunchConfig {
            cooperative: true,
            cluster,
            order: is_simulated.then_some(order),
            ..LaunchConfig::new([groups * blocks.len() as u32, 1, 1], [warps * LANES, 1, 1])
        };
        // SAFETY: the buffers have room for each instance's variables, registers and meetings.
        unsafe { device.launch_untyped("stress", &config, &arguments)? };
        let (registers, words) = (results.read()?, memory.read()?);
        for instance in 0..instances {
            let mut values = Values { registers: BTreeMap::new(), variables: BTreeMap::new() };
            for (number, thread) in program.threads.iter().enumerate() {
                for (register, name) in thread.registers.keys().enumerate() {
                    let at = (instance * program.threads.len() + number) * REGISTERS + register;
                    values.registers.insert((number, name.clone()), registers[at]);
                }
            }
            for &variable in &asked {
                values.variables.insert(variable, words[(variable * instances + instance) * STEP_WORDS]);
            }
            *all.entry(values).or_default() += 1;
        }
        count += instances as u64;
        launches += 1;
        seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    }
    Ok((device.properties().name.clone(), all))
}

#[cfg(test)]
mod tests {
    use device::DeviceChoice;
    use litmus::{LIBRARY, Outcomes, named, read};

    use super::seen;

    /// Whether the simulator shows what the first question of a test asks for.
    fn shows(name: &str) -> bool {
        let program = read(name, named(name).expect("a test of the library")).expect("a test");
        let outcomes = Outcomes::of(&program).expect("outcomes");
        let (_, seen) = seen(&outcomes, &program, DeviceChoice::Simulator, 1 << 14).expect("it runs");
        seen.keys().any(|values| values.answer(&program.questions[0]))
    }

    #[test]
    fn the_simulator_shows_nothing_that_the_model_forbids() {
        let mut run = 0;
        for (name, text) in LIBRARY {
            let program = read(name, text).expect("a test");
            let outcomes = Outcomes::of(&program).expect("outcomes");
            if program.threads.iter().any(|thread| thread.place.gpu != 0) {
                assert!(seen(&outcomes, &program, DeviceChoice::Simulator, 1).is_err(), "{name}");
                continue;
            }
            let (_, all) = seen(&outcomes, &program, DeviceChoice::Simulator, 1 << 13).expect("it runs");
            for (values, times) in all {
                let witness = outcomes.all.get(&values);
                let is_allowed = witness.is_some_and(|witness| witness.broken.is_empty());
                assert!(is_allowed, "{name}: {values:?}, {times} times");
            }
            run += 1;
        }
        assert!(run >= 66, "{run}");
    }

    #[test]
    fn what_late_stores_and_early_reads_explain_is_shown() {
        for name in ["mp-relaxed", "mp-release-relaxed", "mp-fence-of-writer", "sb-relaxed", "iriw-relaxed"] {
            assert!(shows(name), "{name}");
        }
    }
}
