//! A program with `cudarc`: PTX, launches, a graph, and a kernel with a race.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

const PTX: &str = r#"
.version 7.8
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 by, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x]; ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd3], %f3;
done:
    ret;
}
.visible .entry race(.param .u64 x) {
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    // All accesses are by one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let module = context.load_module(Ptx::from_src(PTX))?;
    let scale = module.load_function("scale")?;
    let mut x = stream.clone_htod(&vec![1.5f32; 1000])?;
    let (by, count) = (2.0f32, 1000u32);
    unsafe { stream.launch_builder(&scale).arg(&mut x).arg(&by).arg(&count).launch(LaunchConfig::for_num_elems(count))? };
    report("launch", stream.clone_dtoh(&x)? == vec![3.0; 1000]);

    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    unsafe { stream.launch_builder(&scale).arg(&mut x).arg(&by).arg(&count).launch(LaunchConfig::for_num_elems(count))? };
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0))?.ok_or("no graph")?;
    for _ in 0..2 {
        graph.launch()?;
    }
    report("graph", stream.clone_dtoh(&x)? == vec![12.0; 1000]);

    if std::env::args().any(|argument| argument == "race") {
        let race = module.load_function("race")?;
        unsafe { stream.launch_builder(&race).arg(&mut x).launch(LaunchConfig::for_num_elems(64))? };
        stream.synchronize()?;
    }
    Ok(())
}

fn report(name: &str, is_right: bool) {
    println!("{} {name}", if is_right { "ok  " } else { "FAIL" });
}
