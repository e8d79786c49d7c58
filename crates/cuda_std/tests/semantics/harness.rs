//! A launch on the simulator, put together step by step.

use simt::{Launch, Memory, Program};
use std::path::Path;
use std::sync::LazyLock;

static MODULE: LazyLock<ptx::Module> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_api/ptx/device_api.sm_75.ptx");
    let text = std::fs::read_to_string(&path).unwrap();
    ptx::parse("device_api.sm_75.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"))
});

/// One launch being put together: the device's memory, and the arguments so far.
pub struct Run {
    memory: Memory,
    program: Program,
    arguments: Vec<Vec<u8>>,
}

/// A buffer of the device, and how many elements it has.
#[derive(Clone, Copy)]
pub struct Buffer {
    address: u64,
    length: usize,
}

impl Run {
    pub fn new() -> Self {
        let mut memory = Memory::new(1 << 24);
        let program = Program::load(&MODULE, &mut memory).unwrap();
        Self { memory, program, arguments: Vec::new() }
    }

    /// Adds a buffer with these elements, and a pointer to it as the next argument.
    pub fn buffer<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let address = self.memory.allocate(bytes.len() as u64).unwrap();
        self.memory.write(address, bytes).unwrap();
        self.value(address);
        Buffer { address, length: elements.len() }
    }

    /// Adds a buffer, and a pointer and a length as the next arguments.
    pub fn slice<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let buffer = self.buffer(elements);
        self.value(elements.len() as u64);
        buffer
    }

    pub fn value<T: bytemuck::NoUninit>(&mut self, value: T) {
        self.arguments.push(bytemuck::bytes_of(&value).to_vec());
    }

    pub fn launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) {
        self.try_launch(kernel, grid, block, 0).unwrap_or_else(|error| panic!("{error}"));
    }

    pub fn try_launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Result<(), String> {
        let arguments: Vec<&[u8]> = self.arguments.iter().map(Vec::as_slice).collect();
        let launch = Launch { kernel, grid, block, dynamic_shared, arguments: &arguments, ..Launch::default() };
        self.program.launch(&self.memory, &launch).map(drop).map_err(|error| error.to_string())
    }

    pub fn read<T: bytemuck::Pod>(&self, buffer: Buffer) -> Vec<T> {
        let mut elements = vec![T::zeroed(); buffer.length];
        self.memory.read(buffer.address, bytemuck::cast_slice_mut(&mut elements)).unwrap();
        elements
    }
}

/// What a kernel of one warp makes of an input of 32 elements, `per_thread` results each.
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
