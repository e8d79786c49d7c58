//! Demangles names of kernels and variables, and finds a symbol by a name that a user types:
//! `saxpy(float, float const*, float*)` is `_Z5saxpyfPKfPf`. Pure.
//!
//! PTX has the mangled names of C++ and Rust. Messages and tables show demangled names, and a
//! command line can accept either ([`find`]). JSON has the symbol exactly as in the PTX, so that
//! programs can compare it.

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// Longer symbols are not demangled, and longer results are discarded: a hostile symbol of a few
/// bytes can stand for gigabytes.
const LONGEST: usize = 16 << 10;

/// Characters of a name in a list of names.
const IN_A_LIST: usize = 120;

/// A demangled name that is not too long.
#[derive(Default)]
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The demangled name of a symbol of C++ or Rust. `None` if it is neither.
pub fn demangled(symbol: &str) -> Option<String> {
    rust(symbol).or_else(|| cpp(symbol, &DemangleOptions::new()))
}

/// The name to show: the demangled one if there is one, without ABI tags, with which numba marks
/// versions, and with Python's `<locals>`, which numba writes with digits. A mangled name can hold
/// any character. What nobody would read to its end is cut in its middle.
pub fn shown(symbol: &str) -> Cow<'_, str> {
    let name = demangled(symbol).map_or(Cow::Borrowed(symbol), |name| {
        Cow::Owned(wording::printable(&without_tags(&name).replace("::_3clocals_3e::", "::<locals>::")))
    });
    // Each character has a byte at least.
    if name.len() > 400 { Cow::Owned(wording::readable(&name)) } else { name }
}

/// A demangled name without `[abi:v1]`.
fn without_tags(name: &str) -> String {
    let (mut rest, mut text) = (name, String::new());
    while let Some((before, after)) = rest.split_once("[abi:") {
        text += before;
        rest = after.split_once(']').map_or("", |(_, after)| after);
    }
    text + rest
}

fn rust(symbol: &str) -> Option<String> {
    if symbol.len() > LONGEST {
        return None;
    }
    let found = rustc_demangle::try_demangle(symbol).ok()?;
    let mut name = Limited::default();
    write!(name, "{found:#}").ok()?;
    // Rust's legacy mangling is C++'s plus a hash at the end, which this format omits.
    let mut with_hash = Limited::default();
    write!(with_hash, "{found}").ok()?;
    (symbol.starts_with("_R") || name.0 != with_hash.0).then_some(name.0)
}

fn cpp(symbol: &str, options: &DemangleOptions) -> Option<String> {
    if !symbol.starts_with("_Z") || symbol.len() > LONGEST {
        return None;
    }
    let mut name = Limited::default();
    Symbol::new(symbol).ok()?.structured_demangle(&mut name, options).ok()?;
    Some(name.0)
}

/// Which of a module's symbols a name means.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// Exactly one.
    One(&'a str),
    /// Several: the name is ambiguous.
    Several(Vec<&'a str>),
    /// None.
    None,
}

/// Finds the symbol that `wanted` names: by the symbol itself, its demangled name, or that name
/// without parameters, template arguments or namespaces if only one symbol matches. White space is
/// ignored.
pub fn find<'a>(wanted: &str, symbols: &[&'a str]) -> Found<'a> {
    if let Some(symbol) = symbols.iter().find(|&&symbol| symbol == wanted) {
        return Found::One(symbol);
    }
    let wanted = without_spaces(wanted);
    let matching =
        |is_name: &dyn Fn(&str) -> bool| symbols.iter().copied().filter(|symbol| is_name(symbol)).collect::<Vec<_>>();
    let mut found = matching(&|symbol| demangled(symbol).is_some_and(|name| without_spaces(&name) == wanted));
    if found.is_empty() {
        found = matching(&|symbol| short_names(symbol).iter().any(|name| without_spaces(name) == wanted));
    }
    match *found {
        [] => Found::None,
        [one] => Found::One(one),
        _ => Found::Several(found),
    }
}

