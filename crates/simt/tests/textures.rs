//! Textures and surfaces: the kernels of `data/textures.ptx` on small arrays, compared with the
//! CUDA programming guide, and each possible fault.

use simt::counts::MetricValue;
use simt::textures::{
    AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureError, TextureSource,
};
use simt::{Checks, Launch, LaunchError, Memory, Program, Report};

const FLOAT: TexelFormat = TexelFormat { channels: 1, ty: ChannelType::F32 };

/// A device with the kernels.
struct Device {
    memory: Memory,
    program: Program,
    checks: Checks,
}

impl Device {
    fn new() -> Self {
        Self::with("textures.ptx", include_str!("data/textures.ptx"))
    }

    fn with(name: &str, kernels: &str) -> Self {
        let module = ptx::parse(name, kernels).expect("the kernels are valid");
        let mut memory = Memory::new(64 << 20);
        let program = Program::load(&module, &mut memory).expect("there is room");
        Self { memory, program, checks: Checks::NONE }
    }

    /// An array of floats 0, 1, 2, ...
    fn ramp(&mut self, shape: ArrayShape) -> simt::textures::ArrayHandle {
        let array = self.memory.allocate_array(&shape).expect("a good shape");
        for level in 0..shape.levels {
            let count = shape.level_bytes(level) / 4;
            let texels: Vec<u8> = (0..count).flat_map(|n| (n as f32 + 1000.0 * level as f32).to_le_bytes()).collect();
            self.memory.write_array(array, level, &texels).expect("the level has that size");
        }
        array
    }

    fn texture(&mut self, shape: ArrayShape, sampling: &Sampling) -> u64 {
        let array = self.ramp(shape);
        self.memory.create_texture(&TextureSource::Array(array), sampling).expect("can be read so")
    }

    /// Launches a kernel for these coordinates, one thread each. Returns the results.
    fn launch(
        &mut self,
        kernel: &str,
        object: u64,
        words: &[[u32; 4]],
    ) -> Result<(Vec<[u32; 4]>, Report), LaunchError> {
        let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let [input, output] = [0; 2].map(|_| self.memory.allocate(bytes.len() as u64).expect("there is room"));
        self.memory.write(input, &bytes).expect("allocated");
        let arguments = [object, input, output].map(u64::to_le_bytes);
        let arguments: Vec<&[u8]> = arguments.iter().map(|bytes| bytes.as_slice()).collect();
        let block = [words.len() as u32, 1, 1];
        let launch = Launch { kernel, block, arguments: &arguments, checks: self.checks, ..Launch::default() };
        let report = self.program.launch(&self.memory, &launch)?;
        let mut bytes = vec![0; bytes.len()];
        self.memory.read(output, &mut bytes).expect("allocated");
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let results = bytes.chunks_exact(16).map(|four| std::array::from_fn(|index| word(&four[index * 4..][..4])));
        Ok((results.collect(), report))
    }

    /// The first component at each place.
    fn floats(&mut self, kernel: &str, texture: u64, places: &[[f32; 3]]) -> Vec<f32> {
        let words: Vec<_> = places.iter().map(|[x, y, z]| [x.to_bits(), y.to_bits(), z.to_bits(), 0]).collect();
        let (results, _) = self.launch(kernel, texture, &words).expect("no fault");
        results.iter().map(|result| f32::from_bits(result[0])).collect()
    }

    fn fault(&mut self, kernel: &str, object: u64, words: [u32; 4]) -> String {
        match self.launch(kernel, object, &[words]) {
            Err(LaunchError::Trap(trap)) => trap.kind.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{kernel} came to its end"),
        }
    }
}

fn plane(width: u32, height: u32) -> ArrayShape {
    ArrayShape { width, height, ..ArrayShape::of(FLOAT) }
}

fn modes(mode: AddressMode, normalized: bool, filter: Filter) -> Sampling {
    let border = [-9.0, 0.0, 0.0, 0.0];
    let (address_modes, normalized_coordinates) = ([mode; 3], normalized);
    Sampling { address_modes, normalized_coordinates, filter, border, ..Sampling::default() }
}

