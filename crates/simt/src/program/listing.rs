//! Instructions as reports and traps show them: text, line, source position.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{Function, Handle, Location, Module};

use super::facts::facts;
use crate::error::span_text;
use crate::{InstructionInfo, SourceLine, SourcePosition};

/// What reports show of the instructions at these positions.
pub(super) fn places(module: &Module, positions: &[(Handle<Function>, u32)]) -> Arc<[InstructionInfo]> {
    let mut names: HashMap<Handle<Function>, Arc<str>> = HashMap::new();
    let mut files: HashMap<usize, Arc<str>> = HashMap::new();
    let mut list = Vec::with_capacity(positions.len());
    for &(handle, index) in positions {
        let function = &module.functions[handle];
        let Some(instruction) = function.body.as_ref().and_then(|body| body.get(index as usize)) else { continue };
        let source = instruction.location.and_then(|location| blamed(module, location));
        list.push(InstructionInfo {
            function: names.entry(handle).or_insert_with(|| function.name.as_str().into()).clone(),
            text: span_text(module, instruction.span).into(),
            ptx_line: module.line(instruction.span.start),
            source: source.map(|place| SourceLine {
                file: files
                    .entry(place.file.index())
                    .or_insert_with(|| module.files[place.file].path.as_str().into())
                    .clone(),
                line: place.line,
            }),
            class: facts(&instruction.op).class(instruction.guard.is_some()),
        });
    }
    list.into()
}

/// The innermost position with a line: code without a line in its function may still belong to the
/// line of an inlined call.
fn blamed(module: &Module, location: Handle<Location>) -> Option<Location> {
    // A chain has at most as many links as there are locations, unless the text makes it a cycle.
    module.inline_chain(location).take(module.locations.len()).find(|place| place.line > 0)
}

/// The source position of an instruction, then those of the calls that it was inlined through,
/// innermost first.
pub(crate) fn source(module: &Module, handle: Handle<Function>, index: u32) -> Vec<SourcePosition> {
    let body = module.functions[handle].body.as_deref().unwrap_or_default();
    let mut next = body.get(index as usize).and_then(|instruction| instruction.location);
    let mut positions = Vec::new();
    // A chain has at most as many links as there are locations, unless the text makes it a cycle.
    for _ in 0..module.locations.len() {
        let Some(location) = next else { break };
        let Location { file, line, column, inlined_at } = module.locations[location];
        if line > 0 {
            positions.push(SourcePosition { file: module.files[file].path.clone(), line, column });
        }
        next = inlined_at;
    }
    positions
}
