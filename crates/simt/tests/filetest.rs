//! Runs the `.ptx` files of `filetests/`: see `support/expectations.rs` for what their comments
//! mean.

#[path = "support/accesses.rs"]
mod accesses;
#[path = "support/expectations.rs"]
mod expectations;

use std::fs;
use std::path::Path;

use self::expectations::{Parameter, Test, Texels};
use simt::counts::MetricValue;
use simt::orders::DrawnOrder;
use simt::tensors::TensorMap;
use simt::textures::{ArrayShape, ChannelType, Sampling, TexelFormat, TextureError, TextureSource};
use simt::{Checks, Finding, Launch, LaunchError, Memory, Model, Output, Program, Report};

/// How a test is launched.
#[derive(Clone, Copy)]
struct Way {
    /// Threads of the host.
    threads: usize,
    checks: Checks,
    model: Option<&'static Model>,
    order: Option<DrawnOrder>,
}

/// The outcome of a launch.
struct Launched {
    result: Result<Report, LaunchError>,
    printed: String,
    /// The buffers, in the order of the parameters.
    buffers: Vec<Vec<u8>>,
}

/// Runs one test: on one thread of the host and on several, with checks and without, with a model
/// and without. Returns what is wrong.
fn run(module: &ptx::Module, test: &Test) -> Result<(), String> {
    let asked = test.check.as_deref().map_or(Ok(Checks::NONE), str::parse)?;
    let mut plain = None;
    for model in [None, Model::named("hopper")] {
        let way = Way { threads: 1, checks: asked, model, order: None };
        let first = launch(module, test, way)?;
        if let (Some(Ok(plain)), Ok(report)) = (&plain, &first.result)
            && let Some(line) = self::accesses::differing(plain, report)
        {
            return Err(format!("other accesses in line {line}, {}", described(way)));
        }
        plain.get_or_insert_with(|| first.result.clone());
        // A model has other values of some special registers, and a trap may come in another block
        // first.
        if model.is_none() || asked.any() {
            judge(test, &first).map_err(|what| format!("{what}, {}", described(way)))?;
        }
        for (threads, checks) in [(3, asked), (1, Checks::ALL), (3, Checks::ALL)] {
            let way = Way { threads, checks, model, order: None };
            let other = launch(module, test, way)?;
            let differ =
                |what: &str| Err(format!("other {what} than on one thread with checks {asked}, {}", described(way)));
            match (&first.result, &other.result) {
                (Ok(one), Ok(other)) if !one.instructions().eq(other.instructions()) => return differ("counters"),
                (Ok(one), Ok(other)) if one.counters() != other.counters() => return differ("counters of the model"),
                // A trap of a launch without checks may be a finding with them. After a trap, the
                // effects of later blocks are unspecified.
                (Err(_), _) => continue,
                _ => {}
            }
            if first.printed != other.printed {
                return differ("output");
            }
            if first.buffers != other.buffers {
                return differ("bytes");
            }
        }
    }
    Ok(())
}

fn described(Way { threads, checks, model, .. }: Way) -> String {
    format!("on {threads} threads with checks {checks}, {}", model.map_or("no model", |model| model.name))
}

