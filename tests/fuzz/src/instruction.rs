//! The check of the target `instruction`: instructions from the tests' texts, with other modifiers,
//! types and operands. Those that `ptx` still accepts run on the simulator. The crate's table of
//! targets calls it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use simt::tensors::{TENSOR_MAP_BYTES, TensorElement, TensorMap};
use simt::{Launch, Memory, Program};

use crate::text;

/// Texts with every instruction. Appending is harmless; another order would change the meaning of
/// the checked-in inputs.
const BASES: [&str; 15] = [
    include_str!("../../../crates/ptx/tests/data/instructions.ptx"),
    include_str!("../../../crates/simt/tests/filetests/bits.ptx"),
    include_str!("../../../crates/simt/tests/filetests/integer.ptx"),
    include_str!("../../../crates/simt/tests/filetests/float.ptx"),
    include_str!("../../../crates/simt/tests/filetests/convert.ptx"),
    include_str!("../../../crates/simt/tests/filetests/compare.ptx"),
    include_str!("../../../crates/simt/tests/filetests/memory.ptx"),
    include_str!("../../../crates/simt/tests/filetests/warps.ptx"),
    include_str!("../../../crates/simt/tests/filetests/calls.ptx"),
    include_str!("../../../crates/simt/tests/filetests/divergence.ptx"),
    include_str!("../../../crates/simt/tests/filetests/barriers.ptx"),
    include_str!("../../../crates/simt/tests/filetests/initializers.ptx"),
    include_str!("../../../crates/simt/tests/filetests/tensors.ptx"),
    include_str!("../../../crates/simt/tests/filetests/tensor_stores.ptx"),
    include_str!("../../../crates/simt/tests/filetests/tensor_maps.ptx"),
];

/// A text split into functions, as lines, each with the text around it.
struct Base {
    header: String,
    functions: Vec<Vec<String>>,
}

/// The parts from which instructions are assembled.
struct Vocabulary {
    modifiers: Vec<String>,
    operands: Vec<String>,
}

static PARTS: LazyLock<(Vec<Base>, Vocabulary)> = LazyLock::new(|| {
    let bases: Vec<_> = BASES.iter().map(|text| Base::new(text)).collect();
    let (mut modifiers, mut operands) = (BTreeSet::new(), BTreeSet::new());
    for line in bases.iter().flat_map(|base| base.functions.iter().flatten()) {
        if let Some(instruction) = Instruction::of(line) {
            modifiers.extend(instruction.modifiers);
            operands.extend(instruction.operands);
        }
    }
    let strings = |set: BTreeSet<String>| set.into_iter().collect();
    (bases, Vocabulary { modifiers: strings(modifiers), operands: strings(operands) })
});

impl Base {
    fn new(text: &str) -> Self {
        // Functions end with a brace on a line of its own; the text before the first one is the
        // header.
        let lines: Vec<String> = text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned()).collect();
        let is_start = |line: &String| line.contains(".entry") || line.contains(".func");
        let first = lines.iter().position(is_start).unwrap_or(lines.len());
        let header = lines[..first].join("\n");
        let functions = lines[first..].split_inclusive(|line| line.starts_with('}')).map(<[String]>::to_vec).collect();
        Self { header, functions }
    }
}

/// An instruction split into its parts.
struct Instruction {
    /// The guard and the opcode.
    start: String,
    modifiers: Vec<String>,
    operands: Vec<String>,
}

