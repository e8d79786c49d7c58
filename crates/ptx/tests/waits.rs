//! Which kernels may begin before the grids before them have ended, because they wait for them by
//! themselves.

fn may_begin_early(body: &str) -> bool {
    let text = format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.func f() {{ ret; }}\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %a<3>; .reg .b32 %r<4>; .reg .pred %p;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse("k.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let (_, kernel) = module.kernels().next().expect("a kernel");
    kernel.may_begin_early()
}

#[test]
fn only_registers_and_parameters_come_before_the_wait() {
    assert!(may_begin_early("griddepcontrol.wait;"));
    assert!(may_begin_early(
        "ld.param.b64 %a1, [p]; cvta.to.global.u64 %a1, %a1; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2;\n\
         cvt.u64.u32 %a2, %r1; add.s64 %a1, %a1, %a2; griddepcontrol.wait; ld.global.b32 %r2, [%a1];"
    ));
}

#[test]
fn each_path_has_its_own_wait() {
    let paths = |one: &str, other: &str| {
        format!("ld.param.b64 %a1, [p]; setp.eq.u32 %p, %r1, 0; @%p bra other; {one} ret; other: {other} ret;")
    };
    let waits = "griddepcontrol.wait; ld.global.b32 %r2, [%a1];";
    assert!(may_begin_early(&paths(waits, waits)));
    assert!(may_begin_early("again: setp.eq.u32 %p, %r1, 0; @%p bra again; griddepcontrol.wait;"));
    for (one, other) in [("", waits), (waits, ""), ("ld.global.b32 %r2, [%a1];", waits), (waits, "bra done; done:")] {
        let body = paths(one, other);
        assert!(!may_begin_early(&body), "{body}");
    }
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
        assert!(!may_begin_early(body), "{body}");
    }
}

#[test]
fn loads_of_what_counts_as_constant_are_not_ordered_by_the_wait() {
    for load in ["ld.global.nc.b32", "ldu.global.b32", "@%p ld.global.nc.b32"] {
        assert!(!may_begin_early(&format!("ld.param.b64 %a1, [p]; griddepcontrol.wait; {load} %r1, [%a1];")), "{load}");
    }
    for reads in ["tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%a1, {%r1}];", "call f, ();"] {
        assert!(!may_begin_early(&format!("griddepcontrol.wait; {reads}")), "{reads}");
    }
    assert!(may_begin_early("ld.param.b64 %a1, [p]; griddepcontrol.wait; ld.global.ca.b32 %r1, [%a1];"));
}
