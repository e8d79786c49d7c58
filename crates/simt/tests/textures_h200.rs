//! Textures and surfaces compared with what an H200 returned and counted.
//!
//! `data/h200_textures.txt` has the cases: each names a kernel of `data/textures.ptx`, an array or
//! memory, and how it is read, followed by each thread's input words and results. `data/README.md`
//! says how to repeat the measurements.

use simt::textures::{AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureSource};
use simt::{Launch, Memory, Program};

/// A case and the GPU's results.
struct Case {
    line: String,
    kernel: String,
    source: String,
    shape: ArrayShape,
    sampling: Sampling,
    rows: Vec<[u32; 8]>,
    /// The array after the launch.
    array: Option<Vec<u8>>,
}

impl Case {
    fn new(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| words[index].parse::<u32>().expect("a number");
        let ty = match words[7] {
            "u8" => ChannelType::U8,
            "u16" => ChannelType::U16,
            "u32" => ChannelType::U32,
            "s8" => ChannelType::S8,
            "s16" => ChannelType::S16,
            "s32" => ChannelType::S32,
            "f16" => ChannelType::F16,
            _ => ChannelType::F32,
        };
        let format = TexelFormat { channels: number(8), ty };
        let shape = ArrayShape {
            width: number(2),
            height: number(3),
            depth: number(4),
            layers: number(5),
            levels: number(6),
            format,
        };
        let mode = |name: &str| match name {
            "wrap" => AddressMode::Wrap,
            "mirror" => AddressMode::Mirror,
            "border" => AddressMode::Border,
            _ => AddressMode::Clamp,
        };
        let filter = if words[9] == "linear" { Filter::Linear } else { Filter::Point };
        let small = !ty.is_float() && ty.bytes() < 4;
        let sampling = Sampling {
            address_modes: [mode(words[10]), mode(words[11]), mode(words[11])],
            filter,
            level_filter: filter,
            normalized_coordinates: words[12] == "norm",
            read_mode: if small && words[13] != "element" { ReadMode::NormalizedFloat } else { ReadMode::Element },
            srgb: words[13] == "srgb",
            border: [3.0, -2.0, 0.5, 7.0],
            level_range: (0.0, (shape.levels - 1) as f32),
            level_bias: 0.0,
        };
        let [kernel, source] = [words[0], words[1]].map(str::to_string);
        Self { line: line.to_string(), kernel, source, shape, sampling, rows: Vec::new(), array: None }
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("case ") {
            cases.push(Case::new(line));
        } else if let Some(bytes) = line.strip_prefix("array ") {
            let digits = |at| u8::from_str_radix(&bytes[at..at + 2], 16).expect("a byte");
            cases.last_mut().expect("a case").array = Some((0..bytes.len()).step_by(2).map(digits).collect());
        } else if !line.is_empty() && !line.starts_with(['#', 'e']) {
            let words: Vec<u32> =
                line.split_whitespace().map(|word| u32::from_str_radix(word, 16).expect("a word")).collect();
            cases.last_mut().expect("a case").rows.push(words.try_into().expect("eight words"));
        }
    }
    cases
}

