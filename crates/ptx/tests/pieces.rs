//! Texts in pieces: a kernel that is parsed alone is as in the whole module.

use ptx::{Function, Module, Pieces, Symbol};
use std::mem::discriminant;

const SMALL: &str = r#".version 7.8 // .entry a() {
.target sm_75, debug /* .entry b() { */
.address_size 64
.file 1 "}.entry c(){"
.global .align 4 .b32 shared_by_all[2] = {1, {2}};
.func (.param .b32 r) twice(.param .b32 x);
.visible .entry k();
.visible
/* { */ .entry k()
.maxntid 32
.pragma "nounroll";
{
    .reg .b32 %r<2>;
    .pragma "a } string"; // a } comment
    { /* } */ mov.b32 %r1, 1; }
    ret;
}
.weak .entry l(.param .align 8 .b8 p[16]) { ret; } .global .b32 between; .entry m() { ret; }
.func (.param .b32 r) twice(.param .b32 x)
{
    { ret; }
}
.entry wrong() { frob; }
"#;

fn parse(text: &str) -> Module {
    ptx::parse("k.ptx", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn function<'m>(module: &'m Module, name: &str) -> &'m Function {
    &module.functions[module.function(name).unwrap_or_else(|| panic!("{name} is there"))]
}

/// What two functions of different modules have in common if they are the same: all but the
/// handles.
fn is_same(one: (&Module, &Function), other: (&Module, &Function)) -> bool {
    let of = |(module, function): (&Module, &Function)| {
        let body = function.body.iter().flatten().map(|instruction| {
            let chain = instruction.location.into_iter().flat_map(|location| module.inline_chain(location));
            let chain = chain.map(|place| (module.files[place.file].clone(), place.line, place.column));
            (instruction.span, discriminant(&instruction.op), instruction.guard.is_some(), chain.collect::<Vec<_>>())
        });
        let variables = function.parameters.iter().chain(&function.results).chain(&function.variables);
        let variables = variables.map(|&variable| module.variables[variable].clone()).collect::<Vec<_>>();
        (body.collect::<Vec<_>>(), variables, function.registers.clone(), function.linkage, function.max_threads)
    };
    of(one) == of(other)
}

#[test]
fn a_kernel_alone_is_as_in_the_whole_module() {
    for text in [
        include_str!("data/instructions.ptx"),
        include_str!("data/llvm.ptx"),
        include_str!("data/nvcc.ptx"),
        include_str!("data/patterns.ptx"),
    ] {
        let whole = parse(text);
        let pieces = Pieces::of("k.ptx", text);
        for (_, kernel) in whole.kernels() {
            let alone = pieces.parse(&[&kernel.name]).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(alone.kernels().count(), 1);
            let found = function(&alone, &kernel.name);
            assert!(is_same((&whole, kernel), (&alone, found)), "{}", kernel.name);
            assert_eq!(alone.text, whole.text);
            assert_eq!(alone.line_column(found.span.start), whole.line_column(kernel.span.start));
            for (_, function) in whole.functions.iter().filter(|(_, function)| !function.is_kernel) {
                assert!(is_same((&whole, function), (&alone, self::function(&alone, &function.name))));
            }
        }
    }
}

#[test]
fn comments_strings_and_braces_divide_nothing() {
    let pieces = Pieces::of("k.ptx", SMALL);
    let whole = parse(SMALL.split(".entry wrong").next().unwrap());
    for name in ["k", "l", "m"] {
        let alone = pieces.parse(&[name]).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(alone.kernels().map(|(_, kernel)| kernel.name.as_str()).collect::<Vec<_>>(), [name]);
        assert!(is_same((&whole, function(&whole, name)), (&alone, function(&alone, name))), "{name}");
        assert!(
            ["shared_by_all", "between"]
                .iter()
                .all(|name| { alone.variables.iter().any(|(_, variable)| variable.name == *name) })
        );
        assert!(function(&alone, "twice").body.is_some());
    }
    let two = pieces.parse(&["m", "k", "none"]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(two.kernels().count(), 2);
}

#[test]
fn only_what_is_parsed_is_wrong() {
    let errors = Pieces::of("k.ptx", SMALL).parse(&["l", "wrong"]).unwrap_err();
    assert_eq!(errors, ptx::parse("k.ptx", SMALL).unwrap_err());
    assert!(errors.to_string().starts_with("k.ptx:23:18: "), "{errors}");
    // Texts that end too early are divided somehow and refused.
    for end in 0..SMALL.len() {
        let text = &SMALL[..end];
        let _ = Pieces::of("k.ptx", text).parse(&["k", "l", "m"]);
    }
}

#[test]
fn functions_have_the_same_handles_with_any_kernel() {
    let text = ".version 7.8\n.target sm_75\n.address_size 64\n.entry a() { ret; }\n.func f() { ret; }\n.entry b() { ret; }\n\
        .func g() { ret; }\n.global .u64 table[2] = {f, g};\n";
    let pieces = Pieces::of("k.ptx", text);
    for kernels in [&[][..], &["a"], &["b"], &["b", "a"]] {
        let module = pieces.parse(kernels).unwrap_or_else(|errors| panic!("{errors}"));
        let table = &module.variables.iter().next().expect("the table is there").1.initializer.addresses;
        let named: Vec<_> = table.iter().map(|item| item.symbol).collect();
        assert_eq!(named, ["f", "g"].map(|name| Symbol::Function(module.function(name).unwrap())));
        assert_eq!(["f", "g"].map(|name| module.function(name).unwrap().index()), [0, 1]);
    }
}
