//! Copies and fills: between the host, the device, and arrays.

use std::ffi::{c_int, c_uint};

use crate::boundary::{Done, In, Status, driver};
use crate::objects::Handle;
use crate::places::Place;
use crate::state::{State, settled, working};

/// Memory to fill: rows of elements.
pub struct Range {
    /// Bytes of an element.
    pub each: usize,
    /// Elements of a row.
    pub width: usize,
    pub rows: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
}

/// Fills rows with the lowest bytes of a value.
pub fn fill(to: u64, range: Range, value: u32) -> Done {
    let mut state = working()?;
    let Range { each, width, rows, pitch } = range;
    let bytes = width.checked_mul(each).ok_or(Status::INVALID_VALUE)?;
    if bytes == 0 || rows == 0 {
        return Ok(());
    }
    // All rows are in one allocation, or in a variable of a module.
    let last = pitch.checked_mul(rows - 1).and_then(|last| to.checked_add(last as u64)?.checked_add(bytes as u64));
    let end = last.ok_or(Status::INVALID_VALUE)?;
    let span = state.span(to).filter(|span| end - span.address <= span.bytes);
    span.ok_or(Status::INVALID_VALUE)?;
    let pattern = &value.to_le_bytes()[..each];
    if pattern.iter().all(|&byte| byte == pattern[0]) && matches!(Place::of(&state, to), Place::Device(_)) {
        for index in 0..rows {
            let at = to + (index * pitch) as u64;
            state.memory.fill(at, bytes as u64, pattern[0]).map_err(|_| Status::INVALID_VALUE)?;
        }
        return Ok(());
    }
    let row = pattern.repeat(width);
    for index in 0..rows {
        Place::of(&state, to + (index * pitch) as u64).store(&mut state, &row)?;
    }
    Ok(())
}

/// Copies bytes. `to_device` and `from_device` say which addresses must not be just any of the
/// host's.
fn copy(to: u64, from: u64, bytes: usize, to_device: bool, from_device: bool) -> Done {
    let mut state = working()?;
    if bytes == 0 {
        return Ok(());
    }
    let (source, target) = (Place::of(&state, from), Place::of(&state, to));
    let wild = |place: Place, address: u64| matches!(place, Place::Host(_)) && state.allocation(address).is_none();
    if (from_device && wild(source, from)) || (to_device && wild(target, to)) {
        return Err(Status::INVALID_VALUE);
    }
    source.transfer(&mut state, target, bytes)
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: c_uint,
    host: u64,
    device: u64,
    array: Handle,
    reserved: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    from: Side3D,
    to: Side3D,
    width: usize,
    height: usize,
    depth: usize,
}

/// One side of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side2D {
    x: usize,
    y: usize,
    kind: c_uint,
    host: u64,
    device: u64,
    array: Handle,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    from: Side2D,
    to: Side2D,
    width: usize,
    height: usize,
}

impl Side2D {
    fn in_3d(self, width: usize) -> Side3D {
        let Self { x, y, kind, host, device, array, pitch } = self;
        let pitch = if pitch == 0 { width } else { pitch };
        Side3D { x, y, z: 0, level: 0, kind, host, device, array, reserved: 0, pitch, height: 0 }
    }
}

impl Side3D {
    fn is_array(&self) -> bool {
        self.kind == 3
    }

    /// The offset of a row.
    fn offset(&self, row: usize, slice: usize) -> Done<usize> {
        let row = self.z.checked_add(slice).and_then(|slice| slice.checked_mul(self.height)).and_then(|first| {
            first.checked_add(self.y)?.checked_add(row)?.checked_mul(self.pitch)?.checked_add(self.x)
        });
        row.ok_or(Status::INVALID_VALUE)
    }