fn hash(mut x: u32) -> u32 {
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

/// The f16 of this many sixteenths.
fn half(sixteenths: i32) -> u16 {
    let sign = if sixteenths < 0 { 0x8000 } else { 0 };
    let value = sixteenths.unsigned_abs();
    if value == 0 {
        return sign;
    }
    let exponent = value.ilog2();
    sign | (((exponent as u16 + 15) - 4) << 10) | ((value << (10 - exponent)) & 0x3ff) as u16
}

/// The texels that the GPU had.
fn texels(format: TexelFormat, level: u32, count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..count as u32 * format.channels {
        let h = hash(index + level * 7919 + 1);
        match format.ty {
            ChannelType::F32 => bytes.extend((((h >> 16) as i32 - 32768) as f32 / 256.0).to_le_bytes()),
            ChannelType::F16 => bytes.extend(half((h % 511) as i32 - 255).to_le_bytes()),
            ty => bytes.extend(&h.to_le_bytes()[..ty.bytes() as usize]),
        }
    }
    bytes
}

/// Runs a case on the simulator. Returns the results, the array afterwards, and the counters.
fn run(module: &ptx::Module, case: &Case) -> (Vec<[u32; 4]>, Option<Vec<u8>>, simt::Counters) {
    let mut memory = Memory::new(64 << 20);
    let program = Program::load(module, &mut memory).unwrap();
    let shape = case.shape;
    let texel = u64::from(shape.format.bytes());
    let mut array = None;
    let object = match case.source.as_str() {
        "linear" => {
            let address = memory.allocate(u64::from(shape.width) * texel).unwrap();
            memory.write(address, &texels(shape.format, 0, shape.width.into())).unwrap();
            let source = TextureSource::Linear { address, texels: shape.width, format: shape.format };
            memory.create_texture(&source, &case.sampling).unwrap()
        }
        "pitched" => {
            let pitch = (u64::from(shape.width) * texel).next_multiple_of(512);
            let address = memory.allocate(pitch * u64::from(shape.height)).unwrap();
            let bytes = texels(shape.format, 0, u64::from(shape.width) * u64::from(shape.height));
            for (row, bytes) in bytes.chunks_exact((u64::from(shape.width) * texel) as usize).enumerate() {
                memory.write(address + row as u64 * pitch, bytes).unwrap();
            }
            let ArrayShape { width, height, format, .. } = shape;
            memory
                .create_texture(&TextureSource::Pitched { address, width, height, pitch, format }, &case.sampling)
                .unwrap()
        }
        source => {
            let made = memory.allocate_array(&shape).unwrap();
            for level in 0..shape.levels {
                let count = shape.level_bytes(level) / texel;
                memory.write_array(made, level, &texels(shape.format, level, count)).unwrap();
            }
            array = Some(made);
            match source {
                "surface" => memory.create_surface(made).unwrap(),
                _ => memory.create_texture(&TextureSource::Array(made), &case.sampling).unwrap(),
            }
        }
    };
    let input: Vec<u8> = case.rows.iter().flat_map(|row| &row[..4]).flat_map(|word| word.to_le_bytes()).collect();
    let [from, to] = [0; 2].map(|_| memory.allocate(input.len() as u64).unwrap());
    memory.write(from, &input).unwrap();
    let arguments = [object, from, to].map(u64::to_le_bytes);
    let arguments: Vec<&[u8]> = arguments.iter().map(|bytes| bytes.as_slice()).collect();
    let block = [case.rows.len() as u32, 1, 1];
    let launch = Launch { kernel: &case.kernel, block, arguments: &arguments, ..Launch::default() };
    let report = program.launch(&memory, &launch).unwrap_or_else(|error| panic!("{}: {error}", case.line));
    let mut output = vec![0; input.len()];
    memory.read(to, &mut output).unwrap();
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let results = output.chunks_exact(16).map(|four| std::array::from_fn(|index| word(&four[index * 4..][..4])));
    let after = array.filter(|_| case.array.is_some()).map(|array| {
        let mut bytes = vec![0; shape.level_bytes(0) as usize];
        memory.read_array(array, 0, &mut bytes).unwrap();
        bytes
    });
    (results.collect(), after, report.counters())
}

/// How far a result may be from the GPU's. Nearly all are bit-exact. Where they are not, the GPU
/// approximates in an undocumented way.
fn tolerance(case: &Case) -> f64 {
    let filtered = case.sampling.filter == Filter::Linear;
    match case.kernel.as_str() {
        // sRGB is converted by a table with few digits.
        _ if case.sampling.srgb => 0.006,
        // The sum of signed bytes is a number of 32767ths; between two of them, the GPU sometimes
        // takes the other.
        _ if filtered
            && case.shape.format.ty == ChannelType::S8
            && case.sampling.read_mode == ReadMode::NormalizedFloat =>
        {
            1.01 / 32767.0
        }
        // The weights of eight texels of two levels are rounded: of texels up to 128, in 256ths.
        "level_2d" if filtered && case.shape.levels > 1 => 2.0,
        _ => 0.0,
    }
}

#[test]
fn results_are_those_of_an_h200() {
    let module = ptx::parse("textures.ptx", include_str!("data/textures.ptx")).unwrap();
    let cases = cases(include_str!("data/h200_textures.txt"));
    let mut failures = Vec::new();
    let mut compared = 0;
    // The level of a gradient is approximated: see `gradients_mean_nearly_the_level_of_an_h200`.
    for case in cases.iter().filter(|case| case.kernel != "gradient_2d") {
        let (results, array, _) = run(&module, case);
        let tolerance = tolerance(case);
        let close = |found: u32, wanted: u32| {
            let difference = f64::from(f32::from_bits(found)) - f64::from(f32::from_bits(wanted));
            found == wanted || tolerance > 0.0 && difference.abs() <= tolerance
        };
        for (index, (found, row)) in results.iter().zip(&case.rows).enumerate() {
            compared += 1;
            if !found.iter().zip(&row[4..]).all(|(&found, &wanted)| close(found, wanted)) {
                failures.push(format!("{}: thread {index}: {found:x?}, not {:x?}", case.line, &row[4..]));
            }
        }
        if array.as_ref() != case.array.as_ref() {
            failures.push(format!("{}: the array differs", case.line));
        }
    }
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 4000, "{compared} results are few");
}

