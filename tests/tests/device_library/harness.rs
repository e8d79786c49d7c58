//! A launch on a device, assembled step by step: buffers, arguments, result. The tests of this
//! folder use it. It opens the device and frees what it allocates.

use std::cell::Cell;
use std::path::Path;

use cuda_std::launch::Arguments;
use device::{Device, DeviceChoice, LaunchConfig, OnDevice, Options};
use simt::Checks;

thread_local! {
    /// The device that [`Run::new`] takes.
    static CURRENT: Cell<DeviceChoice> = const { Cell::new(DeviceChoice::Simulator) };
}

/// Runs a test's body on the simulator, and on the first GPU if there is one.
pub fn on_each_device(test: impl Fn()) {
    test();
    if cust_raw::load().is_ok() {
        CURRENT.set(DeviceChoice::Gpu(0));
        test();
    }
}

/// Whether the device can go on after a launch that fails. A GPU cannot, within this process.
pub fn survives_faults() -> bool {
    CURRENT.get() == DeviceChoice::Simulator
}

/// A launch being assembled: the buffers, and the arguments so far.
pub struct Run {
    buffers: Vec<device::Buffer<u8>>,
    arguments: Arguments,
    device: Device,
}

/// A buffer of a [`Run`], and how many elements it has.
#[derive(Clone, Copy)]
pub struct Buffer {
    index: usize,
    length: usize,
}

impl Run {
    pub fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = path.join("../crates/cuda_std/tests/device_api/ptx/device_api.sm_75.ptx");
        let device = device::open(CURRENT.get(), &Options { ptx: vec![path.into()], ..Options::default() }).unwrap();
        Self { buffers: Vec::new(), arguments: Arguments::new(), device }
    }

    /// The device that it will run on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Adds a buffer with these elements, and a pointer to it as the next argument.
    pub fn buffer<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let mut buffer = self.device.buffer(bytes.len()).unwrap();
        buffer.write(bytes).unwrap();
        self.arguments.push_pointer(buffer.address());
        self.buffers.push(buffer);
        Buffer { index: self.buffers.len() - 1, length: elements.len() }
    }

    /// Adds a buffer, and a pointer and a length as the next arguments.
    pub fn slice<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let buffer = self.buffer(elements);
        self.value(elements.len() as u64);
        buffer
    }

    /// Adds a buffer with a matrix of rows `pitch` elements apart, and its four arguments.
    pub fn matrix<T: bytemuck::Pod>(&mut self, elements: &[T], [rows, cols, pitch]: [u32; 3]) -> Buffer {
        let buffer = self.buffer(elements);
        for extent in [rows, cols, pitch] {
            self.value(extent);
        }
        buffer
    }

    pub fn value<T: bytemuck::NoUninit>(&mut self, value: T) {
        self.arguments.push_bytes(bytemuck::bytes_of(&value), align_of::<T>());
    }

    pub fn launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) {
        self.try_launch(kernel, grid, block, 0).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Launches, and the sanitizer must find nothing.
    pub fn launch_checked(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) {
        let config = LaunchConfig { checks: Checks::ALL, ..LaunchConfig::new(grid, block) };
        // SAFETY: the kernels of these tests use the buffers that they are given.
        let report = unsafe { self.device.launch_untyped(kernel, &config, &self.arguments) };
        let report = report.unwrap_or_else(|error| panic!("{kernel}: {error}"));
        self.device.synchronize().unwrap_or_else(|error| panic!("{kernel}: {error}"));
        assert!(report.is_none_or(|report| report.findings().is_empty()), "{kernel} has faults");
    }

    pub fn try_launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Result<(), String> {
        let config = LaunchConfig { dynamic_shared, ..LaunchConfig::new(grid, block) };
        // SAFETY: the kernels of these tests use the buffers that they are given.
        let launched = unsafe { self.device.launch_untyped(kernel, &config, &self.arguments) };
        launched.and_then(|_| self.device.synchronize()).map_err(|error| error.to_string())
    }

    pub fn read<T: bytemuck::Pod>(&self, buffer: Buffer) -> Vec<T> {
        let mut elements = vec![T::zeroed(); buffer.length];
        self.buffers[buffer.index].read_into(bytemuck::cast_slice_mut(&mut elements)).unwrap();
        elements
    }
}

/// The output of a kernel of one warp for an input of 32 elements: `per_thread` results for each.
pub fn of_one_warp<I: bytemuck::Pod, O: bytemuck::Pod>(kernel: &str, input: &[I], per_thread: usize) -> Vec<Vec<O>> {
    let mut run = Run::new();
    run.buffer(input);
    let output = run.buffer(&vec![O::zeroed(); 32 * per_thread]);
    run.launch(kernel, [1, 1, 1], [32, 1, 1]);
    run.read::<O>(output).chunks(per_thread).map(<[O]>::to_vec).collect()
}

pub fn lanes<T>(function: impl Fn(u32) -> T) -> Vec<T> {
    (0..32).map(function).collect()
}