/// Launches a test's kernel.
fn launch(module: &ptx::Module, test: &Test, way: Way) -> Result<Launched, String> {
    let mut memory = Memory::new(1 << 30);
    let program = Program::load(module, &mut memory).map_err(|error| error.to_string())?;
    let mut arguments = Vec::new();
    let mut buffers = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Value(bytes) => arguments.push(bytes.clone()),
            Parameter::Buffer { before, .. } => {
                let address = memory.allocate(before.len() as u64).map_err(|error| error.to_string())?;
                memory.write(address, before).map_err(|error| error.to_string())?;
                arguments.push(address.to_le_bytes().to_vec());
                buffers.push((address, before.clone()));
            }
            &Parameter::Bare { bytes, freed } => {
                let address = memory.allocate(bytes).map_err(|error| error.to_string())?;
                arguments.push(address.to_le_bytes().to_vec());
                if freed {
                    memory.free(address).map_err(|error| error.to_string())?;
                }
            }
            Parameter::Tensor { map, by_address, before, .. } => {
                let address = memory.allocate(before.len() as u64).map_err(|error| error.to_string())?;
                memory.write(address, before).map_err(|error| error.to_string())?;
                buffers.push((address, before.clone()));
                let map = TensorMap { address, ..map.parse()? };
                let map = map.encode().map_err(|error| error.to_string())?;
                if *by_address {
                    let address = memory.allocate(map.len() as u64).map_err(|error| error.to_string())?;
                    memory.write(address, &map).map_err(|error| error.to_string())?;
                    arguments.push(address.to_le_bytes().to_vec());
                } else {
                    arguments.push(map.to_vec());
                }
            }
            Parameter::Array { ty, extent, texels, is_surface } => {
                let handle =
                    object(&mut memory, ty, *extent, texels, *is_surface).map_err(|error| error.to_string())?;
                arguments.push(handle.to_le_bytes().to_vec());
            }
        }
    }
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let output = Output::default();
    let launch = Launch {
        kernel: &test.kernel,
        grid: test.grid,
        block: test.block,
        cluster: test.cluster,
        cooperative: test.cooperative,
        dynamic_shared: test.shared,
        arguments: &arguments,
        checks: way.checks,
        model: way.model,
        step_limit: test.steps.unwrap_or(if way.order.is_some() { 1 << 20 } else { 1 << 24 }),
        threads: Some(way.threads),
        output: Some(&output),
        order: way.order,
        ..Launch::default()
    };
    let result = program.launch(&memory, &launch);
    for (address, bytes) in &mut buffers {
        memory.read(*address, bytes).map_err(|error| error.to_string())?;
    }
    let buffers = buffers.into_iter().map(|(_, bytes)| bytes).collect();
    Ok(Launched { result, printed: output.take().text(), buffers })
}

/// Compares a launch's outcome with the test's comments.
fn judge(test: &Test, launched: &Launched) -> Result<(), String> {
    let wanted: String = test.prints.iter().map(|line| format!("{line}\n")).collect();
    same(&launched.printed, &wanted)?;
    let report = match (&launched.result, &test.trap, &test.error) {
        (Ok(report), None, None) => report,
        (Ok(_), _, _) => return Err("the launch came to its end".into()),
        (Err(LaunchError::Trap(trap)), Some(expected), _) => {
            same_findings(&trap.findings, &test.findings)?;
            return same(&trap.to_string(), expected);
        }
        (Err(error @ (LaunchError::Invalid(_) | LaunchError::Unsupported(_))), _, Some(expected)) => {
            return same(&error.to_string(), expected);
        }
        (Err(error), _, _) => return Err(error.to_string()),
    };
    if test.check.is_some() {
        same_findings(report.findings(), &test.findings)?;
    }
    let expected = test.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Value(_) | Parameter::Bare { .. } | Parameter::Array { .. } => None,
        Parameter::Buffer { after, .. } | Parameter::Tensor { after, .. } => Some(after.as_deref()),
    });
    let outputs = launched.buffers.iter().zip(expected).filter_map(|(found, after)| Some((found, after?)));
    for (index, (found, after)) in outputs.enumerate() {
        expectations::compare(index, found, after)?;
    }
    let metrics = report.counters().metrics();
    let modelled = if report.counters().model.is_some() { test.modelled.as_slice() } else { &[] };
    for (name, wanted) in test.counts.iter().chain(modelled) {
        let metric = metrics.iter().find(|metric| metric.name == name).ok_or(format!("no counter {name}"))?;
        if metric.value != MetricValue::Count(*wanted) {
            return Err(format!("{name} is {:?}, not {wanted}", metric.value));
        }
    }
    Ok(())
}

