//! Runs the `.ptx` files of `filetests/`: see `support/filetest.rs` for what their comments mean.

#[path = "support/filetest.rs"]
mod filetest;

use std::fs;
use std::path::Path;

use filetest::{Parameter, Test};
use simt::{Checks, Finding, Launch, LaunchError, Memory, MetricValue, Output, Program, Report};

/// Runs one test with some number of host threads. Returns what is wrong.
fn run(module: &ptx::Module, test: &Test, threads: usize) -> Result<(), String> {
    let checks = test.check.as_deref().map_or(Ok(Checks::NONE), str::parse)?;
    let report = run_checked(module, test, threads, checks)?;
    // What is counted does not depend on what is looked for.
    if let Some(report) = report.filter(|_| test.check.is_none()) {
        let checked = run_checked(module, test, threads, Checks::ALL)?;
        if checked.is_none_or(|checked| checked.counters() != report.counters()) {
            return Err("counts something else with checks on".into());
        }
    }
    Ok(())
}

/// Runs it with these checks. Returns the report of a launch that came to its end.
fn run_checked(module: &ptx::Module, test: &Test, threads: usize, checks: Checks) -> Result<Option<Report>, String> {
    let mut memory = Memory::new(1 << 30);
    let program = Program::load(module, &mut memory).map_err(|error| error.to_string())?;
    let mut arguments = Vec::new();
    let mut outputs = Vec::new();
    for parameter in &test.parameters {
        match parameter {
            Parameter::Value(bytes) => arguments.push(bytes.clone()),
            Parameter::Buffer { before, after } => {
                let address = memory.allocate(before.len() as u64).map_err(|error| error.to_string())?;
                memory.write(address, before).map_err(|error| error.to_string())?;
                arguments.push(address.to_le_bytes().to_vec());
                outputs.extend(after.as_ref().map(|after| (address, after)));
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
        dynamic_shared: test.shared,
        arguments: &arguments,
        checks,
        step_limit: test.steps.unwrap_or(1 << 24),
        threads: Some(threads),
        output: Some(&output),
        ..Launch::default()
    };
    let launched = program.launch(&memory, &launch);
    let wanted: String = test.prints.iter().map(|line| format!("{line}\n")).collect();
    same(&output.take().text(), &wanted)?;
    let report = match (launched, &test.trap, &test.error) {
        (Ok(report), None, None) => report,
        (Ok(_), _, _) => return Err("the launch came to its end".into()),
        (Err(LaunchError::Trap(trap)), Some(expected), _) => {
            same_findings(&trap.findings, &test.findings)?;
            return same(&trap.to_string(), expected).map(|()| None);
        }
        (Err(error @ (LaunchError::Invalid(_) | LaunchError::Unsupported(_))), _, Some(expected)) => {
            return same(&error.to_string(), expected).map(|()| None);
        }
        (Err(error), _, _) => return Err(error.to_string()),
    };
    if test.check.is_some() {
        same_findings(report.findings(), &test.findings)?;
    }
    for (index, (address, after)) in outputs.into_iter().enumerate() {
        let mut found = vec![0; after.len()];
        memory.read(address, &mut found).map_err(|error| error.to_string())?;
        filetest::compare(index, &found, after)?;
    }
    let metrics = report.counters().metrics();
    for (name, wanted) in &test.counts {
        let metric = metrics.iter().find(|metric| metric.name == name).ok_or(format!("no counter {name}"))?;
        if metric.value != MetricValue::Count(*wanted) {
            return Err(format!("{name} is {:?}, not {wanted}", metric.value));
        }
    }
    Ok(Some(report))
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

#[test]
fn every_file_does_what_its_comments_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let folders = [folder.join("findings"), folder];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    let (mut count, mut failures) = (0, Vec::new());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let tests = filetest::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!tests.is_empty(), "{name} has no tests");
        let module = ptx::parse(&name, &text).unwrap_or_else(|errors| panic!("{errors}"));
        for test in tests {
            for threads in [1, 3] {
                count += 1;
                if let Err(what) = run(&module, &test, threads) {
                    failures.push(format!("{name}:{}: {} on {threads} threads: {what}", test.line, test.kernel));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
}