/// A list of the first few of these symbols, by their demangled names, with `mangled` also as in
/// the PTX.
pub fn listed<'a>(symbols: impl Iterator<Item = &'a str>, also_symbols: bool) -> String {
    /// How many names an error lists.
    const NAMED: usize = 8;
    let names: Vec<String> = symbols
        .map(|symbol| match demangled(symbol) {
            Some(name) if also_symbols => format!("{symbol} ({})", cut(&name)),
            Some(name) => cut(&name),
            None => symbol.to_owned(),
        })
        .collect();
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Why a kernel cannot be used: the file has none of this name, but these.
pub fn not_among(file: &str, kernels: &[&str]) -> String {
    match kernels {
        [] => format!("is not in {file}, which has no kernels"),
        _ => format!("is not in {file}, which has {}", listed(kernels.iter().copied(), false)),
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(IN_A_LIST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn without_spaces(name: &str) -> String {
    name.split_whitespace().collect()
}

/// Shorter forms of a demangled name: `ns::add<float>`, `ns::add`, `add<float>` and `add` for `void
/// ns::add<float>(float*)`.
fn short_names(symbol: &str) -> Vec<String> {
    let Some(name) = rust(symbol).or_else(|| cpp(symbol, &DemangleOptions::new().no_params().no_return_type())) else {
        return Vec::new();
    };
    let plain = without_templates(&name);
    let last = [last_component(&name).to_owned(), last_component(&plain).to_owned()];
    [name, plain].into_iter().chain(last).filter(|name| !name.is_empty()).collect()
}

fn without_templates(name: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The part after the last `::` outside brackets.
fn last_component(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_cpp_and_rust_are_demangled() {
        assert_eq!(demangled("_Z5saxpyfPKfPf").as_deref(), Some("saxpy(float, float const*, float*)"));
        assert_eq!(demangled("_ZN2ns12coefficientsE").as_deref(), Some("ns::coefficients"));
        assert_eq!(demangled("_ZN4tiny3add17h0123456789abcdefE").as_deref(), Some("tiny::add"));
        assert_eq!(
            demangled("_RNvNvCsedjycmyLaww_4tiny12local_static3BUF").as_deref(),
            Some("tiny::local_static::BUF")
        );
        for symbol in ["saxpy", "_Z", "_ZZZZ", "_R", "", "$str$1", "_Z5saxpyfPKfPf é"] {
            assert_eq!(demangled(symbol), None, "{symbol}");
            assert_eq!(shown(symbol), symbol);
        }
    }

    #[test]
    fn numbas_names_are_those_of_the_source() {
        assert_eq!(shown("_ZN8__main__4make12_3clocals_3e4copyB2v1Ev"), "__main__::make::<locals>::copy()");
    }

    #[test]
    fn a_name_without_an_end_is_cut() {
        let name = shown(&"k".repeat(60_000)).into_owned();
        assert!(name.starts_with("kkk") && name.contains("...") && name.len() < 400, "{name}");
    }

    #[test]
    fn a_name_does_not_turn_what_follows() {
        assert_eq!(shown("_ZN9a$u202e$b17h0123456789abcdefE"), "a\\u{202e}b");
    }

    #[test]
    fn a_hostile_symbol_stays_as_it_is() {
        // Each substitution doubles the length of the one before.
        let doubling: String = (0..60).map(|i| format!("S{}_S{}_", i % 10, i % 10)).collect();
        for symbol in
            [format!("_Z1fI{}E", "P".repeat(100_000)), format!("_Z1fSt{doubling}"), format!("_Z{}", "N".repeat(9000))]
        {
            assert!(shown(&symbol).len() <= LONGEST.max(symbol.len()));
        }
    }

    #[test]
    fn a_name_is_found_where_it_is_the_only_one() {
        let symbols = ["_Z5saxpyfPKfPf", "_Z3addIfEvPT_", "_Z3addIiEvPT_", "_ZN2ns4scanEPf", "plain"];
        let found = |name| find(name, &symbols);
        for (name, symbol) in [
            ("plain", "plain"),
            ("saxpy", "_Z5saxpyfPKfPf"),
            ("_Z5saxpyfPKfPf", "_Z5saxpyfPKfPf"),
            ("saxpy(float,float const*,float*)", "_Z5saxpyfPKfPf"),
            ("add<float>", "_Z3addIfEvPT_"),
            ("void add<int>(int*)", "_Z3addIiEvPT_"),
            ("ns::scan", "_ZN2ns4scanEPf"),
            ("scan", "_ZN2ns4scanEPf"),
        ] {
            assert_eq!(found(name), Found::One(symbol), "{name}");
        }
        assert_eq!(found("add"), Found::Several(vec!["_Z3addIfEvPT_", "_Z3addIiEvPT_"]));
        for name in ["sax", "", "ns", "saxpy()"] {
            assert_eq!(found(name), Found::None, "{name}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(["a", "b"].into_iter(), false), "a, b");
        assert_eq!(listed(["x"; 10].into_iter(), false), "x, x, x, x, x, x, x, x and 2 more");
        assert_eq!(listed(["_Z1kv"].into_iter(), true), "_Z1kv (k())");
    }
}
