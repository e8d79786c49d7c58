//! How copies and fills are done: between the host, the device, and arrays.

use crate::boundary::{Done, Status};
use crate::places::Place;
use crate::requests::{Bytes, Copy3D, Range, Side3D};
use crate::state::State;

/// Fills rows with the lowest bytes of a value.
pub fn fill(state: &mut State, to: u64, range: Range, value: u32) -> Done {
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
    if pattern.iter().all(|&byte| byte == pattern[0]) && matches!(Place::of(state, to), Place::Device(_)) {
        for index in 0..rows {
            let at = to + (index * pitch) as u64;
            state.memory.fill(at, bytes as u64, pattern[0]).map_err(|_| Status::INVALID_VALUE)?;
        }
        return Ok(());
    }
    let row = pattern.repeat(width);
    for index in 0..rows {
        Place::of(state, to + (index * pitch) as u64).store(state, &row)?;
    }
    Ok(())
}

/// Writes a few bytes, to memory of the device or memory that the device can reach.
pub fn write(state: &mut State, to: u64, bytes: &[u8]) -> Done {
    let end = to.checked_add(bytes.len() as u64).ok_or(Status::INVALID_VALUE)?;
    let span = state.span(to).filter(|span| end - span.address <= span.bytes);
    span.ok_or(Status::INVALID_VALUE)?;
    Place::of(state, to).store(state, bytes)
}

/// Copies bytes.
pub fn copy(state: &mut State, request: Bytes) -> Done {
    let Bytes { to, from, bytes, to_device, from_device } = request;
    if bytes == 0 {
        return Ok(());
    }
    let (source, target) = (Place::of(state, from), Place::of(state, to));
    let wild = |place: Place, address: u64| matches!(place, Place::Host(_)) && state.allocation(address).is_none();
    if (from_device && wild(source, from)) || (to_device && wild(target, to)) {
        return Err(Status::INVALID_VALUE);
    }
    source.transfer(state, target, bytes)
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

    /// With the pitch and height of the array, and its texels; fails if a box of this size is not
    /// all in it.
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

/// Copies a box.
pub fn copy_3d(state: &mut State, request: &Copy3D) -> Done {
    let Copy3D { mut from, mut to, width, height, depth } = *request;
    let size = [width, height, depth];
    let source = if from.is_array() { Some(from.texels(state, size)?) } else { None };
    let mut target = if to.is_array() { Some(to.texels(state, size)?) } else { None };
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
                    from.place(state, offset)?.load(state, &mut buffer)?;
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
                    to.place(state, offset)?.store(state, &buffer)?;
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
