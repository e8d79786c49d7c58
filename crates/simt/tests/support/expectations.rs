//! Tests as text: a `.ptx` file whose comments say what to run and what the results must be.
//!
//! Nothing here knows of a device, so that the same files can run on the simulator and on a GPU.
//!
//! ```text
//! // run: add block=4 grid=1
//! // in: u32 1 2 3 4
//! // in: u32 10x4
//! // out: u32 11 12 13 14
//! ```
//!
//! - `run: KERNEL` starts a test; `grid=X,Y,Z`, `block=X,Y,Z`, `cluster=X,Y,Z`, `shared=BYTES`
//!   (dynamic) and `steps=N` follow it. `cooperative`: all blocks are resident at once. `simulator`
//!   marks what PTX leaves undefined but the simulator defines: not for GPUs.
//! - Then the parameters, in order: `in: TYPE VALUES` is a buffer, `out: TYPE VALUES` a buffer with
//!   these expected contents (it is poisoned before), `inout: TYPE VALUES -> VALUES` both, `arg:
//!   TYPE VALUE` a value, and `bytes: TYPE VALUES` an aggregate passed by value. `unwritten: BYTES`
//!   and `freed: BYTES` are a buffer that is never written, and one that the host has freed.
//!   `texture: TYPE WxH VALUES` is a texture of an array, `surface: ...` a surface; for VALUES
//!   there may be `unwritten` and `freed`, too. These four are not for GPUs.
//! - `tensor: MAP VALUES` is a tensor in a buffer of these values, and the argument its map, by
//!   value; `tensor: MAP VALUES -> VALUES` says what the buffer must hold at the end. `tensor_at:
//!   ...` passes the address of a map in device memory. MAP is as `f32[64x32],box:32x8`: see
//!   `crates/simt/src/tensor_map/text.rs`.
//! - `trap: TEXT`: the simulator stops the launch with this text. `error: TEXT`: it rejects it. Not
//!   for GPUs.
//! - `prints: TEXT`: a line that the threads print; all of them in order are the whole output. Not
//!   for GPUs.
//! - `check: NAMES`: the checks to enable (`all`, or names separated by commas), and one `finding:
//!   TEXT` for each expected finding, in order; without any, nothing may be found. Not for GPUs.
//! - `blamed: KIND`, once for each kind of finding that the sanitizer reports for a third-party
//!   program, for one variant of its PTX if named (`blamed: KIND debug`). None means no findings.
//! - `count: NAME VALUE`: the simulator's counter of that name. Not for GPUs.
//! - `modelled: NAME VALUE`: the Hopper model's counter of that name. Not for GPUs.
//! - Values: `7`, `-1`, `0x1f`, `1.5`, `nan`, `7x32` (32 times), `0..32`, `*` (anything), `@3` (the
//!   third line of a file beside the program that holds its long lists).

/// One launch, and its expected outcome.
#[derive(Clone, Debug, Default)]
pub struct Test {
    pub line: usize,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: Option<[u32; 3]>,
    pub shared: u32,
    pub cooperative: bool,
    pub steps: Option<u64>,
    pub simulator_only: bool,
    pub parameters: Vec<Parameter>,
    pub trap: Option<String>,
    pub error: Option<String>,
    pub prints: Vec<String>,
    pub counts: Vec<(String, u64)>,
    pub modelled: Vec<(String, u64)>,
    pub check: Option<String>,
    pub findings: Vec<String>,
    pub blamed: Vec<String>,
}

/// An argument of a launch.
#[derive(Clone, Debug)]
#[allow(dead_code)] // the host's tests leave arrays and bare buffers out
pub enum Parameter {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// A buffer: its bytes at the start, and at the end if they matter (`None`: this byte may be
    /// anything).
    Buffer { before: Vec<u8>, after: Option<Vec<Option<u8>>> },
    /// A buffer of this size that is never written, or that is freed before the launch.
    Bare { bytes: u64, freed: bool },
    /// A tensor's map, as text, by value or by address; and the buffer that the tensor is in.
    Tensor { map: String, by_address: bool, before: Vec<u8>, after: Option<Vec<Option<u8>>> },
    /// A texture, or a surface, of an array.
    Array { ty: String, extent: [u32; 2], texels: Texels, is_surface: bool },
}

/// The contents of an array.
#[derive(Clone, Debug)]
#[allow(dead_code)]
pub enum Texels {
    Bytes(Vec<u8>),
    Unwritten,
    /// It is freed before the launch.
    Freed,
}

