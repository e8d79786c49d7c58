//! Which kernels wait for the grids before them before they access memory.

fn waits(body: &str) -> bool {
    let text = format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %a<3>; .reg .b32 %r<4>; .reg .pred %p;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse("k.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let (_, kernel) = module.kernels().next().expect("a kernel");
    kernel.waits_before_it_accesses_memory()
}

#[test]
fn only_registers_and_parameters_come_before_the_wait() {
    assert!(waits("griddepcontrol.wait;"));
    assert!(waits(
        "ld.param.b64 %a1, [p]; cvta.to.global.u64 %a1, %a1; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2;\n\
         cvt.u64.u32 %a2, %r1; add.s64 %a1, %a1, %a2; griddepcontrol.wait; ld.global.b32 %r2, [%a1];"
    ));
}

#[test]
fn memory_paths_and_guards_before_the_wait_count() {
    for body in [
        "",
        "griddepcontrol.launch_dependents;",
        "ld.param.b64 %a1, [p]; ld.global.b32 %r1, [%a1]; griddepcontrol.wait;",
        "ld.param.b64 %a1, [p]; st.global.b32 [%a1], 0; griddepcontrol.wait;",
        "setp.eq.u32 %p, %r1, 0; @%p bra away; griddepcontrol.wait; away:",
        "@%p griddepcontrol.wait;",
    ] {
        assert!(!waits(body), "{body}");
    }
}