#[test]
fn without_filter_the_texel_at_the_place_is_read() {
    let mut device = Device::new();
    let texture = device.texture(plane(8, 4), &modes(AddressMode::Clamp, false, Filter::Point));
    let places = [[0.0, 0.0, 0.0], [0.99, 0.0, 0.0], [3.5, 2.5, 0.0], [-5.0, 1.0, 0.0], [100.0, 100.0, 0.0]];
    assert_eq!(device.floats("fetch_2d_f32_f32", texture, &places), [0.0, 0.0, 19.0, 8.0, 31.0]);
    let texture = device.texture(plane(8, 4), &modes(AddressMode::Border, false, Filter::Point));
    assert_eq!(device.floats("fetch_2d_f32_f32", texture, &places), [0.0, 0.0, 19.0, -9.0, -9.0]);
}

#[test]
fn normalised_coordinates_wrap_and_mirror_and_others_do_not() {
    let mut device = Device::new();
    let places = [[0.5, 0.0, 0.0], [1.25, 0.0, 0.0], [-0.125, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let mut of = |mode, normalized| {
        let texture = device.texture(plane(8, 4), &modes(mode, normalized, Filter::Point));
        device.floats("fetch_2d_f32_f32", texture, &places)
    };
    assert_eq!(of(AddressMode::Wrap, true), [4.0, 2.0, 7.0, 0.0]);
    assert_eq!(of(AddressMode::Mirror, true), [4.0, 5.0, 0.0, 0.0]);
    assert_eq!(of(AddressMode::Clamp, true), [4.0, 7.0, 0.0, 7.0]);
    assert_eq!(of(AddressMode::Wrap, false), [0.0, 1.0, 0.0, 2.0]);
}

#[test]
fn the_linear_filter_mixes_with_weights_of_eight_bits() {
    let mut device = Device::new();
    let texture = device.texture(plane(8, 4), &modes(AddressMode::Clamp, false, Filter::Linear));
    let places = [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.75, 3.5, 0.0]];
    assert_eq!(device.floats("fetch_2d_f32_f32", texture, &places), [0.0, 0.5, 4.5, 0.0, 26.25]);
    // A thousandth of a texel has no effect: weights are multiples of 1/256.
    let places = [[0.501, 0.5, 0.0], [0.5 + 3.0 / 256.0, 0.5, 0.0]];
    assert_eq!(device.floats("fetch_2d_f32_f32", texture, &places), [0.0, 3.0 / 256.0]);
    let volume = ArrayShape { width: 4, height: 4, depth: 4, ..ArrayShape::of(FLOAT) };
    let texture = device.texture(volume, &modes(AddressMode::Clamp, false, Filter::Linear));
    assert_eq!(device.floats("fetch_3d_f32_f32", texture, &[[1.0, 1.0, 1.0], [1.5, 1.5, 2.0]]), [10.5, 29.0]);
}

#[test]
fn layers_and_levels() {
    let mut device = Device::new();
    let layered = ArrayShape { layers: 3, ..plane(4, 2) };
    let texture = device.texture(layered, &modes(AddressMode::Clamp, false, Filter::Point));
    let words = [0, 1, 2, 7].map(|layer| [1.5f32.to_bits(), 1.5f32.to_bits(), 0, layer]);
    let (results, _) = device.launch("fetch_a2d_f32_f32", texture, &words).expect("no fault");
    assert_eq!(results.iter().map(|result| f32::from_bits(result[0])).collect::<Vec<_>>(), [5.0, 13.0, 21.0, 21.0]);

    let levels = ArrayShape { levels: 3, ..plane(8, 4) };
    let sampling = Sampling { level_range: (0.0, 2.0), ..modes(AddressMode::Clamp, true, Filter::Point) };
    let texture = device.texture(levels, &sampling);
    let places = [[0.9, 0.9, 0.0], [0.9, 0.9, 1.2], [0.9, 0.9, 5.0], [0.9, 0.9, -1.0]];
    assert_eq!(device.floats("level_2d", texture, &places), [31.0, 1007.0, 2001.0, 31.0]);
    let texture = device.texture(levels, &Sampling { level_filter: Filter::Linear, ..sampling });
    assert_eq!(device.floats("level_2d", texture, &[[0.0, 0.0, 0.5]]), [500.0]);
    // Neighbouring lanes a quarter of the texture apart read the level of four texels.
    let words = [[0.0f32, 0.0, 0.25, 0.25].map(f32::to_bits)];
    let (results, _) = device.launch("gradient_2d", texture, &words).expect("no fault");
    let lod = (2.0f64.powi(2) + 1.0).sqrt().log2();
    assert!((f64::from(f32::from_bits(results[0][0])) - 1000.0 * lod).abs() < 4.0, "{results:?}");
}

#[test]
fn gathers_go_counter_clockwise_from_the_lower_left() {
    let mut device = Device::new();
    let texture = device.texture(plane(8, 4), &modes(AddressMode::Clamp, false, Filter::Point));
    let words = [[2.0f32.to_bits(), 2.0f32.to_bits(), 0, 0]];
    let (results, _) = device.launch("gather_2d_r", texture, &words).expect("no fault");
    assert_eq!(results[0].map(f32::from_bits), [17.0, 18.0, 10.0, 9.0]);
    // Components that the format lacks are zero.
    let (results, _) = device.launch("gather_2d_a", texture, &words).expect("no fault");
    assert_eq!(results[0], [0; 4]);
}

#[test]
fn bytes_are_read_as_numbers_or_as_floats() {
    let mut device = Device::new();
    let format = TexelFormat { channels: 4, ty: ChannelType::U8 };
    let array = device.memory.allocate_array(&ArrayShape { width: 2, height: 1, ..ArrayShape::of(format) }).unwrap();
    device.memory.write_array(array, 0, &[0, 51, 102, 255, 255, 0, 0, 0]).unwrap();
    let source = TextureSource::Array(array);
    let texture = device.memory.create_texture(&source, &Sampling::default()).unwrap();
    let words = [[0.5f32.to_bits(), 0.5f32.to_bits(), 0, 0]];
    let (results, _) = device.launch("fetch_2d_u32_f32", texture, &words).unwrap();
    assert_eq!(results[0], [0, 51, 102, 255]);
    let floats = Sampling { read_mode: ReadMode::NormalizedFloat, ..Sampling::default() };
    let texture = device.memory.create_texture(&source, &floats).unwrap();
    let (results, _) = device.launch("fetch_2d_f32_f32", texture, &words).unwrap();
    assert_eq!(results[0].map(f32::from_bits), [0.0, 0.2, 0.4, 1.0]);
    let (results, _) = device.launch("fetch_2d_f16x2", texture, &words).unwrap();
    assert_eq!(results[0], [0x3266_0000, 0x3c00_3666, 0, 0]);
}

#[test]
fn linear_and_pitched_memory_are_read_where_they_lie() {
    let mut device = Device::new();
    let address = device.memory.allocate(4 * 1024).unwrap();
    let values: Vec<u8> = (0..1024).flat_map(|n| (n as f32).to_le_bytes()).collect();
    device.memory.write(address, &values).unwrap();
    let source = TextureSource::Linear { address, texels: 1000, format: FLOAT };
    let texture = device.memory.create_texture(&source, &Sampling::default()).unwrap();
    let words = [0, 999, 1000, -1i32 as u32].map(|x| [x, 0, 0, 0]);
    let (results, _) = device.launch("fetch_1d_f32_s32", texture, &words).unwrap();
    assert_eq!(results.iter().map(|result| f32::from_bits(result[0])).collect::<Vec<_>>(), [0.0, 999.0, 0.0, 0.0]);
    let source = TextureSource::Pitched { address, width: 20, height: 5, pitch: 128, format: FLOAT };
    let texture = device.memory.create_texture(&source, &modes(AddressMode::Clamp, false, Filter::Linear)).unwrap();
    assert_eq!(device.floats("fetch_2d_f32_f32", texture, &[[3.5, 2.5, 0.0], [30.0, 1.0, 0.0]]), [67.0, 35.0]);
    // The memory may be freed before the texture.
    device.memory.free(address).unwrap();
    let fault = device.fault("fetch_1d_f32_s32", texture - 1, [5, 0, 0, 0]);
    assert!(fault.starts_with("use after free: read of 4 bytes at global address"), "{fault}");
}

#[test]
fn surfaces_are_loaded_stored_and_reduced() {
    let mut device = Device::new();
    let array = device.ramp(plane(8, 4));
    let surface = device.memory.create_surface(array).unwrap();
    let (results, _) = device.launch("load_2d_zero", surface, &[[16, 1, 0, 0], [32, 1, 0, 0], [0, 4, 0, 0]]).unwrap();
    assert_eq!(results[0].map(f32::from_bits), [12.0, 13.0, 14.0, 15.0]);
    assert_eq!(results[1..], [[0; 4]; 2]);
    let (results, _) = device.launch("load_2d_clamp", surface, &[[160, 9, 0, 0]]).unwrap();
    assert_eq!(results[0].map(f32::from_bits), [28.0, 29.0, 30.0, 31.0]);
    let seven = 7.0f32.to_bits();
    device.launch("store_2d_clamp", surface, &[[8, 2, seven, 0], [400, 3, seven, 0]]).unwrap();
    device.launch("store_2d_zero", surface, &[[0, 0, seven, seven], [400, 3, 0, 0], [-8i32 as u32, 0, 0, 0]]).unwrap();
    device.launch("store_2d_formatted", surface, &[[3, 0, seven, 0]]).unwrap();
    let mut bytes = vec![0; 128];
    device.memory.read_array(array, 0, &mut bytes).unwrap();
    let mut wanted: Vec<f32> = (0..32).map(|n| n as f32).collect();
    for index in [0, 1, 3, 18, 31] {
        wanted[index] = 7.0;
    }
    let found: Vec<f32> = bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(found, wanted);

    let counts = TexelFormat { channels: 1, ty: ChannelType::U32 };
    let array = device.memory.allocate_array(&ArrayShape { width: 8, height: 4, ..ArrayShape::of(counts) }).unwrap();
    let surface = device.memory.create_surface(array).unwrap();
    let (_, report) = device.launch("reduce_2d_add", surface, &[[4, 1, 5, 0]; 32]).unwrap();
    device.launch("reduce_2d_min_elements", surface, &[[1, 1, 100, 0], [9, 9, 0, 0]]).unwrap();
    let mut bytes = vec![0; 128];
    device.memory.read_array(array, 0, &mut bytes).unwrap();
    assert_eq!(u32::from_le_bytes(bytes[36..40].try_into().unwrap()), 100);
    assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 1);
    let counter = |name| report.counters().metrics().into_iter().find(|metric| metric.name == name).unwrap().value;
    assert_eq!(counter("l1tex__t_requests_pipe_tex_mem_surface_op_red.sum"), MetricValue::Count(4));
    assert_eq!(counter("l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum"), MetricValue::Count(4));
}

