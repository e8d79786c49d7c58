//! Whole files, as LLVM, nvcc and people write them: what the parser makes of those in
//! `tests/data`.

use ptx::{Callee, ControlOp, Linkage, Location, Module, Op, Space, Symbol};
use std::collections::{BTreeSet, HashSet};

fn parse(name: &str, text: &str) -> Module {
    ptx::parse(name, text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn instructions() -> Module {
    parse("instructions.ptx", include_str!("data/instructions.ptx"))
}

fn body<'m>(module: &'m Module, name: &str) -> &'m [ptx::Instruction] {
    let function = module.function(name).unwrap_or_else(|| panic!("{name} is there"));
    module.functions[function].body.as_deref().unwrap_or_else(|| panic!("{name} has a body"))
}

/// The text of an instruction.
pub(super) fn text<'m>(module: &'m Module, instruction: &ptx::Instruction) -> &'m str {
    &module.text[instruction.span.start as usize..instruction.span.end as usize]
}

/// The variants of [`Op`] and its families, by what declares them.
fn variants() -> BTreeSet<String> {
    let files = [
        include_str!("../src/ir/instruction.rs"),
        include_str!("../src/ir/compute.rs"),
        include_str!("../src/ir/texture.rs"),
        include_str!("../src/ir/asynchronous.rs"),
        include_str!("../src/ir/matrix.rs"),
        include_str!("../src/ir/lanes.rs"),
    ];
    let mut variants = BTreeSet::new();
    for text in files.iter().flat_map(|file| file.split("pub enum ").skip(1)) {
        let (name, declared) = text.split_once(" {\n").expect("an enum has a body");
        let Some(family) = name.strip_suffix("Op") else { continue };
        let lines = declared.lines().take_while(|line| *line != "}").filter_map(|line| line.strip_prefix("    "));
        let names = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
        variants.extend(names.map(|line| format!("{family}({}", word(line))));
    }
    // Operations of no family are those of `Op` itself.
    let families: BTreeSet<String> = variants.iter().map(|variant| word(variant).to_owned()).collect();
    variants.retain(|variant| variant.strip_prefix('(').is_none_or(|own| !families.contains(own)));
    variants
}

