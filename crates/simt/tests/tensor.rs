//! Tensor cores: sums of random numbers as an H200 computed them, to the bit.
//!
//! `data/h200_mma.txt` has the results; the operands are a hash of the case, the round, the
//! register and the lane, as they were when measured. Each round spreads exponents more than the
//! one before.

use std::collections::BTreeMap;

use simt::{Launch, Memory, Program};

fn mix(mut x: u32) -> u32 {
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// An f16 or bf16 of an exponent near that of 1.
fn small(bits: u32, spread: u32, (fraction, bias): (u32, u32)) -> u32 {
    let exponent = bias - spread / 2 + (bits >> 20) % spread;
    bits & 0x8000 | exponent << fraction | bits & ((1 << fraction) - 1)
}

fn pair(bits: u32, spread: u32, format: (u32, u32)) -> u32 {
    small(bits, spread, format) | small(mix(bits), spread, format) << 16
}

fn single(bits: u32, spread: u32) -> u32 {
    bits & 0x8000_0000 | (127 - spread / 2 + mix(bits) % spread) << 23 | bits & 0x7f_ffff
}

/// Four bytes, of which those that `special` has are changed into finite numbers.
fn bytes(bits: u32, special: impl Fn(u8) -> bool, change: u8) -> u32 {
    u32::from_le_bytes(bits.to_le_bytes().map(|byte| if special(byte) { byte ^ change } else { byte }))
}

const HALF: (u32, u32) = (10, 15);
const BRAIN: (u32, u32) = (7, 127);

/// The operand of a case: registers of A from 0 on, of B from 4, of C from 8; 12 is the metadata.
fn operand(case: (&str, u32), round: u32, register: u32, lane: u32) -> u32 {
    let (name, number) = case;
    let bits = (number * 1_000_003)
        .wrapping_add(round * 4099)
        .wrapping_add(register * 257)
        .wrapping_add(lane * 7919)
        .wrapping_add(12345);
    let bits = mix(bits);
    let spread = if name == "f16_f16" { (2 + round).min(10) } else { 2 + round * 3 };
    match (name, register) {
        ("f16_sparse", 12) => {
            let pairs = [0x4, 0x8, 0xc, 0x9, 0xd, 0xe];
            let mut x = bits;
            (0..8).fold(0, |metadata, chunk| {
                let pair = pairs[x as usize % 6] << (4 * chunk);
                x = mix(x);
                metadata | pair
            })
        }
        ("f16_f16", 8..) => pair(bits, spread, HALF),
        ("f16_k4" | "f16_sparse", 8..) => single(bits, spread.min(28)),
        (_, 8..) => single(bits, spread),
        ("bf16_k16" | "bf16_k8", _) => pair(bits, spread, BRAIN),
        ("tf32_k8" | "tf32_k4", _) => single(bits, spread),
        ("e4m3_k32", _) => bytes(bits, |byte| byte & 0x7f == 0x7f, 1),
        ("e5m2_k32", _) => bytes(bits, |byte| byte & 0x7c == 0x7c, 0x40),
        _ => pair(bits, spread.min(28), HALF),
    }
}

/// Infinities, NaN, subnormals and zeros: one product each.
fn special_operand(round: u32, register: u32, lane: u32) -> u32 {
    const VALUES: [u32; 8] = [0x3c00, 0x7c00, 0xfc00, 0x7e01, 0x0001, 0x8001, 0x0000, 0x8000];
    match register {
        0 if lane.is_multiple_of(4) => VALUES[round as usize],
        4 if lane.is_multiple_of(4) => VALUES[lane as usize / 4],
        8..12 if round == 6 => 0x8000_0000,
        _ => 0,
    }
}

const CASES: [&str; 12] = [
    "f16_k16",
    "f16_k8",
    "bf16_k16",
    "bf16_k8",
    "tf32_k8",
    "tf32_k4",
    "e4m3_k32",
    "e5m2_k32",
    "f16_f16",
    "f16_k4",
    "f16_sparse",
    "specials",
];

#[test]
fn sums_are_those_of_an_h200() {
    let module =
        ptx::parse("h200_mma.ptx", include_str!("data/h200_mma.ptx")).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let (input, output) = (memory.allocate(16 * 128).unwrap(), memory.allocate(4 * 128).unwrap());
    let mut wrong: BTreeMap<&str, u32> = BTreeMap::new();
    let mut checked = 0;
    let mut lines = include_str!("data/h200_mma.txt").lines().filter(|line| !line.starts_with('#')).peekable();
    while let Some(header) = lines.next() {
        let (name, round) = header.split_once(' ').unwrap();
        let round: u32 = round.parse().unwrap();
        let number = CASES.iter().position(|&case| case == name).unwrap();
        let name = CASES[number];
        let operands = (0..16 * 32).map(|index| match name {
            "specials" => special_operand(round, index / 32, index % 32),
            _ => operand((name, number as u32), round, index / 32, index % 32),
        });
        let operands: Vec<u8> = operands.flat_map(u32::to_le_bytes).collect();
        memory.write(input, &operands).unwrap();
        let launch = Launch {
            kernel: if name == "specials" { "f16_k16" } else { name },
            block: [32, 1, 1],
            arguments: &[&input.to_le_bytes(), &output.to_le_bytes()],
            ..Launch::default()
        };
        program.launch(&memory, &launch).unwrap();
        for register in 0..4 {
            let Some(line) = lines.next_if(|line| !CASES.contains(&line.split(' ').next().unwrap())) else { break };
            let mut found = [0; 128];
            memory.read(output + register * 128, &mut found).unwrap();
            for (value, expected) in found.chunks_exact(4).zip(line.split(' ')) {
                let expected = u32::from_str_radix(expected, 16).unwrap();
                checked += 1;
                *wrong.entry(name).or_default() += u32::from(u32::from_le_bytes(value.try_into().unwrap()) != expected);
            }
        }
    }
    assert_eq!(checked, 10 * 4 * 128 + 4 * 64 + 8 * 128);
    assert!(wrong.values().all(|&count| count == 0), "{wrong:?}");
}
