//! Markers of phases: calls of a function that nobody defines.
//!
//! `cuda_std::phases` calls `__coalesce_phase(tile)` where a phase begins. The calls are there for
//! the checks alone. They are removed before the optimiser runs, so the PTX is the same as without
//! them.

use super::error::RewriteError;
use super::lexer::tokens;

/// The function that a phase calls.
pub(crate) const PHASE: &str = "__coalesce_phase";

/// The module without the markers.
///
/// A use that is not a plain call is an error: the marker's address must not be taken.
pub(crate) fn without_phases(ir: &str) -> Result<String, RewriteError> {
    let mut out = String::with_capacity(ir.len());
    for (index, line) in ir.lines().enumerate() {
        if !line.contains(PHASE) || !names_marker(line) {
            out.push_str(line);
            out.push('\n');
        } else if !is_call(line) && !line.starts_with("declare ") {
            return Err(RewriteError::unexpected(index, line));
        }
    }
    Ok(out)
}

fn names_marker(line: &str) -> bool {
    tokens(line).any(|token| token.name() == Some(PHASE))
}

/// Whether the line is a call of the marker, which has no result.
fn is_call(line: &str) -> bool {
    let words = line.trim_start().trim_start_matches("tail ").trim_start_matches("notail ");
    let callee = tokens(line).find_map(|token| token.name());
    words.starts_with("call void @") && callee == Some(PHASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_the_declaration_go_and_the_rest_stays() {
        let ir = "define void @k() {\n  call void @__coalesce_phase(ptr @T) #3, !dbg !4\n  \
                  tail call void @__coalesce_phase(ptr null)\n  call void @barrier(), !dbg !5\n  ret void\n}\n\
                  declare void @__coalesce_phase(ptr) #1\n@c = constant [16 x i8] c\"__coalesce_phase\"\n";
        assert_eq!(
            without_phases(ir).unwrap(),
            "define void @k() {\n  call void @barrier(), !dbg !5\n  ret void\n}\n\
             @c = constant [16 x i8] c\"__coalesce_phase\"\n"
        );
    }

    #[test]
    fn a_marker_that_is_not_called_is_refused() {
        for line in [
            "  store ptr @__coalesce_phase, ptr %p",
            "  call void @run(ptr @__coalesce_phase)",
            "  %1 = call i32 @__coalesce_phase(ptr null)",
            "@f = constant ptr @__coalesce_phase",
        ] {
            assert!(without_phases(line).is_err(), "{line}");
        }
    }
}
