//! One text of several, as a linker puts modules together: names that a text keeps to itself stay
//! its own, and so do the numbers of its source files. Pure.
//!
//! All texts must declare a function alike; the parser of the joined text refuses other parameters.
//! A function that returns something to one text and nothing to another is linked, as nvJitLink
//! does: the text that declares it wrongly calls a function with that prototype, which calls the
//! right one (`adapter`).

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use ptx::{Function, Handle, Linkage, Module, Space, Variable};

/// Several texts in one.
pub struct Joined {
    pub text: String,
    /// What the program does wrong, though it can be linked.
    pub warnings: Vec<String>,
}

/// One text of several: the header with the newest version, then the bodies, in order. Of a weak
/// function or variable that several define, the first is kept.
pub fn join(inputs: &[String]) -> Joined {
    if let [only] = inputs {
        return Joined { text: only.clone(), warnings: Vec::new() };
    }
    let Apart { texts: inputs, adapters, warnings } = apart(inputs);
    let number = |line: &str| -> Vec<u32> {
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let (mut version, mut target) = ("", "");
    let mut body = String::new();
    let mut weak = HashSet::new();
    let mut lines = inputs.iter().flat_map(|input| input.lines());
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        if start.starts_with(".version") {
            if version.is_empty() || number(start) > number(version) {
                version = start;
            }
        } else if start.starts_with(".target") {
            if target.is_empty() || number(start) > number(target) {
                target = start;
            }
        } else if start.starts_with(".weak .func") {
            let function = function(line, &mut lines);
            if !function.contains('{') || name_of(line).is_none_or(|name| weak.insert(name)) {
                body += &function;
            } else {
                // A declaration may be repeated, and must be the same.
                body.extend(tokens(&function).take_while(|token| *token != "{").chain([";\n"]));
            }
        } else if !start.starts_with(".address_size") && weak_variable(start).is_none_or(|name| weak.insert(name)) {
            body += line;
            body.push('\n');
        }
    }
    Joined { text: format!("{version}\n{target}\n.address_size 64\n{body}{adapters}"), warnings }
}

/// A text whose kernels have at most so many registers a thread, unless they say how many.
pub fn with_most_registers(text: &str, most: u32) -> String {
    let mut changed = String::with_capacity(text.len());
    // In the header of a kernel, which has no limit so far, and in a pragma of it.
    let (mut lacks, mut in_pragma) = (false, false);
    for token in tokens(text) {
        match token {
            ".entry" => lacks = true,
            ".maxnreg" => lacks = false,
            ".pragma" => in_pragma = true,
            ";" if in_pragma => in_pragma = false,
            "{" if lacks => {
                changed += &format!(" .maxnreg {most} ");
                lacks = false;
            }
            ";" => lacks = false,
            _ => {}
        }
        changed += token;
    }
    changed
}

/// The words, strings, comments, and other characters of a text.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = match rest.chars().next()? {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        Some(token)
    })
}

/// The name in the first line of a function: the word before its last parenthesis.
fn name_of(line: &str) -> Option<&str> {
    line.rsplit_once('(')?.0.split_whitespace().last()
}

/// The name of a weak variable that a line declares.
fn weak_variable(line: &str) -> Option<&str> {
    let is_whole =
        line.trim_end().ends_with(';') && [".weak .global", ".weak .const"].iter().any(|it| line.starts_with(it));
    is_whole.then(|| line.split(['[', '=', ';']).next()?.split_whitespace().last())?
}

/// A function from its first line on, to the end of its body or declaration.
fn function<'a>(first: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut depth) = (String::new(), 0);
    let mut line = Some(first);
    while let Some(now) = line {
        text += now;
        text.push('\n');
        let count = |brace| tokens(now).filter(|token| *token == brace).count();
        depth += count("{");
        let closed = count("}");
        depth = depth.saturating_sub(closed);
        if depth == 0 && (closed > 0 || now.trim_end().ends_with(';')) {
            break;
        }
        line = rest.next();
    }
    text
}

/// Texts that can stand in one.
#[derive(Default)]
struct Apart {
    texts: Vec<String>,
    /// Functions that stand behind them.
    adapters: String,
    warnings: Vec<String>,
}

