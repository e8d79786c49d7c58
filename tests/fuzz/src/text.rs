//! The check of the target `text`: what must hold for every text that is parsed as PTX. The crate's
//! table of targets calls it, and `instruction` for its texts. Pure.

use std::time::{Duration, Instant};

use ptx::{ControlOp, Errors, Module, Op};

/// Longer than parsing a text of a few kilobytes takes on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Parses the text and inspects the result: no panic, no dangling reference, errors that point into
/// the text.
///
/// # Panics
///
/// If that does not hold.
pub fn check(text: &str) -> Option<Module> {
    let start = Instant::now();
    let parsed = ptx::parse("fuzz.ptx", text);
    assert!(start.elapsed() < PATIENCE, "{} bytes took {:?}", text.len(), start.elapsed());
    match parsed {
        Ok(module) => {
            check_module(&module, text);
            Some(module)
        }
        Err(errors) => {
            check_errors(&errors, text);
            None
        }
    }
}

fn check_module(module: &Module, text: &str) {
    for (_, function) in module.functions.iter() {
        let length = function.body.as_ref().map_or(0, Vec::len) as u32;
        for instruction in function.body.iter().flatten() {
            let span = instruction.span.start as usize..instruction.span.end as usize;
            assert!(text.get(span.clone()).is_some(), "{span:?}");
            assert!(module.line_column(instruction.span.start).0 > 0);
            match &instruction.op {
                Op::Control(ControlOp::Branch { target, .. }) => assert!(*target <= length),
                Op::Control(ControlOp::BranchIndexed { targets, .. }) => {
                    assert!(targets.iter().all(|target| *target <= length))
                }
                _ => {}
            }
        }
        assert!(module.parameter_bytes(function) < 1 << 16);
    }
}

fn check_errors(errors: &Errors, text: &str) {
    let count = errors.iter().count();
    assert!((1..=Errors::LIMIT).contains(&count));
    for error in errors.iter() {
        let (start, end) = (error.span.start as usize, error.span.end as usize);
        assert!(start <= end && end <= text.len() && text.is_char_boundary(start) && text.is_char_boundary(end));
    }
    let printed = errors.to_string();
    assert!(printed.lines().all(|line| line.chars().count() < 1000), "a line that nobody reads");
    assert!(printed.lines().count() < 10 * count, "more lines than anybody reads");
}

/// The same for bytes. A text is UTF-8; rejecting other bytes is up to the caller of `ptx`.
pub fn check_bytes(bytes: &[u8]) {
    check(&String::from_utf8_lossy(bytes));
}
