//! What the `main.rs` of a host exercise needs: the kernels, the given data, and a place for the
//! results. `cargo learn` compiles it once, for all host exercises.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::process::ExitCode;

use cust::memory::bytemuck::{Pod, cast_slice, cast_slice_mut};
use cust::module::Module;
use cust::sys::{CUDA_MEMCPY2D, CUmemorytype, CUresult};

/// The task of one run.
pub struct Task {
    module: Module,
    sizes: HashMap<String, usize>,
    results: Vec<u8>,
}

impl Task {
    /// Runs the program: what `body` returns as an error is shown, and ends it.
    pub fn run(body: impl FnOnce(&mut Task) -> Result<(), Box<dyn Error>>) -> ExitCode {
        match attempt(body) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    /// The kernels.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// A size.
    pub fn size(&self, name: &str) -> usize {
        self.sizes[name]
    }

    /// Given data.
    pub fn data<T: Pod>(&self, name: &str) -> Vec<T> {
        let bytes = fs::read(format!("{name}.data")).unwrap_or_else(|error| panic!("{name}.data: {error}"));
        let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
        cast_slice_mut(&mut values).copy_from_slice(&bytes);
        values
    }

    /// Hands a result in.
    pub fn result<T: Pod>(&mut self, name: &str, values: &[T]) {
        let bytes: &[u8] = cast_slice(values);
        self.results.extend(format!("{name} {}\n", bytes.len()).bytes());
        self.results.extend(bytes);
    }
}

fn attempt(body: impl FnOnce(&mut Task) -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    cust::sys::load()?;
    // Whatever the program leaves in the context is there at its end, for the record.
    std::mem::forget(cust::quick_init()?);
    let text = fs::read_to_string("sizes")?;
    let size = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let sizes = text.lines().filter_map(size).collect();
    let mut task = Task { module: Module::from_ptx(fs::read_to_string("kernels.ptx")?, &[])?, sizes, results: Vec::new() };
    body(&mut task)?;
    fs::write("results", &task.results)?;
    Ok(())
}


/// A call of the driver that failed.
#[derive(Debug)]
pub struct Failed(pub CUresult);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Error for Failed {}

/// The status of a function of `cust::sys`, as a result.
pub fn checked(status: CUresult) -> Result<(), Failed> {
    if status == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Failed(status)) }
}

/// A copy of no rows between no places of the host: set what is different in yours.
pub fn no_rows() -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: std::ptr::null(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: 0,
        Height: 0,
    }
}
