//! Drops definitions that no kernel needs from textual LLVM IR.
//!
//! rustc links all of `core` into the module, a hundred times what a small crate of kernels uses,
//! and leaves it to LLVM to drop the rest. Parsing it takes LLVM and the rewrite more time than
//! compiling the kernels. This pass follows the names (`@function`, `@variable`, `!metadata`) from
//! the externally visible definitions, and keeps what it reaches, in the same order. It also keeps
//! everything without a name.

use std::collections::HashMap;

use super::lexer::tokens;

/// A definition of the module: a range of its text, and what it refers to.
pub(crate) struct Item<'a> {
    pub text: &'a str,
    /// Its own name: of a function or a variable without `@`, of metadata with `!`.
    pub name: Option<&'a str>,
    /// Whether it is kept even if nothing refers to it.
    root: bool,
}

/// The module without functions, variables and metadata that are not reachable.
pub(crate) fn reachable(ir: &str) -> String {
    let items = items(ir);
    let by_name: HashMap<&str, usize> =
        items.iter().enumerate().filter_map(|(index, item)| Some((item.name?, index))).collect();
    let mut kept: Vec<bool> = items.iter().map(|item| item.root).collect();
    let mut open: Vec<usize> = (0..items.len()).filter(|&index| kept[index]).collect();
    while let Some(index) = open.pop() {
        for name in references(items[index].text) {
            if let Some(&referred) = by_name.get(name)
                && !kept[referred]
            {
                kept[referred] = true;
                open.push(referred);
            }
        }
    }
    items.iter().zip(kept).filter(|(_, kept)| *kept).map(|(item, _)| item.text).collect()
}

/// Whether the module defines all that its definitions refer to, but for LLVM's intrinsics.
pub(crate) fn is_whole(ir: &str) -> bool {
    let is_elsewhere = |item: &Item<'_>| match item.text.starts_with("declare ") {
        true => !item.name.is_some_and(|name| name.starts_with("llvm.")),
        false => item.text.starts_with('@') && tokens(item.text).any(|token| token.text == "external"),
    };
    !items(ir).iter().any(is_elsewhere)
}

/// The module split into definitions; their texts, joined, are the module.
pub(crate) fn items(ir: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut rest = ir;
    while !rest.is_empty() {
        let line = first_line(rest);
        // A function ends with the first line that begins with its closing bracket.
        let length = match line.starts_with("define ") {
            true => rest.find("\n}").map_or(rest.len(), |end| end + 1 + first_line(&rest[end + 1..]).len()),
            false => line.len(),
        };
        let (text, behind) = rest.split_at(length);
        items.push(item(text, line));
        rest = behind;
    }
    items
}

/// The text up to the end of its first line, which is included.
fn first_line(text: &str) -> &str {
    text.find('\n').map_or(text, |end| &text[..=end])
}

fn item<'a>(text: &'a str, line: &'a str) -> Item<'a> {
    let first_name = || references(line).next();
    let hidden = || tokens(line).any(|token| matches!(token.text, "internal" | "private"));
    let (name, root) = if line.starts_with("define ") {
        (first_name(), !hidden())
    } else if line.starts_with("declare ") {
        (first_name(), false)
    } else if line.starts_with('@') {
        // Sections have a meaning of their own; the rewrite looks at all of them.
        (first_name(), !hidden() || line.contains("section \""))
    } else if line.starts_with('!') && line[1..].starts_with(|c: char| c.is_ascii_digit()) {
        (first_name(), false)
    } else {
        (None, true)
    };
    Item { text, name, root: root || name.is_none() }
}

/// The names in a text, its own included: `@name` without quotes, and `!7`.
pub(crate) fn references(text: &str) -> impl Iterator<Item = &str> {
    tokens(text).filter_map(|token| token.name().or_else(|| token.text.starts_with('!').then_some(token.text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
target triple = \"nvptx64-nvidia-cuda\"

@text = private constant [4 x i8] c\"@n}\\22\", align 1
@unused = internal global [4 x i8] undef, align 4
@TILE = internal global [4 x i8] undef, section \".shared\", align 4
@\"quoted name\" = internal global ptr @\"also quoted\"
@\"also quoted\" = internal global i8 0
@seen = global i32 0, align 4
@llvm.used = appending global [1 x ptr] [ptr @seen], section \"llvm.metadata\"
define ptx_kernel void @kernel(ptr %0) #0 !dbg !4 {
start:
  call void @helper(), !dbg !6
  ret void
}
define internal void @helper() {
  %1 = load ptr, ptr @\"quoted name\"
  call void @llvm.barrier()
  ret void
}
define internal void @unused_function() !dbg !5 {
  call void @unused_function()
  call void @other_declaration()
  ret void
}
declare void @llvm.barrier()
declare void @other_declaration()
attributes #0 = { nounwind }
!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(file: !1)
!1 = !DIFile(filename: \"a\")
!4 = distinct !DISubprogram(unit: !0)
!5 = distinct !DISubprogram(unit: !0)
!6 = !DILocation(scope: !4)
";

    #[test]
    fn a_module_is_whole_without_names_of_other_modules() {
        assert!(!is_whole(MODULE));
        assert!(is_whole(&reachable(MODULE)));
        let with = |line: &str| format!("{}{line}\n", reachable(MODULE));
        assert!(is_whole(&with("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")));
        assert!(!is_whole(&with("declare i32 @_ZN4core3num7dec2fltE(ptr, i64)")));
        assert!(!is_whole(&with("@TABLE = external constant [4 x i8], align 1")));
        assert!(is_whole(&with("@text = private constant [8 x i8] c\"external\"")));
    }

    #[test]
    fn what_no_kernel_reaches_is_dropped_and_the_order_stays() {
        let kept = reachable(MODULE);
        let dropped: Vec<&str> = MODULE.lines().filter(|line| !kept.lines().any(|other| other == *line)).collect();
        assert_eq!(
            dropped,
            [
                "@text = private constant [4 x i8] c\"@n}\\22\", align 1",
                "@unused = internal global [4 x i8] undef, align 4",
                "define internal void @unused_function() !dbg !5 {",
                "  call void @unused_function()",
                "  call void @other_declaration()",
                "declare void @other_declaration()",
                "!5 = distinct !DISubprogram(unit: !0)",
            ]
        );
        let places: Vec<_> = kept.lines().map(|line| MODULE.lines().position(|other| other == line)).collect();
        // The lines `  ret void` and `}` of functions are the same in all of them.
        assert!(places.iter().all(Option::is_some), "{kept}");
        assert_eq!(reachable(&kept), kept);
    }

    #[test]
    fn text_of_any_form_is_kept_where_it_has_no_name() {
        for text in ["", "\n\n", "define", "@", "!", "define void @f() {\n", "what is this\n}\n", "%t = type { i8 }"] {
            assert_eq!(reachable(text), text);
        }
    }
}
