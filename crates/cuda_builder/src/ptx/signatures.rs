//! Puts the signatures of kernels and exported statics into the PTX: comments behind the lines that
//! begin their definitions, so that they stay there when somebody divides the text.

use std::collections::HashMap;
use std::fmt::Write as _;

/// The text with each signature as a comment, which `device` looks for.
pub(crate) fn with_signatures(ptx: &str, signatures: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(ptx.len() + 128 * signatures.len());
    for line in ptx.lines() {
        match defined(line).and_then(|name| signatures.get(name)) {
            Some(signature) => _ = writeln!(out, "{line}\t// coalesce: {signature}"),
            None => _ = writeln!(out, "{line}"),
        }
    }
    out
}

/// The kernel or variable that a line of `llc`'s begins to define, and exports.
fn defined(line: &str) -> Option<&str> {
    let definition = line.strip_prefix(".visible .")?;
    if let Some(kernel) = definition.strip_prefix("entry ") {
        return kernel.split('(').next();
    }
    // `const .align 4 .b8 NAME[16] = {0, ...};`
    let declared = definition.split(['=', ';', '[']).next()?;
    declared.split_whitespace().last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_stand_behind_the_first_lines_of_definitions() {
        let names = ["add", "COEFFICIENTS", "COUNT", "TILE", "other"];
        let signatures = names.map(|name| (name.to_owned(), format!("of {name}"))).into();
        let ptx = "\
.visible .const .align 4 .b8 COEFFICIENTS[16] = {0, 0};
.visible .global .align 4 .u32 COUNT = 7;
.shared .align 4 .b8 TILE[16];
.visible .entry add(
\t.param .u64 add_param_0
)
.func helper()
.visible .entry plain()
";
        let with = with_signatures(ptx, &signatures);
        let added: Vec<_> = with.lines().filter(|line| line.contains("//")).collect();
        assert_eq!(
            added,
            [
                ".visible .const .align 4 .b8 COEFFICIENTS[16] = {0, 0};\t// coalesce: of COEFFICIENTS",
                ".visible .global .align 4 .u32 COUNT = 7;\t// coalesce: of COUNT",
                ".visible .entry add(\t// coalesce: of add",
            ]
        );
        assert_eq!(with_signatures(ptx, &HashMap::new()), ptx);
    }
}