#[test]
fn gradients_mean_nearly_the_level_of_an_h200() {
    let module = ptx::parse("textures.ptx", include_str!("data/textures.ptx")).unwrap();
    let cases = cases(include_str!("data/h200_textures.txt"));
    let case = cases.iter().find(|case| case.kernel == "gradient_2d" && case.sampling.filter == Filter::Point).unwrap();
    let (results, ..) = run(&module, case);
    let other = results.iter().zip(&case.rows).filter(|(found, row)| found[..] != row[4..]).count();
    // It sometimes rounds to another level.
    assert!(other * 10 <= results.len(), "{other} of {}", results.len());
}

#[test]
fn counts_are_those_of_an_h200() {
    let module = ptx::parse("textures.ptx", include_str!("data/textures.ptx")).unwrap();
    let mut failures = Vec::new();
    let mut compared = 0;
    for line in include_str!("data/h200_texture_counts.txt").lines().filter(|line| !line.starts_with('#')) {
        let (case, counted) = line.split_once(" | ").expect("a case and its counts");
        let wanted: Vec<u64> = counted.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let mut case = Case::new(case);
        case.rows = patterned(&case);
        let (.., counters) = run(&module, &case);
        let found = match case.kernel.split('_').next().expect("a kernel") {
            "load" => counters.surface.load,
            "store" => counters.surface.store,
            "reduce" => counters.surface.reduction,
            _ => counters.texture,
        };
        compared += 1;
        if [found.requests, found.sectors] != wanted[..] {
            failures.push(format!("{line}: {} requests, {} sectors", found.requests, found.sectors));
        }
    }
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 150, "{compared} cases are few");
}

/// The words of each thread of a case of counts, by the name of its pattern: `coordinates` in the
/// program that measured.
fn patterned(case: &Case) -> Vec<[u32; 8]> {
    let words: Vec<&str> = case.line.split_whitespace().collect();
    let (pattern, threads) = (words[14], words[15].parse::<u32>().expect("a number"));
    let linear = case.sampling.filter == Filter::Linear;
    let of = |t: u32| {
        let [x, y, z] = match pattern {
            "row" => [t, 0, 0],
            "column" => [0, t, 0],
            "same" => [5, 3, 0],
            "tile8x4" => [t % 8, t / 8, 0],
            "tile4x8" => [t % 4, t / 4, 0],
            "tile16x2" => [t % 16, t / 16, 0],
            "tile2x16" => [t % 2, t / 2, 0],
            "stride2" => [2 * t, 0, 0],
            "stride4" => [4 * t, 0, 0],
            "stride8" => [8 * t, 0, 0],
            "diagonal" => [t, t, 0],
            "rows2" => [0, 2 * t, 0],
            "rows8" => [t / 8 * 8, 8 * t % 64, 0],
            "random" => [hash(t) % case.shape.width, hash(t + 400) % case.shape.height.max(1), 0],
            "odd" => [t + 1, 1, 0],
            "odd8x4" => [t % 8 + 3, t / 8 + 1, 0],
            "quads" => [t / 4 * 16, t % 4 * 2, 0],
            "depth" => [t % 4, t / 4 % 4, t / 16],
            other => panic!("no pattern {other}"),
        };
        let [a, b, c, d] = match case.source.as_str() {
            "surface" => [x * case.shape.format.bytes(), y, t, t],
            _ if case.kernel.ends_with("_s32") => [x, y, z, 0],
            _ => {
                let place = |index: u32| (index as f32 + if linear { 0.75 } else { 0.5 }).to_bits();
                [place(x), place(y), place(z), 0]
            }
        };
        [a, b, c, d, 0, 0, 0, 0]
    };
    (0..threads).map(of).collect()
}