/// Compares an output with what it should hold. Returns what is wrong, eight bytes around the first
/// difference.
pub fn compare(index: usize, found: &[u8], wanted: &[Option<u8>]) -> Result<(), String> {
    let differs = |(wanted, byte): (&Option<u8>, &u8)| wanted.is_some_and(|wanted| wanted != *byte);
    let Some(at) = wanted.iter().zip(found).position(differs) else { return Ok(()) };
    let range = at & !7..found.len().min((at & !7) + 8);
    let wanted: Vec<u8> = wanted[range.clone()].iter().map(|byte| byte.unwrap_or(0)).collect();
    Err(format!("output {index}, bytes {range:?}: {:02x?}, not {wanted:02x?}", &found[range.clone()]))
}

/// What an output holds before the launch.
pub const POISON: u8 = 0xa5;

/// The tests of a file. `lists`: the file beside it that has its long lists of values, one in a
/// line.
pub fn parse(text: &str, lists: &str) -> Result<Vec<Test>, String> {
    let mut tests: Vec<Test> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((directive, rest)) = line.strip_prefix("// ").and_then(|line| line.split_once(": ")) else { continue };
        let fail = |what: &str| format!("line {}: {what}: {line}", index + 1);
        if directive == "run" {
            tests.push(run(index + 1, rest).map_err(|what| fail(&what))?);
            continue;
        }
        const KNOWN: [&str; 19] = [
            "in",
            "out",
            "inout",
            "arg",
            "bytes",
            "unwritten",
            "freed",
            "texture",
            "surface",
            "tensor",
            "tensor_at",
            "trap",
            "error",
            "prints",
            "count",
            "modelled",
            "check",
            "finding",
            "blamed",
        ];
        if !KNOWN.contains(&directive) {
            continue;
        }
        let test = tests.last_mut().ok_or_else(|| fail("no `run:` before it"))?;
        match directive {
            "trap" => test.trap = Some(rest.to_string()),
            "error" => test.error = Some(rest.to_string()),
            "check" => test.check = Some(rest.to_string()),
            "finding" => test.findings.push(rest.to_string()),
            "blamed" => test.blamed.push(rest.to_string()),
            "prints" => test.prints.push(rest.to_string()),
            "count" | "modelled" => {
                let (name, value) = rest.split_once(' ').ok_or_else(|| fail("a name and a value are needed"))?;
                let counts = if directive == "count" { &mut test.counts } else { &mut test.modelled };
                counts.push((name.into(), value.parse().map_err(|_| fail("not a number"))?));
            }
            _ => {
                let parameter = with_lists(rest, lists).and_then(|rest| parameter(directive, &rest));
                test.parameters.push(parameter.map_err(|what| fail(&what))?);
            }
        }
    }
    Ok(tests)
}

/// Replaces references to lists by the lists.
fn with_lists(text: &str, lists: &str) -> Result<String, String> {
    let word = |word: &str| {
        let Some(number) = word.strip_prefix('@') else { return Ok(word.to_string()) };
        let list = number.parse::<usize>().ok().and_then(|number| lists.lines().nth(number.checked_sub(1)?));
        list.map(str::to_string).ok_or(format!("there is no list {word}"))
    };
    let words: Result<Vec<String>, String> = text.split(' ').map(word).collect();
    Ok(words?.join(" "))
}

fn run(line: usize, text: &str) -> Result<Test, String> {
    let mut words = text.split_whitespace();
    let kernel = words.next().ok_or("no kernel")?.to_string();
    let mut test = Test { line, kernel, grid: [1; 3], block: [1; 3], ..Test::default() };
    for word in words {
        match word {
            "simulator" => test.simulator_only = true,
            "cooperative" => test.cooperative = true,
            _ => {}
        }
        if matches!(word, "simulator" | "cooperative") {
            continue;
        }
        let (key, value) = word.split_once('=').ok_or("not `key=value`")?;
        let number = |value: &str| value.parse::<u32>().map_err(|_| "not a number".to_string());
        let triple = || -> Result<[u32; 3], String> {
            let mut dimensions = [1; 3];
            for (place, part) in dimensions.iter_mut().zip(value.split(',')) {
                *place = number(part)?;
            }
            Ok(dimensions)
        };
        match key {
            "grid" => test.grid = triple()?,
            "block" => test.block = triple()?,
            "shared" => test.shared = number(value)?,
            "cluster" => test.cluster = Some(triple()?),
            "steps" => test.steps = Some(number(value)?.into()),
            _ => return Err(format!("unknown key `{key}`")),
        }
    }
    Ok(test)
}

