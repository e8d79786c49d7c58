//! Whether the PTX takes a kernel's parameters for what its handle says: `cuda_std::signature` has
//! the signatures, `cuda_builder` puts the device's into the PTX.

use cuda_std::signature::Signature;
use wording::units::counted;

/// What stands before a signature, in the line that begins the definition.
const MARK: &str = "// coalesce: ";

/// The signature of a kernel, if it has one: PTX that `cuda_builder` did not make has none. The text
/// is what follows the kernel's name.
pub(crate) fn of_kernel(text: &str) -> Option<&str> {
    let line = text.strip_prefix('(')?.lines().next()?;
    line.trim_start_matches(')').trim_start().strip_prefix(MARK)
}

/// The signature of an exported variable in a PTX text, if it has one.
pub(crate) fn of_variable<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let definitions = text.lines().filter_map(|line| line.strip_prefix(".visible ."));
    definitions.filter_map(|line| line.split_once(MARK)).find_map(|(definition, signature)| {
        let declared = definition.split(['=', ';', '[']).next()?;
        (declared.split_whitespace().last() == Some(name)).then_some(signature)
    })
}

/// A parameter as a signature has it: name, type, and size and alignment in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Parameter<'t> {
    name: &'t str,
    ty: &'t str,
    layout: &'t str,
}

/// Divides a signature into the launches that the kernel allows, and its parameters.
fn divided(signature: &str) -> Option<(&str, Vec<Parameter<'_>>)> {
    let mut parts = signature.split(" | ");
    let launches = parts.next()?;
    let parameter = |part| {
        let (name, rest): (_, &str) = str::split_once(part, ": ")?;
        let (ty, layout) = rest.rsplit_once(' ')?;
        Some(Parameter { name, ty, layout })
    };
    Some((launches, parts.map(parameter).collect::<Option<_>>()?))
}

/// Compares a handle's signature with the one in the PTX that messages call `ptx`.
///
/// # Errors
///
/// What differs, and what to do.
pub(crate) fn compare(host: &str, device: &str, ptx: &str) -> Result<(), String> {
    const ADVICE: &str = "build the PTX anew, from the same sources and with the same features; if it is new, a `cfg` or a \
                          cargo feature that only one side has tells the two apart";
    let (Some((host_launches, host)), Some((device_launches, device))) = (divided(host), divided(device)) else {
        return Err(format!("its signature in {ptx} cannot be read; {ADVICE}"));
    };
    if host_launches != device_launches {
        return Err(format!("is `{host_launches}` for the host, but `{device_launches}` in {ptx}; {ADVICE}"));
    }
    for (index, (host, device)) in host.iter().zip(&device).enumerate() {
        if canonical(host.ty) != canonical(device.ty) || host.layout != device.layout {
            let place = match host_launches {
                Signature::STATIC => String::new(),
                _ => format!("parameter {index}, `{}`, ", host.name),
            };
            return Err(format!("{place}is {} for the host, but {} in {ptx}; {ADVICE}", shown(host), shown(device)));
        }
    }
    if host.len() != device.len() {
        let [host, device] = [host.len(), device.len()].map(|count| counted(count as u64, "parameter"));
        return Err(format!("has {host} for the host, but {device} in {ptx}; {ADVICE}"));
    }
    Ok(())
}

/// A parameter's type with its layout, for messages.
fn shown(parameter: &Parameter<'_>) -> String {
    let Parameter { ty, layout, .. } = parameter;
    let (size, alignment) = layout.split_once('/').unwrap_or((layout, "?"));
    let each = if ty.ends_with(['>', ']']) || ty.starts_with('*') { " each" } else { "" };
    format!("`{ty}` ({size} bytes{each}, aligned to {alignment})")
}