/// Makes a texture or a surface. Returns its handle.
fn object(
    memory: &mut Memory,
    ty: &str,
    [width, height]: [u32; 2],
    texels: &Texels,
    is_surface: bool,
) -> Result<u64, TextureError> {
    let ty = match ty {
        "u8" => ChannelType::U8,
        "u16" => ChannelType::U16,
        "u32" => ChannelType::U32,
        _ => ChannelType::F32,
    };
    let shape = ArrayShape { width, height, ..ArrayShape::of(TexelFormat { channels: 1, ty }) };
    let array = memory.allocate_array(&shape)?;
    if let Texels::Bytes(bytes) = texels {
        memory.write_array(array, 0, bytes)?;
    }
    let handle = match is_surface {
        true => memory.create_surface(array)?,
        false => memory.create_texture(&TextureSource::Array(array), &Sampling::default())?,
    };
    if matches!(texels, Texels::Freed) {
        memory.free_array(array)?;
    }
    Ok(handle)
}

fn same_findings(found: &[Finding], expected: &[String]) -> Result<(), String> {
    let found: Vec<String> = found.iter().map(Finding::to_string).collect();
    if found == expected {
        return Ok(());
    }
    let list = |lines: &[String]| lines.iter().map(|line| format!("\n    // finding: {line}")).collect::<String>();
    Err(format!("finds{}\n  not{}", list(&found), list(expected)))
}

fn same(found: &str, expected: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("says\n    {found}\n  not\n    {expected}")) }
}

/// Faults that only some orders have: they are about what other blocks have done before, or what
/// shared memory begins with.
const OF_ORDER: [&str; 3] = ["has exited", "has not begun", "`mbarrier.init` creates one"];

/// Runs one test in drawn orders. What it says of results and counts must hold there, too; a fault
/// may come elsewhere first.
fn run_in_drawn_orders(module: &ptx::Module, test: &Test) -> Result<(), String> {
    let way = |order| Way { threads: 1, checks: Checks::NONE, model: None, order };
    let usual = launch(module, test, way(None))?;
    // A planted bug may give any result.
    let is_right = test.findings.is_empty() && test.trap.is_none() && test.error.is_none();
    let orders =
        ["random:1:1", "random:3:2,start=down", "pct:3:100:3", "random:1:4,lanes=8", "random:1:5,weak=2,stale=2"];
    for text in orders {
        let order: DrawnOrder = text.parse()?;
        let drawn = launch(module, test, way(Some(order)))?;
        let judged = match (&usual.result, &drawn.result) {
            _ if is_right => {
                // Lanes that separate make more requests, and late stores are not counted.
                let counts = if order.lanes + order.weak == 0 { test.counts.clone() } else { Vec::new() };
                judge(&Test { check: None, counts, ..test.clone() }, &drawn)
            }
            (Err(LaunchError::Invalid(one)), Err(LaunchError::Invalid(other))) if one == other => Ok(()),
            (Err(LaunchError::Unsupported(_)), Err(LaunchError::Unsupported(_))) => Ok(()),
            (Ok(_), _) | (Err(LaunchError::Trap(_)), Err(LaunchError::Trap(_))) => Ok(()),
            (Err(LaunchError::Trap(trap)), Ok(_)) if OF_ORDER.iter().any(|it| trap.to_string().contains(it)) => Ok(()),
            (Err(error), _) => Err(format!("does not end with `{error}`")),
        };
        judged.map_err(|what| format!("{what}, in the order {text}"))?;
    }
    Ok(())
}

#[test]
fn every_file_does_what_its_comments_say() {
    for_each_test(run);
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn what_files_say_holds_in_drawn_orders() {
    for_each_test(run_in_drawn_orders);
}

/// Runs all tests of all files.
fn for_each_test(run: fn(&ptx::Module, &Test) -> Result<(), String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let folders = [folder.join("findings"), folder];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    // While writing a test: COALESCE_FILETEST=copies runs only files with that in their names.
    let wanted = std::env::var("COALESCE_FILETEST").unwrap_or_default();
    files.retain(|path| path.to_string_lossy().contains(&wanted));
    let (mut count, mut failures) = (0, Vec::new());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let tests = expectations::parse(&text, "").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!tests.is_empty(), "{name} has no tests");
        let module = ptx::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        for test in tests {
            count += 1;
            if let Err(what) = run(&module, &test) {
                failures.push(format!("{name}:{}: {}: {what}", test.line, test.kernel));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
}