#[test]
fn queries_return_the_shape() {
    let queries = include_str!("data/texture_queries.ptx");
    for (mut device, texture_kernel, of_texture, surface_kernel, of_surface) in [
        (Device::new(), "query_texture", [8, 4, 0, 0], "query_surface", [8, 4, 0, 0]),
        (Device::with("texture_queries.ptx", queries), "texture", [3, 0, 8, 0], "surface", [3, 4, 0, 0]),
    ] {
        let levels = ArrayShape { levels: 3, ..plane(8, 4) };
        let texture = device.texture(levels, &modes(AddressMode::Clamp, true, Filter::Point));
        assert_eq!(device.launch(texture_kernel, texture, &[[0; 4]]).unwrap().0, [of_texture]);
        let array = device.memory.allocate_array(&ArrayShape { layers: 3, ..plane(8, 4) }).unwrap();
        let surface = device.memory.create_surface(array).unwrap();
        assert_eq!(device.launch(surface_kernel, surface, &[[0; 4]]).unwrap().0, [of_surface]);
    }
}

#[test]
fn faults_say_what_is_wrong() {
    let mut device = Device::new();
    let sampling = Sampling::default();
    let texture = device.texture(plane(8, 4), &sampling);
    assert_eq!(
        device.fault("fetch_2d_f32_f32", 12, [0; 4]),
        "0xc is not a texture: it was never created, or was destroyed"
    );
    assert_eq!(device.fault("fetch_3d_f32_f32", texture, [0; 4]), "a .3d instruction on an object of 2 dimensions");
    assert_eq!(device.fault("fetch_a2d_f32_f32", texture, [0; 4]), "a .a2d instruction on an object of 2 dimensions");
    device.memory.destroy_texture(texture).unwrap();
    assert!(device.fault("fetch_2d_f32_f32", texture, [0; 4]).ends_with("was destroyed"));
    assert_eq!(device.memory.destroy_texture(texture), Err(TextureError::NoObject(texture)));
    let array = device.ramp(plane(8, 4));
    let surface = device.memory.create_surface(array).unwrap();
    assert_eq!(
        device.fault("load_2d_trap", surface, [32, 1, 0, 0]),
        "coordinates [32, 1, 0] outside a surface of [8, 4, 0] elements (x in bytes)"
    );
    assert_eq!(
        device.fault("load_2d_zero", surface, [8, 1, 0, 0]),
        "surface access of 16 bytes at byte 8 of a row: not a multiple of 16"
    );
    device.memory.free_array(array).unwrap();
    let fault = device.fault("load_2d_zero", surface, [0; 4]);
    assert!(fault.starts_with("use after free: read of 16 bytes"), "{fault}");
    assert_eq!(device.memory.free_array(array), Err(TextureError::Freed));
}

