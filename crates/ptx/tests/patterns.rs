//! One long file from LLVM: the counts of its declarations and instructions, and samples of what
//! they become.

use ptx::{ComputeOp, ControlOp, Module, Op, Space, Special};

fn module() -> Module {
    let text = include_str!("data/patterns.ptx");
    ptx::parse("patterns.ptx", text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_kernel_is_there_with_all_of_its_instructions() {
    let module = module();
    let text = &module.text;
    assert_eq!((module.version, module.target), ((7, 8), 90));
    assert_eq!(module.kernels().count(), text.matches(".visible .entry").count());
    // Each semicolon outside comments ends a declaration, which starts with a dot, or an
    // instruction.
    let code: String = text.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect();
    let last_line = |statement: &str| statement.trim().lines().last().unwrap_or_default().trim().to_owned();
    let statements = code.split_inclusive(';').filter(|statement| statement.ends_with(';')).map(last_line);
    let written = statements.filter(|statement| !statement.starts_with('.')).count();
    let read: usize = module.functions.iter().map(|(_, function)| function.body.as_ref().map_or(0, Vec::len)).sum();
    assert_eq!(read, written);
}

#[test]
fn an_instruction_knows_its_line_and_its_operands() {
    let module = module();
    let kernel = &module.functions[module.function("g_aos12").expect("the kernel is there")];
    let body = kernel.body.as_ref().expect("a kernel has a body");
    let first = &body[0];
    assert_eq!(
        &module.text[first.span.start as usize..first.span.end as usize],
        "ld.param.b64 \t%rd3, [g_aos12_param_0];"
    );
    assert_eq!(module.line_column(first.span.start), (32, 2));
    assert!(matches!(body[0].op, Op::Load { space: Space::Parameter, .. }));
    let reads_thread = |op: &Op| {
        matches!(
            op,
            Op::Compute(ComputeOp::Move { src: ptx::Operand::Special(Special::ThreadIndex(ptx::Axis::X)), .. })
        )
    };
    assert!(body.iter().any(|instruction| reads_thread(&instruction.op)));
    let Some(Op::Control(ControlOp::Branch { target, .. })) =
        body.iter().map(|item| &item.op).find(|op| matches!(op, Op::Control(ControlOp::Branch { .. })))
    else {
        panic!("the kernel branches")
    };
    assert!(matches!(
        body[*target as usize].op,
        Op::Compute(ComputeOp::Binary { op: ptx::BinaryOp::MultiplyWide, .. })
    ));
    assert_eq!(module.parameter_bytes(kernel), 20);
}
