//! What PTX decodes to: the steps of every instruction that `ptx` pins, one snapshot for each
//! family.

use simt::{Memory, Program};

#[test]
fn instructions_become_steps() {
    for text in [
        include_str!("../../ptx/tests/data/instructions.ptx"),
        include_str!("../../ptx/tests/data/instructions_100.ptx"),
    ] {
        let module = ptx::parse("instructions.ptx", text).unwrap_or_else(|errors| panic!("{errors}"));
        let mut memory = Memory::new(1 << 30);
        let program = Program::load(&module, &mut memory).unwrap();
        for kernel in program.kernels() {
            insta::assert_snapshot!(kernel.name.as_str(), program.decoded(&kernel.name).unwrap());
        }
    }
}

#[test]
fn control_flow_becomes_steps() {
    let text = "
.version 7.8
.target sm_75
.address_size 64
.func (.param .u32 r) twice(.param .u32 a) {
    .reg .u32 %r;
    ld.param.u32 %r, [a];
    add.u32 %r, %r, %r;
    st.param.u32 [r], %r;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 n) {
    .reg .pred %p;
    .reg .u32 %r<4>;
    .reg .u64 %rd;
    ld.param.u64 %rd, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
again:
    setp.lt.u32 %p, %r2, %r1;
    @!%p bra done;
    call (%r3), twice, (%r2);
    st.global.u32 [%rd+8], %r3;
    add.u32 %r2, %r2, 1;
    bra again;
done:
    bar.sync 0;
    ret;
}";
    let module = ptx::parse("flow.ptx", text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::load(&module, &mut Memory::new(1 << 20)).unwrap();
    insta::assert_snapshot!("control_flow", program.decoded("k").unwrap());
    let error = program.decoded("other").unwrap_err().to_string();
    assert_eq!(error, "the module `flow.ptx` has no kernel `other`; it has `k`");
}