impl Instruction {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim().strip_suffix(';')?;
        let (guard, rest) = match line.split_once(' ') {
            Some((guard, rest)) if guard.starts_with('@') => (guard, rest),
            _ => ("", line),
        };
        let (opcode, operands) = rest.trim().split_once([' ', '\t']).unwrap_or((rest.trim(), ""));
        let mut parts = opcode.split('.');
        let name =
            parts.next().filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        Some(Self {
            start: format!("{guard} {name}"),
            modifiers: parts.map(str::to_owned).collect(),
            operands: split_operands(operands),
        })
    }

    fn text(&self) -> String {
        let modifiers: String = self.modifiers.iter().map(|modifier| format!(".{modifier}")).collect();
        format!("\t{}{modifiers} {};", self.start, self.operands.join(", "))
    }

    fn change(&mut self, bytes: &mut Unstructured<'_>, vocabulary: &Vocabulary) -> Result<()> {
        let (list, words) = match bytes.arbitrary()? {
            true => (&mut self.modifiers, &vocabulary.modifiers),
            false => (&mut self.operands, &vocabulary.operands),
        };
        let word = bytes.choose(words)?.clone();
        let place = bytes.int_in_range(0..=list.len())?;
        match bytes.int_in_range(0..=3)? {
            0 | 1 if place < list.len() => list[place] = word,
            2 if place < list.len() => drop(list.remove(place)),
            _ => list.insert(place, word),
        }
        Ok(())
    }
}

/// Operands are separated by commas outside of brackets.
fn split_operands(text: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = text.split(|character| {
        match character {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A function with up to four instructions changed, in a module with the declarations before the
/// first function of its text.
///
/// # Errors
///
/// Those of `arbitrary`.
pub fn generate(bytes: &mut Unstructured<'_>) -> Result<String> {
    let (bases, vocabulary) = &*PARTS;
    let base = bytes.choose(bases)?;
    let mut functions = base.functions.clone();
    let function = bytes.choose_index(functions.len())?;
    for _ in 0..bytes.int_in_range(1..=4)? {
        let lines = &mut functions[function];
        let line = bytes.choose_index(lines.len())?;
        if let Some(mut instruction) = Instruction::of(&lines[line]) {
            for _ in 0..bytes.int_in_range(1..=3)? {
                instruction.change(bytes, vocabulary)?;
            }
            lines[line] = instruction.text();
        }
    }
    // The other functions are needed only where they may be called.
    let calls = functions[function].iter().any(|line| line.contains("call") || line.contains(".func"));
    let body = if calls { functions.concat() } else { functions.swap_remove(function) };
    Ok(format!("{}\n{}\n", base.header, body.join("\n")))
}

/// Parses the text, and launches each of its kernels on a few warps.
///
/// # Panics
///
/// If anything panics. Whether a launch ends well does not matter; that it ends does.
pub fn check(text: &str) {
    let Some(module) = text::check(text) else { return };
    let mut memory = Memory::new(1 << 22);
    let Ok(program) = Program::load(&module, &mut memory) else { return };
    let Ok(buffer) = memory.allocate(4096) else { return };
    let Ok(map) = TensorMap::tiled(TensorElement::U32, buffer, &[32, 8], &[8, 4]).encode() else { return };
    for kernel in program.kernels() {
        let arguments: Vec<Vec<u8>> = kernel
            .parameters
            .iter()
            .map(|&(size, _)| match size == TENSOR_MAP_BYTES as u64 {
                true => map.to_vec(),
                false => (0..size.min(1 << 16)).map(|byte| buffer.to_le_bytes()[byte as usize % 8]).collect(),
            })
            .collect();
        let launch = Launch {
            kernel: &kernel.name,
            grid: [2, 1, 1],
            block: [45, 1, 1],
            arguments: &arguments.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            step_limit: 4000,
            threads: Some(1),
            ..Launch::default()
        };
        if let Err(error) = program.launch(&memory, &launch) {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_cut_where_they_should_be() {
        let (bases, vocabulary) = &*PARTS;
        let instructions =
            bases.iter().flat_map(|base| base.functions.iter().flatten()).filter_map(|line| Instruction::of(line));
        assert!(instructions.count() > 3000);
        assert!(vocabulary.modifiers.len() > 100, "{}", vocabulary.modifiers.len());
        assert!(vocabulary.operands.len() > 300, "{}", vocabulary.operands.len());
        assert_eq!(split_operands("{a, b}, [c, {d, e}], (f, g)"), ["{a, b}", "[c, {d, e}]", "(f, g)"]);
        let instruction = Instruction::of("  @!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];").unwrap();
        assert_eq!(instruction.text(), "\t@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];");
    }
}
