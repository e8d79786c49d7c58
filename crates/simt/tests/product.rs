//! The lab sheet's own size: the naive product of two 1000 x 1000 matrices of f32, a thousand
//! million multiplications.

use simt::{Launch, Memory, Program};

const SIZE: usize = 1000;

/// The elements of a matrix, row by row.
fn matrix(element: impl Fn(usize, usize) -> u16) -> Vec<u8> {
    let elements = (0..SIZE * SIZE).map(|index| f32::from(element(index / SIZE, index % SIZE)));
    elements.flat_map(f32::to_le_bytes).collect()
}

#[test]
fn a_product_of_the_lab_sheets_size_is_right_and_counted() {
    let module = ptx::parse("matmul.ptx", include_str!("../benches/matmul.ptx")).unwrap();
    let mut memory = Memory::new(1 << 26);
    let program = Program::load(&module, &mut memory).unwrap();
    // a[i][k] = i mod 7 + k mod 2, b[k][j] = j mod 5 + k mod 2: all sums are whole numbers that f32
    // holds.
    let inputs = [matrix(|i, k| (i % 7 + k % 2) as u16), matrix(|k, j| (j % 5 + k % 2) as u16)];
    let bytes = (SIZE * SIZE * 4) as u64;
    let buffers = [(); 3].map(|()| memory.allocate(bytes).unwrap());
    for (&buffer, input) in buffers.iter().zip(&inputs) {
        memory.write(buffer, input).unwrap();
    }
    let arguments = [buffers[0], buffers[1], buffers[2], SIZE as u64].map(u64::to_le_bytes);
    let arguments = [&arguments[0][..], &arguments[1], &arguments[2], &arguments[3][..4]];
    let launch = Launch {
        kernel: "matmul_naive",
        grid: [63, 63, 1],
        block: [16, 16, 1],
        arguments: &arguments,
        ..Launch::default()
    };
    let counters = program.launch(&memory, &launch).unwrap().counters();

    let mut product = vec![0; SIZE * SIZE * 4];
    memory.read(buffers[2], &mut product).unwrap();
    for (index, element) in product.chunks_exact(4).enumerate() {
        let (a, b) = (index / SIZE % 7, index % SIZE % 5);
        let expected = 500 * a * b + 500 * (a + 1) * (b + 1);
        assert_eq!(f32::from_le_bytes(element.try_into().unwrap()), expected as f32, "element {index}");
    }
    // 63 x 63 blocks of 8 warps, of which the lowest row of blocks has 4 below the matrix. A warp
    // in it executes 23 instructions, 12 for each of 1000 steps, and 5; one below it 20.
    let (inside, below) = (63 * 63 * 8 - 63 * 4, 63 * 4);
    assert_eq!(counters.instructions_executed, inside * (23 + 12 * 1000 + 5) + below * 20);
    assert_eq!(counters.global.load.requests, inside * 2 * 1000);
    assert_eq!(counters.global.store.bytes, bytes);
}