/// A type's name without what differs between versions of the compiler: where the standard library
/// has a type, and the names of its atomic and nonzero integers.
fn canonical(name: &str) -> String {
    let in_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let path = &rest[..rest.find(|c| !in_path(c)).unwrap_or(rest.len())];
        if path.is_empty() {
            let other = rest.chars().next().unwrap_or_default();
            out.push(other);
            rest = &rest[other.len_utf8()..];
            continue;
        }
        rest = &rest[path.len()..];
        let of_library = ["core::", "std::", "alloc::"].iter().any(|library| path.starts_with(library));
        let last = path.rsplit("::").next().unwrap_or(path);
        let family = ["Atomic", "NonZero"].into_iter().find_map(|family| Some((family, last.strip_prefix(family)?)));
        match family {
            Some((family, number)) if of_library && !number.is_empty() => {
                out.push_str(&format!("{family}<{}>", number.to_lowercase()));
            }
            _ => out.push_str(if of_library { last } else { path }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_stands_in_the_line_that_begins_the_kernel() {
        let adder = "(\t// coalesce: safe | x: u32 4/4\n\t.param .u32 adder_param_0\n)\n";
        assert_eq!(of_kernel(adder), Some("safe | x: u32 4/4"));
        assert_eq!(of_kernel("()\t// coalesce: unsafe\n{\n}\n"), Some("unsafe"));
        assert_eq!(of_kernel("(\n)\n// coalesce: unsafe\n"), None);
    }

    #[test]
    fn a_variable_has_one_too() {
        let ptx = ".visible .const .align 4 .b8 TABLE[4] = {0, 0};\t// coalesce: static | value: f32 4/4\n\
                   .visible .global .align 4 .u32 COUNT = 7;\t// coalesce: static | value: u32 4/4\n\
                   .visible .entry TABLE2(\t// coalesce: safe\n.const .align 4 .u32 HIDDEN;\n";
        assert_eq!(of_variable(ptx, "TABLE"), Some("static | value: f32 4/4"));
        assert_eq!(of_variable(ptx, "COUNT"), Some("static | value: u32 4/4"));
        for name in ["HIDDEN", "TABLE2", "ABLE", ""] {
            assert_eq!(of_variable(ptx, name), None, "{name}");
        }
    }

    #[track_caller]
    fn difference(host: &str, device: &str) -> String {
        let line = compare(host, device, "k.ptx").unwrap_err();
        line.split_once("; build the PTX anew, from the same sources and with the same features").unwrap().0.to_owned()
    }

    #[test]
    fn what_differs_is_named() {
        let host = "safe linear | a: f32 4/4 | x: &[k::Real] 4/4";
        compare(host, host, "k.ptx").unwrap();
        // Names of parameters are no part of the agreement.
        compare(host, "safe linear | b: f32 4/4 | y: &[k::Real] 4/4", "k.ptx").unwrap();
        assert_eq!(
            difference(host, "safe | a: f32 4/4 | x: &[k::Real] 4/4"),
            "is `safe linear` for the host, but `safe` in k.ptx"
        );
        assert_eq!(
            difference(host, "safe linear | a: f32 4/4 | x: &[f64] 8/8"),
            "parameter 1, `x`, is `&[k::Real]` (4 bytes each, aligned to 4) for the host, but `&[f64]` (8 bytes each, \
             aligned to 8) in k.ptx"
        );
        assert_eq!(
            difference(host, "safe linear | a: u32 4/4 | x: &[k::Real] 4/4"),
            "parameter 0, `a`, is `f32` (4 bytes, aligned to 4) for the host, but `u32` (4 bytes, aligned to 4) in k.ptx"
        );
        assert!(
            difference(host, "safe linear | a: f32 4/4 | x: &[k::Real] 8/4").contains("(8 bytes each, aligned to 4)")
        );
        assert!(difference(host, "safe linear | a: f32 4/4 | x: &[k::Real] 4/2").contains("aligned to 2"));
        assert_eq!(
            difference(host, "safe linear | a: f32 4/4"),
            "has 2 parameters for the host, but 1 parameter in k.ptx"
        );
        for damaged in ["", "safe linear | a", "safe linear | a: f32", "safe | \u{e9}"] {
            let _ = difference(host, damaged);
        }
    }

    #[test]
    fn names_do_not_depend_on_the_compiler() {
        for (one, other) in [
            ("*mut core::sync::atomic::AtomicU32", "*mut core::sync::atomic::Atomic<u32>"),
            ("core::num::nonzero::NonZero<u8>", "core::num::NonZeroU8"),
            ("[core::num::wrapping::Wrapping<u32>; 4]", "[std::num::Wrapping<u32>; 4]"),
        ] {
            assert_eq!(canonical(one), canonical(other));
        }
        for name in ["f32", "[f32; 4]", "k::Atomic", "k::AtomicU32", "a::core::P<b::Q>", "core::cell::Cell<u32>"] {
            let same = canonical(name);
            assert_eq!(same == name, !name.starts_with("core::"), "{same}");
        }
        assert_ne!(canonical("a::P"), canonical("b::P"));
        assert_ne!(canonical("core::cell::Cell<u32>"), canonical("u32"));
    }
}