#[test]
fn what_a_gpu_does_not_have_is_refused() {
    let mut memory = Memory::new(1 << 20);
    let mut array = |shape: ArrayShape| memory.allocate_array(&shape).map(drop).map_err(|error| error.to_string());
    assert!(array(plane(0, 4)).unwrap_err().contains("it is empty"));
    assert!(array(ArrayShape { depth: 2, layers: 2, ..plane(4, 4) }).unwrap_err().contains("one or two dimensions"));
    assert!(array(plane(200_000, 1)).unwrap_err().contains("131072"));
    assert!(array(ArrayShape { levels: 5, ..plane(8, 4) }).unwrap_err().contains("1 to 4 are allowed"));
    assert!(array(plane(1024, 1024)).unwrap_err().contains("out of device memory"));
    let three = TexelFormat { channels: 3, ty: ChannelType::F32 };
    assert!(array(ArrayShape::of(three)).unwrap_err().contains("not 3"));

    let whole = TexelFormat { channels: 1, ty: ChannelType::U32 };
    let whole = memory.allocate_array(&ArrayShape { width: 4, height: 4, ..ArrayShape::of(whole) }).unwrap();
    let levels = memory.allocate_array(&ArrayShape { levels: 2, ..plane(4, 4) }).unwrap();
    let address = memory.allocate(4096).unwrap();
    let refused =
        |memory: &mut Memory, source, sampling: Sampling| memory.create_texture(&source, &sampling).unwrap_err();
    let linear = Sampling { filter: Filter::Linear, ..Sampling::default() };
    let (array, float) = (TextureSource::Array, ReadMode::NormalizedFloat);
    assert_eq!(refused(&mut memory, array(whole), linear), TextureError::FilterNeedsFloats);
    let floats = Sampling { read_mode: float, ..Sampling::default() };
    assert_eq!(refused(&mut memory, array(whole), floats), TextureError::NotNormalizable);
    assert_eq!(refused(&mut memory, array(levels), Sampling::default()), TextureError::LevelsNeedNormalized);
    let source = TextureSource::Linear { address, texels: 16, format: FLOAT };
    assert_eq!(refused(&mut memory, source, linear), TextureError::LinearMemory);
    let source = TextureSource::Linear { address, texels: 1025, format: FLOAT };
    assert!(matches!(refused(&mut memory, source, Sampling::default()), TextureError::Memory(_)));
    let source = TextureSource::Pitched { address, width: 100, height: 2, pitch: 384, format: FLOAT };
    assert_eq!(refused(&mut memory, source, Sampling::default()), TextureError::Pitch { row: 400, pitch: 384 });
    assert_eq!(memory.write_array(whole, 0, &[0; 3]), Err(TextureError::Length { expected: 64, given: 3 }));
    assert_eq!(memory.write_array(whole, 1, &[]), Err(TextureError::NoLevel { level: 1, levels: 1 }));
}

