//! Copies and fills, as the API has them.

use std::ffi::{c_int, c_uint};

use crate::boundary::{Done, In, driver};
use crate::objects::{Handle, LEGACY};
use crate::queue::submit;
use crate::requests::{Bytes, Copy2D, Copy3D, Range, Side3D};
use crate::state::settled;
use crate::work::Work;

fn fill(stream: Handle, to: u64, range: Range, value: c_uint) -> Done {
    submit(stream, Work::Fill { to, range, value })
}

fn copy(stream: Handle, bytes: Bytes) -> Done {
    submit(stream, Work::Copy(bytes))
}

/// One row of an array, from or to linear memory (an address with its kind: 1 the host, 4 either).
fn copy_row(
    stream: Handle,
    array: Handle,
    offset: usize,
    address: u64,
    kind: c_uint,
    bytes: usize,
    to_array: bool,
) -> Done {
    let (row, linear) = (Side3D::row(array, offset), Side3D::linear(kind, address, bytes));
    let (from, to) = if to_array { (linear, row) } else { (row, linear) };
    submit(stream, Work::Copy3D(Copy3D { from, to, width: bytes, height: 1, depth: 1 }))
}

driver! {
    fn cuMemcpy [cuMemcpy_ptds] (to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(LEGACY, Bytes { to, from, bytes, to_device: false, from_device: false })
    }

    fn cuMemcpyAsync [cuMemcpyAsync_ptsz] (to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(stream, Bytes { to, from, bytes, to_device: false, from_device: false })
    }

    fn cuMemcpyHtoD_v2 [cuMemcpyHtoD_v2_ptds] (to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(LEGACY, Bytes { to, from, bytes, to_device: true, from_device: false })
    }

    fn cuMemcpyHtoDAsync_v2 [cuMemcpyHtoDAsync_v2_ptsz] (to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(stream, Bytes { to, from, bytes, to_device: true, from_device: false })
    }

    fn cuMemcpyDtoH_v2 [cuMemcpyDtoH_v2_ptds] (to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(LEGACY, Bytes { to, from, bytes, to_device: false, from_device: true })
    }

    fn cuMemcpyDtoHAsync_v2 [cuMemcpyDtoHAsync_v2_ptsz] (to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(stream, Bytes { to, from, bytes, to_device: false, from_device: true })
    }

    fn cuMemcpyDtoD_v2 [cuMemcpyDtoD_v2_ptds] (to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(LEGACY, Bytes { to, from, bytes, to_device: true, from_device: true })
    }

    fn cuMemcpyDtoDAsync_v2 [cuMemcpyDtoDAsync_v2_ptsz] (to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(stream, Bytes { to, from, bytes, to_device: true, from_device: true })
    }

    fn cuMemcpyPeer [cuMemcpyPeer_ptds] (to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize) {
        settled()?;
        copy(LEGACY, Bytes { to, from, bytes, to_device: true, from_device: true })
    }

    fn cuMemcpyPeerAsync [cuMemcpyPeerAsync_ptsz] (to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle) {
        copy(stream, Bytes { to, from, bytes, to_device: true, from_device: true })
    }

    fn cuMemcpy2D_v2 [cuMemcpy2D_v2_ptds] (request: In<Copy2D>) {
        settled()?;
        submit(LEGACY, Work::Copy3D(request.get()?.in_3d()))
    }

    fn cuMemcpy2DUnaligned_v2 [cuMemcpy2DUnaligned_v2_ptds] (request: In<Copy2D>) {
        settled()?;
        submit(LEGACY, Work::Copy3D(request.get()?.in_3d()))
    }

    fn cuMemcpy2DAsync_v2 [cuMemcpy2DAsync_v2_ptsz] (request: In<Copy2D>, stream: Handle) {
        submit(stream, Work::Copy3D(request.get()?.in_3d()))
    }

    fn cuMemcpy3D_v2 [cuMemcpy3D_v2_ptds] (request: In<Copy3D>) {
        settled()?;
        submit(LEGACY, Work::Copy3D(request.get()?))
    }

    fn cuMemcpy3DAsync_v2 [cuMemcpy3DAsync_v2_ptsz] (request: In<Copy3D>, stream: Handle) {
        submit(stream, Work::Copy3D(request.get()?))
    }

    fn cuMemcpyAtoH_v2 [cuMemcpyAtoH_v2_ptds] (to: u64, array: Handle, offset: usize, bytes: usize) {
        settled()?;
        copy_row(LEGACY, array, offset, to, 1, bytes, false)
    }

    fn cuMemcpyHtoA_v2 [cuMemcpyHtoA_v2_ptds] (array: Handle, offset: usize, from: u64, bytes: usize) {
        settled()?;
        copy_row(LEGACY, array, offset, from, 1, bytes, true)
    }

    fn cuMemcpyAtoD_v2 [cuMemcpyAtoD_v2_ptds] (to: u64, array: Handle, offset: usize, bytes: usize) {
        settled()?;
        copy_row(LEGACY, array, offset, to, 4, bytes, false)
    }

    fn cuMemcpyDtoA_v2 [cuMemcpyDtoA_v2_ptds] (array: Handle, offset: usize, from: u64, bytes: usize) {
        settled()?;
        copy_row(LEGACY, array, offset, from, 4, bytes, true)
    }

    fn cuMemcpyAtoHAsync_v2 [cuMemcpyAtoHAsync_v2_ptsz] (to: u64, array: Handle, offset: usize, bytes: usize, stream: Handle) {
        copy_row(stream, array, offset, to, 1, bytes, false)
    }

    fn cuMemcpyHtoAAsync_v2 [cuMemcpyHtoAAsync_v2_ptsz] (array: Handle, offset: usize, from: u64, bytes: usize, stream: Handle) {
        copy_row(stream, array, offset, from, 1, bytes, true)
    }

    fn cuFlushGPUDirectRDMAWrites(target: c_int, scope: c_int) {
        Ok(())
    }

    fn cuMemsetD8_v2 [cuMemsetD8_v2_ptds] (to: u64, value: u8, count: usize) {
        fill(LEGACY, to, Range { each: 1, width: count, rows: 1, pitch: 0 }, value.into())
    }

    fn cuMemsetD16_v2 [cuMemsetD16_v2_ptds] (to: u64, value: u16, count: usize) {
        fill(LEGACY, to, Range { each: 2, width: count, rows: 1, pitch: 0 }, value.into())
    }

    fn cuMemsetD32_v2 [cuMemsetD32_v2_ptds] (to: u64, value: c_uint, count: usize) {
        fill(LEGACY, to, Range { each: 4, width: count, rows: 1, pitch: 0 }, value)
    }

    fn cuMemsetD8Async [cuMemsetD8Async_ptsz] (to: u64, value: u8, count: usize, stream: Handle) {
        fill(stream, to, Range { each: 1, width: count, rows: 1, pitch: 0 }, value.into())
    }

    fn cuMemsetD16Async [cuMemsetD16Async_ptsz] (to: u64, value: u16, count: usize, stream: Handle) {
        fill(stream, to, Range { each: 2, width: count, rows: 1, pitch: 0 }, value.into())
    }

    fn cuMemsetD32Async [cuMemsetD32Async_ptsz] (to: u64, value: c_uint, count: usize, stream: Handle) {
        fill(stream, to, Range { each: 4, width: count, rows: 1, pitch: 0 }, value)
    }

    fn cuMemsetD2D8_v2 [cuMemsetD2D8_v2_ptds] (to: u64, pitch: usize, value: u8, width: usize, rows: usize) {
        fill(LEGACY, to, Range { each: 1, width, rows, pitch }, value.into())
    }

    fn cuMemsetD2D16_v2 [cuMemsetD2D16_v2_ptds] (to: u64, pitch: usize, value: u16, width: usize, rows: usize) {
        fill(LEGACY, to, Range { each: 2, width, rows, pitch }, value.into())
    }

    fn cuMemsetD2D32_v2 [cuMemsetD2D32_v2_ptds] (to: u64, pitch: usize, value: c_uint, width: usize, rows: usize) {
        fill(LEGACY, to, Range { each: 4, width, rows, pitch }, value)
    }

    fn cuMemsetD2D8Async [cuMemsetD2D8Async_ptsz] (to: u64, pitch: usize, value: u8, width: usize, rows: usize, stream: Handle) {
        fill(stream, to, Range { each: 1, width, rows, pitch }, value.into())
    }

    fn cuMemsetD2D16Async [cuMemsetD2D16Async_ptsz] (to: u64, pitch: usize, value: u16, width: usize, rows: usize, stream: Handle) {
        fill(stream, to, Range { each: 2, width, rows, pitch }, value.into())
    }

    fn cuMemsetD2D32Async [cuMemsetD2D32Async_ptsz] (to: u64, pitch: usize, value: c_uint, width: usize, rows: usize, stream: Handle) {
        fill(stream, to, Range { each: 4, width, rows, pitch }, value)
    }
}