/// The texts with names and file numbers that can stand in one. What cannot be parsed keeps its
/// names, and its errors are those of the link.
fn apart(inputs: &[String]) -> Apart {
    let modules: Vec<Option<Module>> = inputs.iter().map(|input| ptx::parse("part.ptx", input).ok()).collect();
    let names: Vec<HashMap<&str, bool>> =
        modules.iter().map(|module| module.as_ref().map_or_else(HashMap::new, names)).collect();
    let mut users: HashMap<&str, usize> = HashMap::new();
    names.iter().flat_map(HashMap::keys).for_each(|name| *users.entry(name).or_default() += 1);
    let defined = modules.iter().flatten().flat_map(|module| {
        let functions = module.functions.iter().map(|(_, function)| function);
        let seen = functions.filter(|it| it.body.is_some() && !it.is_kernel && it.linkage != Linkage::Internal);
        seen.map(move |function| (function.name.as_str(), (module, function)))
    });
    let defined: HashMap<&str, (&Module, &Function)> = defined.collect();
    let (mut apart, mut files) = (Apart::default(), 0);
    for (index, (input, names)) in inputs.iter().zip(&names).enumerate() {
        let mut renamed: HashSet<&str> = HashSet::new();
        renamed.extend(names.iter().filter(|(name, own)| **own && users[*name] > 1).map(|(name, _)| *name));
        let declared =
            modules[index].iter().flat_map(|module| module.functions.iter().map(move |(_, it)| (module, it)));
        for (module, function) in declared.filter(|(_, function)| function.body.is_none()) {
            let Some(definition) = defined.get(function.name.as_str()) else { continue };
            if let Some(adapter) = adapter((module, function), *definition, &format!("{}$part{index}", function.name)) {
                let bytes = |(module, function): (&Module, &Function)| match bytes_of(module, &function.results)[..] {
                    [] => "nothing".to_owned(),
                    [bytes, ..] => format!("{bytes} bytes"),
                };
                apart.warnings.push(format!(
                    "linker: `{}` returns {} where it is defined, and {} where it is declared; what it returns is lost \
                     or undefined",
                    function.name,
                    bytes(*definition),
                    bytes((module, function)),
                ));
                apart.adapters += &adapter;
                renamed.insert(&function.name);
            }
        }
        let is_label = |name: &str| index > 0 && name.starts_with("$L__info_string");
        let rename = |name: &str| (renamed.contains(name) || is_label(name)).then(|| format!("{name}$part{index}"));
        let (text, last) = changed(input, files, rename);
        files = files.max(last);
        apart.texts.push(text);
    }
    apart
}

/// The names of a text's functions and variables, and whether they are its own. Memory inside of
/// functions counts, too: it does no harm.
fn names(module: &Module) -> HashMap<&str, bool> {
    let functions = module.functions.iter().map(|(_, function)| (&function.name, function.linkage));
    let has_address = |space| matches!(space, Space::Global | Space::Constant | Space::Shared);
    let variables = module.variables.iter().filter(|(_, variable)| has_address(variable.space));
    let variables = variables.map(|(_, variable)| (&variable.name, variable.linkage));
    let own = |linkage| linkage == Linkage::Internal;
    functions.chain(variables).map(|(name, linkage)| (name.as_str(), own(linkage))).collect()
}

/// The sizes of parameters.
fn bytes_of(module: &Module, parameters: &[Handle<Variable>]) -> Vec<u64> {
    parameters.iter().map(|&parameter| module.variables[parameter].size.unwrap_or(0)).collect()
}

