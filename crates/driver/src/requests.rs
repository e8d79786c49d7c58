//! What copies and fills ask for.

use std::ffi::c_uint;

use crate::objects::Handle;

/// A copy of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    pub to: u64,
    pub from: u64,
    pub bytes: usize,
    /// Whether the target must not be just any memory of the host.
    pub to_device: bool,
    /// The same of the source.
    pub from_device: bool,
}

/// Memory to fill: rows of elements.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Bytes of an element.
    pub each: usize,
    /// Elements of a row.
    pub width: usize,
    pub rows: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    pub kind: c_uint,
    pub host: u64,
    pub device: u64,
    pub array: Handle,
    pub reserved: usize,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    pub from: Side3D,
    pub to: Side3D,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// One side of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side2D {
    pub x: usize,
    pub y: usize,
    pub kind: c_uint,
    pub host: u64,
    pub device: u64,
    pub array: Handle,
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    pub from: Side2D,
    pub to: Side2D,
    pub width: usize,
    pub height: usize,
}

impl Side2D {
    /// The same in three dimensions.
    pub fn in_3d(self, width: usize) -> Side3D {
        let Self { x, y, kind, host, device, array, pitch } = self;
        let pitch = if pitch == 0 { width } else { pitch };
        Side3D { x, y, z: 0, level: 0, kind, host, device, array, reserved: 0, pitch, height: 0 }
    }
}

impl Copy2D {
    /// The same in three dimensions.
    pub fn in_3d(self) -> Copy3D {
        let Self { from, to, width, height } = self;
        Copy3D { from: from.in_3d(width), to: to.in_3d(width), width, height, depth: 1 }
    }
}

impl Side3D {
    /// Linear memory: an address, with its kind (1 the host, 2 the device, 4 either).
    pub fn linear(kind: c_uint, address: u64, pitch: usize) -> Self {
        let none =
            Self { x: 0, y: 0, z: 0, level: 0, kind, host: 0, device: 0, array: 0, reserved: 0, pitch, height: 0 };
        Self { host: address, device: address, ..none }
    }

    /// A row of an array, from a byte on.
    pub fn row(array: Handle, offset: usize) -> Self {
        Self { x: offset, array, ..Self::linear(3, 0, 0) }
    }
}

impl Bytes {
    /// The same in three dimensions.
    pub fn in_3d(self) -> Copy3D {
        let side = |address| Side3D::linear(4, address, self.bytes);
        Copy3D { from: side(self.from), to: side(self.to), width: self.bytes, height: 1, depth: 1 }
    }
}