#[test]
fn references_are_bound_by_the_host() {
    let text = "
.version 7.8
.target sm_75
.address_size 64
.global .texref image;
.global .samplerref smooth = { addr_mode_0 = clamp_to_border, addr_mode_1 = wrap, filter_mode = linear };
.visible .entry both(.param .texref given, .param .u64 out) {
    .reg .b32 %f<10>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.b32 %f1, 0f3F000000;
    tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, {%f1, %f1}];
    tex.2d.v4.f32.f32 {%f6, _, _, _}, [given, smooth, {%f1, %f1}];
    mov.u64 %rd2, image;
    tex.2d.v4.f32.f32 {%f7, _, _, _}, [%rd2, {%f1, %f1}];
    st.global.v4.b32 [%rd1], {%f2, %f6, %f7, %f5};
    ret;
}";
    let module = ptx::parse("references.ptx", text).unwrap();
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let mut device = Device { memory, program, checks: Checks::NONE };
    let texture = device.texture(plane(8, 4), &modes(AddressMode::Clamp, true, Filter::Point));
    assert!(device.program.bind(&mut device.memory, "image", texture));
    assert!(!device.program.bind(&mut device.memory, "no_image", texture));
    let out = device.memory.allocate(16).unwrap();
    let arguments = [texture, out].map(u64::to_le_bytes);
    let arguments: Vec<&[u8]> = arguments.iter().map(|bytes| bytes.as_slice()).collect();
    let launch = Launch { kernel: "both", arguments: &arguments, ..Launch::default() };
    device.program.launch(&device.memory, &launch).unwrap();
    let mut bytes = [0; 16];
    device.memory.read(out, &mut bytes).unwrap();
    let found: Vec<f32> = bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
    // The sampler mixes the four texels around the middle.
    assert_eq!(found, [20.0, (11.0 + 12.0 + 19.0 + 20.0) / 4.0, 20.0, 0.0]);
}