/// A function with the prototype of a declaration that calls the one that is defined, if all in
/// which they differ is that one of them returns nothing.
fn adapter(declared: (&Module, &Function), defined: (&Module, &Function), name: &str) -> Option<String> {
    let parameters = |(module, function): (&Module, &Function)| bytes_of(module, &function.parameters);
    let is_one_without = declared.1.results.is_empty() != defined.1.results.is_empty();
    if !is_one_without || parameters(declared) != parameters(defined) {
        return None;
    }
    let list = |module: &Module, parameters: &[Handle<Variable>], name: &str| -> Vec<String> {
        let of = |(index, &parameter): (usize, &Handle<Variable>)| {
            let Variable { align, size, .. } = module.variables[parameter];
            format!(".param .align {align} .b8 {name}{index}[{}]", size.unwrap_or(0))
        };
        parameters.iter().enumerate().map(of).collect()
    };
    let in_brackets = |list: &[String]| if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
    let (module, function) = declared;
    let mut text = format!(
        ".func {} {name}({})\n{{\n    .reg .b16 %half;\n    .reg .b32 %word;\n    .reg .b64 %pair;\n",
        in_brackets(&list(module, &function.results, "result")),
        list(module, &function.parameters, "given").join(", "),
    );
    let results = list(defined.0, &defined.1.results, "dropped");
    for line in list(defined.0, &defined.1.parameters, "passed").iter().chain(&results) {
        let _ = writeln!(text, "    {line};");
    }
    for (index, &parameter) in function.parameters.iter().enumerate() {
        let aligns =
            [(module, parameter), (defined.0, defined.1.parameters[index])].map(|(it, at)| it.variables[at].align);
        let bytes = module.variables[parameter].size.unwrap_or(0);
        let widths = [(8, "%pair"), (4, "%word"), (2, "%half"), (1, "%half")];
        let fits = |width: u64| bytes.is_multiple_of(width) && aligns.iter().all(|&align| u64::from(align) >= width);
        let (width, register) = widths.into_iter().find(|&(width, _)| fits(width))?;
        for at in (0..bytes).step_by(width as usize) {
            let bits = 8 * width;
            let _ = writeln!(text, "    ld.param.b{bits} {register}, [given{index}+{at}];");
            let _ = writeln!(text, "    st.param.b{bits} [passed{index}+{at}], {register};");
        }
    }
    let passed: Vec<String> = (0..function.parameters.len()).map(|index| format!("passed{index}")).collect();
    let dropped = if results.is_empty() { "" } else { "(dropped0), " };
    let _ = writeln!(text, "    call.uni {dropped}{}, ({});\n    ret;\n}}", defined.1.name, passed.join(", "));
    Some(text)
}