    /// Fails if a box of this size is not within the limits.
    fn check(&self, size: [usize; 3], limits: [usize; 3]) -> Done {
        let ends = [self.x, self.y, self.z].into_iter().zip(size).map(|(start, size)| start.checked_add(size));
        let fits = ends.zip(limits).all(|(end, limit)| end.is_some_and(|end| end <= limit));
        if fits { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// Where a row is that is not an array's.
    fn place(&self, state: &State, offset: usize) -> Done<Place> {
        let at = |base: u64| base.checked_add(offset as u64).filter(|_| base != 0).ok_or(Status::INVALID_VALUE);
        match self.kind {
            1 => Ok(Place::Host(at(self.host)?)),
            2 | 4 => Ok(Place::of(state, at(self.device)?)),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// With the pitch and height of the array, and its texels; fails if a box of this size is not all
    /// in it.
    fn texels(&mut self, state: &State, size: [usize; 3]) -> Done<Vec<u8>> {
        let array = state.arrays.get(&self.array).ok_or(Status::INVALID_HANDLE)?;
        if self.level != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let [width, height, depth] = array.extents();
        self.pitch = width * array.shape.format.bytes() as usize;

        self.height = height.max(1);
        self.check(size, [self.pitch, self.height, depth.max(1)])?;
        let mut texels = vec![0; self.pitch * self.height * depth.max(1)];
        state.memory.read_array(array.handle, array.level, &mut texels).map_err(|_| Status::INVALID_VALUE)?;
        Ok(texels)
    }
}

fn copy_3d(request: &Copy3D) -> Done {
    let mut state = working()?;
    let Copy3D { mut from, mut to, width, height, depth } = *request;
    let size = [width, height, depth];
    let source = if from.is_array() { Some(from.texels(&state, size)?) } else { None };
    let mut target = if to.is_array() { Some(to.texels(&state, size)?) } else { None };
    for side in [&from, &to] {
        // Rows of linear memory must not overlap; a single row needs no pitch.
        if !side.is_array() && (height > 1 || depth > 1) {
            side.check(size, [side.pitch, usize::MAX, usize::MAX])?;
        }
    }
    if width as u64 > state.memory.limit() {
        return Err(Status::INVALID_VALUE);
    }
    let mut buffer = vec![0; width];
    for slice in 0..depth.max(1) {
        for row in 0..height.max(1) {
            let offset = from.offset(row, slice)?;
            match &source {
                Some(texels) => {
                    buffer.copy_from_slice(
                        texels.get(offset..offset.saturating_add(width)).ok_or(Status::INVALID_VALUE)?,
                    );
                }
                None => {
                    from.place(&state, offset)?.load(&state, &mut buffer)?;
                }
            }
            let offset = to.offset(row, slice)?;
            match &mut target {
                Some(texels) => {
                    texels
                        .get_mut(offset..offset.saturating_add(width))
                        .ok_or(Status::INVALID_VALUE)?
                        .copy_from_slice(&buffer);
                }
                None => {
                    to.place(&state, offset)?.store(&mut state, &buffer)?;
                }
            }
        }
    }
    if let Some(texels) = target {
        let array = *state.arrays.get(&to.array).ok_or(Status::INVALID_HANDLE)?;
        state.memory.write_array(array.handle, array.level, &texels).map_err(|_| Status::INVALID_VALUE)?;
    }
    Ok(())
}

/// One row of an array, from or to linear memory (an address with its kind: 1 the host, 4 either).
fn copy_row(array: Handle, offset: usize, address: u64, kind: c_uint, bytes: usize, to_array: bool) -> Done {
    let row = Side3D {
        x: offset,
        y: 0,
        z: 0,
        level: 0,
        kind: 3,
        host: 0,
        device: 0,
        array,
        reserved: 0,
        pitch: 0,
        height: 0,
    };
    let linear = Side3D { x: 0, kind, host: address, device: address, pitch: bytes, ..row };
    let (from, to) = if to_array { (linear, row) } else { (row, linear) };
    copy_3d(&Copy3D { from, to, width: bytes, height: 1, depth: 1 })
}

fn copy_2d(request: In<Copy2D>) -> Done {
    let Copy2D { from, to, width, height } = request.get()?;
    copy_3d(&Copy3D { from: from.in_3d(width), to: to.in_3d(width), width, height, depth: 1 })
}

driver! {
    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(to, from, bytes, false, false)
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, false, false)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(to, from, bytes, true, false)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, true, false)
    }

    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(to, from, bytes, false, true)
    }

    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, false, true)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        settled()?;
        copy(to, from, bytes, true, true)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        copy(to, from, bytes, true, true)
    }

    fn cuMemcpyPeer(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize) {
        settled()?;
        copy(to, from, bytes, true, true)
    }

    fn cuMemcpyPeerAsync(to: u64, to_context: Handle, from: u64, from_context: Handle, bytes: usize, stream: Handle) {
        copy(to, from, bytes, true, true)
    }

    fn cuMemcpy2D_v2(request: In<Copy2D>) {
        settled()?;
        copy_2d(request)
    }

    fn cuMemcpy2DUnaligned_v2(request: In<Copy2D>) {
        settled()?;
        copy_2d(request)
    }

    fn cuMemcpy2DAsync_v2(request: In<Copy2D>, stream: Handle) {
        copy_2d(request)
    }

    fn cuMemcpy3D_v2(request: In<Copy3D>) {
        settled()?;
        copy_3d(&request.get()?)
    }

    fn cuMemcpy3DAsync_v2(request: In<Copy3D>, stream: Handle) {
        copy_3d(&request.get()?)
    }

    fn cuMemcpyAtoH_v2(to: u64, array: Handle, offset: usize, bytes: usize) {
        settled()?;
        copy_row(array, offset, to, 1, bytes, false)
    }

    fn cuMemcpyHtoA_v2(array: Handle, offset: usize, from: u64, bytes: usize) {
        settled()?;
        copy_row(array, offset, from, 1, bytes, true)
    }

    fn cuMemcpyAtoD_v2(to: u64, array: Handle, offset: usize, bytes: usize) {
        settled()?;
        copy_row(array, offset, to, 4, bytes, false)
    }

    fn cuMemcpyDtoA_v2(array: Handle, offset: usize, from: u64, bytes: usize) {
        settled()?;
        copy_row(array, offset, from, 4, bytes, true)
    }

    fn cuMemcpyAtoHAsync_v2(to: u64, array: Handle, offset: usize, bytes: usize, stream: Handle) {
        copy_row(array, offset, to, 1, bytes, false)
    }

    fn cuMemcpyHtoAAsync_v2(array: Handle, offset: usize, from: u64, bytes: usize, stream: Handle) {
        copy_row(array, offset, from, 1, bytes, true)
    }

    fn cuFlushGPUDirectRDMAWrites(target: c_int, scope: c_int) {
        Ok(())
    }
}