#[test]
fn texels_without_weight_may_be_unwritten() {
    let mut device = Device::new();
    device.checks = Checks::ALL;
    // Of two rows of eight texels, the left halves are written.
    let address = device.memory.allocate(64).expect("there is room");
    for row in 0..2 {
        device.memory.write(address + 32 * row, bytemuck::bytes_of(&[1.0f32; 4])).expect("allocated");
    }
    let source = TextureSource::Pitched { address, width: 8, height: 2, pitch: 32, format: FLOAT };
    let linear = Sampling { filter: Filter::Linear, ..Sampling::default() };
    let texture = device.memory.create_texture(&source, &linear).expect("can be read so");
    let found = |device: &mut Device, x: f32, y: f32| {
        let (_, report) =
            device.launch("fetch_2d_f32_f32", texture, &[[x.to_bits(), y.to_bits(), 0, 0]]).expect("no fault");
        report.findings().iter().map(|finding| (finding.kind.name(), finding.kind.address())).collect::<Vec<_>>()
    };
    // In the middle of the last written texel its neighbour has no weight, but half a texel further
    // to the right.
    assert_eq!(found(&mut device, 3.5, 0.5), []);
    assert_eq!(found(&mut device, 4.0, 0.5), [("unwritten", Some(address + 16))]);
    // Each texel is reported once.
    assert_eq!(found(&mut device, 4.0, 1.0), [("unwritten", Some(address + 48))]);
}