fn word(text: &str) -> &str {
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// The variant of an operation, after its family if it has one.
pub(super) fn variant(op: &Op) -> (String, String) {
    let debug = format!("{op:?}");
    let (first, rest) = debug.split_at(word(&debug).len());
    match rest.strip_prefix('(') {
        Some(inner) => (first.to_owned(), word(inner).to_owned()),
        None => (String::new(), first.to_owned()),
    }
}

#[test]
fn every_operation_has_a_spelling() {
    let modules = [instructions(), parse("instructions_100.ptx", include_str!("data/instructions_100.ptx"))];
    let functions = modules.iter().flat_map(|module| module.functions.iter());
    let bodies = functions.filter_map(|(_, function)| function.body.as_ref());
    let spelt: BTreeSet<String> = bodies
        .flatten()
        .map(|instruction| variant(&instruction.op))
        .map(|(family, name)| format!("{family}({name}"))
        .collect();
    assert_eq!(variants().difference(&spelt).collect::<Vec<_>>(), [] as [&String; 0], "are not in instructions.ptx");
    assert_eq!(spelt.difference(&variants()).collect::<Vec<_>>(), [] as [&String; 0], "are not declared as read here");
}

#[test]
fn the_initial_values_of_variables_are_bytes_and_addresses() {
    let module = instructions();
    let variable = |name: &str| {
        let found = module.variables.iter().find(|(_, variable)| variable.name == name);
        found.unwrap_or_else(|| panic!("{name} is there"))
    };
    let words = |name: &str| {
        let bytes = &variable(name).1.initializer.bytes;
        bytes.chunks(4).map(|word| i32::from_le_bytes(word.try_into().expect("whole words"))).collect::<Vec<_>>()
    };
    assert_eq!(words("matrix"), [1, -2, 3, 4]);
    assert_eq!(variable("matrix").1.size, Some(24));
    assert_eq!(words("constants"), [255, 15, 5, 19]);
    assert_eq!(words("floats"), [1.5f32.to_bits() as i32, 0x4000_0000, (-2f32).to_bits() as i32]);
    assert_eq!(variable("doubles").1.size, Some(16));
    assert_eq!(variable("quad").1.size, Some(16));
    assert_eq!((variable("dynamic").1.size, variable("dynamic").1.linkage), (None, Linkage::Extern));

    let bytes = variable("bytes").0;
    let table = &variable("table").1.initializer.addresses;
    let seen: Vec<_> = table.iter().map(|item| (item.offset, item.width, item.generic, item.addend)).collect();
    assert_eq!(seen, [(0, 8, false, 0), (8, 8, true, 8), (24, 8, false, 4)]);
    assert!(table.iter().all(|item| item.symbol == Symbol::Variable(bytes)));

    let packed = &variable("packed").1.initializer;
    assert_eq!(packed.bytes, [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let seen: Vec<_> = packed.addresses.iter().map(|item| (item.offset, item.width, item.shift)).collect();
    assert_eq!(seen, (0..8u32).map(|byte| (u64::from(byte) + 1, 1, byte * 8)).collect::<Vec<_>>());
}

#[test]
fn branches_find_the_label_of_the_nearest_scope() {
    let module = instructions();
    let body = body(&module, "controls");
    let target = |index: usize| match &body[index].op {
        Op::Control(ControlOp::Branch { target, .. }) => text(&module, &body[*target as usize]).to_owned(),
        other => panic!("{other} is a branch"),
    };
    let branches: Vec<usize> =
        (0..body.len()).filter(|&index| matches!(body[index].op, Op::Control(ControlOp::Branch { .. }))).collect();
    let targets: Vec<String> = branches.into_iter().map(target).collect();
    assert_eq!(targets, ["mov.b32 extra, 3;", "add.s32 extra, extra, -1;", "setp.eq.s32 %p1, %r1, 77;", "exit;"]);
    let indexed = body.iter().find_map(|instruction| match &instruction.op {
        Op::Control(ControlOp::BranchIndexed { targets, .. }) => Some(targets.clone()),
        _ => None,
    });
    let indexed = indexed.expect("there is an indexed branch");
    let texts: Vec<_> = indexed.iter().map(|&at| text(&module, &body[at as usize])).collect();
    assert_eq!(texts, ["mov.b32 extra, 3;", "exit;"]);
}

#[test]
fn calls_know_their_candidates() {
    let module = instructions();
    let twice = module.function("twice").expect("twice is there");
    let callees: Vec<_> = body(&module, "controls")
        .iter()
        .filter_map(|instruction| match &instruction.op {
            Op::Control(ControlOp::Call { callee, .. }) => Some(callee.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(callees.len(), 5);
    assert_eq!(callees[0], Callee::Direct(twice));
    for callee in &callees[2..4] {
        assert!(matches!(callee, Callee::Indirect { candidates, .. } if candidates == &[twice]), "{callee:?}");
    }
    let stops = &module.functions[module.function("stops").expect("stops is there")];
    assert!(stops.no_return && !stops.is_kernel);
}

#[test]
fn an_alias_is_a_copy_of_its_function() {
    let text = ".version 7.8\n.target sm_75\n.func f();\n.func g(.param .u64 p) { .reg .b64 %rd; ld.param.u64 %rd, [p];\n\
        P: .callprototype _ ();\ncall %rd, P;\nret; }\n.func f() { ret; }\n.func h();\n.func i(.param .u64 p);\n\
        .alias h, f;\n.alias i, g;\n";
    let module = parse("alias.ptx", text);
    let handle = |name: &str| module.function(name).unwrap_or_else(|| panic!("{name} is there"));
    assert_eq!(body(&module, "h"), body(&module, "f"));
    assert_eq!(body(&module, "i"), body(&module, "g"));
    let Op::Control(ControlOp::Call { callee: Callee::Indirect { candidates, .. }, .. }) = &body(&module, "i")[1].op
    else {
        panic!("the second instruction is a call")
    };
    assert_eq!(candidates, &[handle("f"), handle("h")]);
}

#[test]
fn parameters_in_registers_are_loaded_at_entry_and_stored_at_each_return() {
    let module = instructions();
    let body = body(&module, "plain");
    let kinds: Vec<_> = body
        .iter()
        .map(|instruction| match &instruction.op {
            Op::Load { space: Space::Parameter, .. } => "load",
            Op::Store { space: Space::Parameter, .. } => "store",
            Op::Control(ControlOp::Return) => "return",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["load", "load", "other", "other", "store", "return", "other", "store"]);
    assert_eq!(body[4].guard, body[5].guard);
    assert!(body[5].guard.is_some() && body[7].guard.is_none());
}

#[test]
fn locations_follow_calls_outwards() {
    let module = instructions();
    let last = body(&module, "controls").last().and_then(|instruction| instruction.location).expect("there is a .loc");
    let chain: Vec<Location> = module.inline_chain(last).collect();
    assert_eq!(chain.iter().map(|location| (location.line, location.column)).collect::<Vec<_>>(), [(12, 5), (10, 3)]);
    assert_eq!(module.files[chain[0].file].path, "controls.rs");
    let kernel = &module.functions[module.function("controls").expect("the kernel is there")];
    assert_eq!((kernel.max_threads, kernel.min_blocks_per_multiprocessor), (Some([128, 2, 1]), Some(2)));
}

#[test]
fn parameters_that_are_addresses_say_so() {
    let text = ".version 7.8\n.target sm_75\n.visible .entry k(.param .u64 .ptr .align 16 a, .param .u64 .ptr .global b, \
                .param .u64 c) {\nret;\n}\n";
    let module = parse("k.ptx", text);
    let kernel = &module.functions[module.function("k").expect("the kernel is there")];
    let aligned = |&parameter: &_| module.variables[parameter].points_to.map(|pointee: ptx::Pointee| pointee.align);
    assert_eq!(kernel.parameters.iter().map(aligned).collect::<Vec<_>>(), [Some(16), Some(4), None]);
}

#[test]
fn a_location_may_name_a_file_that_is_declared_later() {
    let text = ".version 7.8\n.target sm_75\n.visible .entry k() {\n\
        .loc 2 7 1\n.loc 1 99 5, function_name $x, inlined_at 2 7 1\nret;\n}\n\
        .file 1 \"/rustc/abc/library/core/src/num/mod.rs\"\n.file 2 \"kernels/src/k.rs\"\n";
    let module = parse("k.ptx", text);
    let location = body(&module, "k")[0].location.expect("there is a .loc");
    let chain =
        module.inline_chain(location).map(|location| (module.files[location.file].path.as_str(), location.line));
    assert_eq!(chain.collect::<Vec<_>>(), [("/rustc/abc/library/core/src/num/mod.rs", 99), ("kernels/src/k.rs", 7)]);
}

#[test]
fn what_nvcc_writes_is_read() {
    let module = parse("nvcc.ptx", include_str!("data/nvcc.ptx"));
    let kernels: HashSet<_> = module.kernels().map(|(_, kernel)| kernel.name.as_str()).collect();
    assert_eq!(kernels, HashSet::from(["transpose_padded", "reduce", "calls", "many"]));
    let reduce = &module.functions[module.function("reduce").expect("the kernel is there")];
    assert_eq!((reduce.max_threads, reduce.min_blocks_per_multiprocessor), (Some([256, 1, 1]), Some(2)));
    let calls = &module.functions[module.function("calls").expect("the kernel is there")];
    // Of 8, 48, 8, 4 and 8 bytes: four bytes before the last one are padding.
    assert_eq!(module.parameter_bytes(calls), 80);
    // Every instruction of a kernel comes from a line of the CUDA source or of CUDA's own headers.
    for instruction in calls.body.iter().flatten() {
        if let Some(location) = instruction.location {
            let Location { file, line, .. } = module.locations[location];
            let path = module.files[file].path.as_str();
            assert!(path == "nvcc.cu" && line <= 100 || path.starts_with("cuda/include/"), "{path}:{line}");
        }
    }
}

#[test]
fn what_llvm_writes_seldom_is_read() {
    let module = parse("llvm.ptx", include_str!("data/llvm.ptx"));
    let variable = |name: &str| {
        let found = module.variables.iter().find(|(_, variable)| variable.name == name);
        &found.unwrap_or_else(|| panic!("{name} is there")).1.initializer
    };
    // A vtable names functions; a packed struct holds an address byte by byte.
    let method = module.function("method").expect("the function is there");
    let named: Vec<_> = variable("vtable").addresses.iter().map(|item| (item.offset, item.symbol)).collect();
    assert_eq!(named[1], (24, Symbol::Function(method)));
    assert_eq!(variable("packed").addresses.len(), 8);
    assert_eq!(variable("str").bytes, b"hello");
    assert_eq!(variable("doubles").bytes, 3.25f64.to_le_bytes());
    let kernel = body(&module, "k");
    let indirect = kernel.iter().find_map(|instruction| match &instruction.op {
        Op::Control(ControlOp::Call { callee: Callee::Indirect { candidates, .. }, .. }) => Some(candidates),
        _ => None,
    });
    assert_eq!(indirect, Some(&vec![method]));
    let switches = kernel.iter().filter_map(|instruction| match &instruction.op {
        Op::Control(ControlOp::BranchIndexed { targets, .. }) => Some(targets.len()),
        _ => None,
    });
    assert_eq!(switches.collect::<Vec<_>>(), [6]);
}
