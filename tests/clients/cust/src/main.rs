//! A program with `cust`: device buffers, unified memory, pinned memory, streams, events,
//! globals, occupancy, and a kernel that faults.
use cust::context::legacy::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::*;
use cust::prelude::*;

const PTX: &str = r#"
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .f32 factor = 0f40000000;
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [factor];
    fma.rn.f32 %f4, %f1, %f3, %f2;
    st.global.f32 [%rd5], %f4;
done:
    ret;
}
.visible .entry empty() { ret; }
"#;

fn run(name: &str, body: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>) {
    match body() {
        Ok(()) => println!("ok   {name}"),
        Err(error) => println!("FAIL {name}: {error}"),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    cust_raw::load().map_err(|error| format!("{error}"))?;
    let _context = cust::quick_init()?;
    let device = Device::get_device(0)?;
    println!("{} {} MiB", device.name()?, device.total_memory()? >> 20);
    let module = Module::from_ptx(PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let axpy = module.get_function("axpy")?;
    run("device buffers", || {
        let x = vec![1.0f32; 1000].as_slice().as_dbuf()?;
        let y = vec![0.5f32; 1000].as_slice().as_dbuf()?;
        unsafe { launch!(axpy<<<4, 256, 0, stream>>>(x.as_device_ptr(), y.as_device_ptr(), 1000u32))? };
        stream.synchronize()?;
        assert!(y.as_host_vec()?.iter().all(|&value| value == 2.5));
        Ok(())
    });
    run("unified memory", || {
        let mut x = UnifiedBuffer::new(&3.0f32, 100)?;
        let mut y = UnifiedBuffer::new(&1.0f32, 100)?;
        unsafe { launch!(axpy<<<1, 128, 0, stream>>>(x.as_unified_ptr(), y.as_unified_ptr(), 100u32))? };
        stream.synchronize()?;
        assert!(y.iter().all(|&value| value == 7.0));
        y[0] = 0.0;
        Ok(())
    });
    run("pinned memory", || {
        let pinned = unsafe { LockedBuffer::<f32>::uninitialized(64)? };
        drop(pinned);
        let pinned = LockedBuffer::new(&2.0f32, 64)?;
        let mut buffer = unsafe { DeviceBuffer::<f32>::uninitialized(64)? };
        unsafe { buffer.async_copy_from(&pinned, &stream)? };
        stream.synchronize()?;
        assert_eq!(buffer.as_host_vec()?[63], 2.0);
        Ok(())
    });
    run("globals", || {
        let name = std::ffi::CString::new("factor")?;
        let mut factor = module.get_global::<f32>(&name)?;
        factor.copy_from(&10.0f32)?;
        let x = vec![1.0f32; 32].as_slice().as_dbuf()?;
        let y = vec![0.0f32; 32].as_slice().as_dbuf()?;
        unsafe { launch!(axpy<<<1, 32, 0, stream>>>(x.as_device_ptr(), y.as_device_ptr(), 32u32))? };
        stream.synchronize()?;
        assert_eq!(y.as_host_vec()?, vec![10.0; 32]);
        Ok(())
    });
    run("events", || {
        let (from, until) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
        let empty = module.get_function("empty")?;
        from.record(&stream)?;
        unsafe { launch!(empty<<<1, 32, 0, stream>>>())? };
        until.record(&stream)?;
        until.synchronize()?;
        println!("     an empty launch: {} us", until.elapsed_time_f32(&from)? * 1000.0);
        Ok(())
    });
    run("occupancy", || {
        let blocks = axpy.max_active_blocks_per_multiprocessor(cust::function::BlockSize::x(256), 0)?;
        assert!(blocks > 0);
        let (grid, block) = axpy.suggested_launch_configuration(0, cust::function::BlockSize::x(0))?;
        println!("     {blocks} blocks; {grid} x {block}");
        Ok(())
    });
    run("a fault", || {
        let x = vec![1.0f32; 10].as_slice().as_dbuf()?;
        unsafe {
            let result = launch!(axpy<<<1, 32, 0, stream>>>(x.as_device_ptr(), x.as_device_ptr(), 32u32));
            let error = result.err().or(stream.synchronize().err()).ok_or("no error")?;
            println!("     {error:?}");
        }
        Ok(())
    });
    let _ = CurrentContext::get_device();
    Ok(())
}