fn parameter(directive: &str, text: &str) -> Result<Parameter, String> {
    if directive == "unwritten" || directive == "freed" {
        let bytes = text.parse().map_err(|_| "not a number of bytes")?;
        return Ok(Parameter::Bare { bytes, freed: directive == "freed" });
    }
    let (mut ty, values) = text.split_once(' ').ok_or("a type and values are needed")?;
    let map = ty;
    if directive.starts_with("tensor") {
        // Types without literals of their own are written as numbers.
        ty = match ty.split_once('[').map_or(ty, |(ty, _)| ty) {
            "bf16" => "u16",
            "f32ftz" | "tf32" | "tf32ftz" => "f32",
            ty => ty,
        };
    }
    let known = |bytes: Vec<Option<u8>>| -> Result<Vec<u8>, String> {
        bytes.into_iter().map(|byte| byte.ok_or("`*` is for outputs".to_string())).collect()
    };
    Ok(match directive {
        "in" => Parameter::Buffer { before: known(bytes(ty, values)?)?, after: None },
        "out" => {
            let after = bytes(ty, values)?;
            Parameter::Buffer { before: vec![POISON; after.len()], after: Some(after) }
        }
        "inout" => {
            let (before, after) = values.split_once("->").ok_or("no `->`")?;
            let (before, after) = (known(bytes(ty, before)?)?, bytes(ty, after)?);
            Parameter::Buffer { before, after: Some(after) }
        }
        "tensor" | "tensor_at" => {
            let (before, after) = match values.split_once("->") {
                Some((before, after)) => (before, Some(bytes(ty, after)?)),
                None => (values, None),
            };
            let by_address = directive == "tensor_at";
            Parameter::Tensor { map: map.into(), by_address, before: known(bytes(ty, before)?)?, after }
        }
        "texture" | "surface" => {
            let (extent, values) = values.split_once(' ').ok_or("an extent and values are needed")?;
            let (width, height) = extent.split_once('x').ok_or("not WxH")?;
            let number = |text: &str| text.parse::<u32>().map_err(|_| format!("not an extent: {extent}"));
            let texels = match values {
                "unwritten" => Texels::Unwritten,
                "freed" => Texels::Freed,
                _ => Texels::Bytes(known(bytes(ty, values)?)?),
            };
            let extent = [number(width)?, number(height)?];
            Parameter::Array { ty: ty.into(), extent, texels, is_surface: directive == "surface" }
        }
        _ => Parameter::Value(known(bytes(ty, values)?)?),
    })
}

/// The bytes of a list of values; those of `*` are `None`.
fn bytes(ty: &str, text: &str) -> Result<Vec<Option<u8>>, String> {
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        let hexadecimal = word.starts_with("0x");
        if let Some((from, to)) = word.split_once("..") {
            let parse = |text: &str| text.parse::<i64>().map_err(|_| format!("not a range: {word}"));
            for value in parse(from)?..parse(to)? {
                all.extend(one(ty, &value.to_string())?);
            }
        } else if let Some((value, times)) =
            word.rsplit_once('x').filter(|_| !hexadecimal || word.matches('x').count() > 1)
        {
            let value = one(ty, value)?;
            for _ in 0..times.parse::<usize>().map_err(|_| format!("not a number of times: {word}"))? {
                all.extend_from_slice(&value);
            }
        } else {
            all.extend(one(ty, word)?);
        }
    }
    Ok(all)
}

fn one(ty: &str, word: &str) -> Result<Vec<Option<u8>>, String> {
    let width = match ty {
        "u8" | "s8" => 1,
        "u16" | "s16" | "f16" => 2,
        "u32" | "s32" | "f32" => 4,
        "u64" | "s64" | "f64" => 8,
        _ => return Err(format!("unknown type `{ty}`")),
    };
    if word == "*" {
        return Ok(vec![None; width]);
    }
    let wrong = || format!("not a value of {ty}: {word}");
    let bits = if let Some(digits) = word.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).map_err(|_| wrong())?
    } else {
        match ty {
            "f32" if word == "nan" => 0x7fff_ffff,
            "f32" => word.parse::<f32>().map_err(|_| wrong())?.to_bits().into(),
            "f64" => word.parse::<f64>().map_err(|_| wrong())?.to_bits(),
            _ => word.parse::<i128>().map_err(|_| wrong())? as u64,
        }
    };
    Ok(bits.to_le_bytes()[..width].iter().map(|&byte| Some(byte)).collect())
}