/// A text with other names, and with numbers of source files behind those of the texts before it.
/// Also the last of its numbers.
fn changed(text: &str, files: u64, rename: impl Fn(&str) -> Option<String>) -> (String, u64) {
    let (mut all, mut last) = (String::with_capacity(text.len()), files);
    let mut number_follows = false;
    for token in tokens(text) {
        match token.parse::<u64>() {
            Ok(number) if number_follows => {
                last = last.max(files + number);
                all += &(files + number).to_string();
            }
            _ => all += rename(token).as_deref().unwrap_or(token),
        }
        if !token.trim().is_empty() {
            number_follows = matches!(token, ".file" | ".loc" | "inlined_at");
        }
    }
    (all, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a function and a string of its own, and the kernel `name`.
    fn part(name: &str, factor: u32) -> String {
        format!(
            "\
.version 7.8
.target sm_75
.address_size 64
.global .align 1 .b8 $str[2] = {{65, 0}};
.func (.param .b32 r) scaled(.param .b32 a) {{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    .loc 1 {factor} 1, function_name $L__info_string0, inlined_at 1 2 3
    mul.lo.u32 %r2, %r1, {factor};
    st.param.b32 [r], %r2;
    ret;
}}
.visible .entry {name}(.param .u64 out) {{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, $str; // scaled
    mov.u32 %r1, 1;
    call.uni (%r2), scaled, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}}
.file 1 \"/scaled/{name}.cu\"
.section .debug_str {{
$L__info_string0:
.b8 115
.b8 0
}}
"
        )
    }

    #[test]
    fn what_texts_keep_to_themselves_does_not_clash() {
        let joined = join(&[part("one", 10), part("two", 20), part("three", 30)]).text;
        let module = ptx::parse("linked.ptx", &joined).map_err(|errors| errors.to_string()).unwrap();
        let functions: Vec<&str> = module.functions.iter().map(|(_, function)| function.name.as_str()).collect();
        assert_eq!(functions, ["scaled$part0", "one", "scaled$part1", "two", "scaled$part2", "three"]);
        for line in [
            "    .loc 1 10 1, function_name $L__info_string0, inlined_at 1 2 3",
            "    .loc 3 30 1, function_name $L__info_string0$part2, inlined_at 3 2 3",
            ".file 2 \"/scaled/two.cu\"",
            "    mov.u64 %rd2, $str$part1; // scaled",
            "    call.uni (%r2), scaled$part2, (%r1);",
        ] {
            assert!(joined.lines().any(|other| other == line), "{line}: {joined}");
        }
    }

    #[test]
    fn kernels_that_do_not_say_how_many_registers_they_have_get_a_limit() {
        let text = "\
// a .entry { in a comment
.visible .entry one(.param .u64 a)
.maxntid 64
{ ret; }
.entry two .maxnreg 40 { ret; } .entry three{ret;}
.extern .entry four();
.func five() { ret; }
/* .entry { */ .entry six(.param .u64 a) // one { or two; and no .maxnreg
    .pragma \"a { b; c\"; /* ; { */ .maxntid 64 {ret;}
";
        let limited = with_most_registers(text, 57);
        let expected =
            text.replace(".maxntid 64\n{", ".maxntid 64\n .maxnreg 57 {").replace("{ret;}", " .maxnreg 57 {ret;}");
        assert_eq!(limited, expected);
    }

    const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

    fn declaring(prototype: &str) -> String {
        format!("{HEADER}.extern .func {prototype};\n.visible .entry k() {{ ret; }}\n")
    }

    fn defining(prototype: &str) -> String {
        format!("{HEADER}{prototype} {{ ret; }}\n")
    }

    /// As nvJitLink links them, with a message.
    #[test]
    fn a_result_that_only_one_text_knows_is_no_obstacle() {
        for (declared, defined, says, calls) in [
            (
                "(.param .b32 r) f(.param .b32 a, .param .align 8 .b8 b[16])",
                "f(.param .b32 a, .param .align 4 .b8 b[16])",
                "returns nothing where it is defined, and 4 bytes where it is declared",
                "call.uni f, (passed0, passed1);",
            ),
            (
                "f()",
                "(.param .align 8 .b8 r[24]) f()",
                "returns 24 bytes where it is defined, and nothing where it is declared",
                "call.uni (dropped0), f, ();",
            ),
        ] {
            let parts = [declaring(declared), defining(&format!(".visible .func {defined}"))];
            for parts in [parts.clone(), [parts[1].clone(), parts[0].clone()]] {
                let Joined { text, warnings } = join(&parts);
                let module = ptx::parse("linked.ptx", &text).map_err(|errors| errors.to_string()).unwrap();
                assert!(module.functions.iter().all(|(_, function)| function.body.is_some()), "{text}");
                assert!(
                    warnings.len() == 1 && warnings[0].contains(says) && text.contains(calls),
                    "{warnings:?} {text}"
                );
            }
        }
    }

    #[test]
    fn other_parameters_or_results_are_refused() {
        let whole = "(.param .b32 r) f(.param .b32 a)";
        for other in ["(.param .b32 r) f(.param .b64 a)", "(.param .b32 r) f()", "(.param .b64 r) f(.param .b32 a)"] {
            for (first, linkage) in
                [(declaring(other), ".visible"), (defining(&format!(".weak .func {other}")), ".weak")]
            {
                let Joined { text, warnings } = join(&[first, defining(&format!("{linkage} .func {whole}"))]);
                let problem = ptx::parse("linked.ptx", &text).map(|_| ()).unwrap_err().to_string();
                assert!(problem.contains("`f` was declared differently before"), "{problem}");
                assert!(warnings.is_empty(), "{warnings:?}");
            }
        }
        let same = defining(&format!(".weak .func {whole}"));
        assert!(ptx::parse("linked.ptx", &join(&[same.clone(), same]).text).is_ok());
    }

    /// A name of one text alone stays, as does one that a text has from another.
    #[test]
    fn names_that_do_not_clash_stay() {
        let caller = "\
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 a);
.visible .entry k() { ret; }
";
        let callee = "\
.version 7.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 a) { ret; }
.weak .global .align 4 .u32 count;
.weak .func again() { ret; }
";
        let weak = "\
.version 7.0
.target sm_70
.address_size 64
.weak .global .align 4 .u32 count = 1;
.weak .func again() { trap; }
";
        let joined =
            join(&[caller.to_owned(), callee.to_owned(), weak.to_owned(), "nonsense \"\u{e9}".to_owned()]).text;
        assert!(joined.starts_with(".version 8.0\n.target sm_80\n.address_size 64\n.extern .func"), "{joined}");
        for absent in ["$part", "trap", "count = 1"] {
            assert!(!joined.contains(absent), "{absent}: {joined}");
        }
        assert!(joined.contains("nonsense") && joined.contains("count;"), "{joined}");
        assert_eq!(join(&["one".to_owned()]).text, "one");
    }
}
