//! The part of a module that the check looks at, in the form that it needs.

use std::collections::{HashMap, HashSet};

use super::function;
use crate::ir::{self, Item, PHASE, with_attributes};

/// Texts of what threads do together. Whether a function really contains that, the check finds out.
const TOGETHER: [&str; 9] = [
    "llvm.nvvm.bar",
    "llvm.nvvm.exit",
    "llvm.nvvm.shfl.",
    "llvm.nvvm.vote.",
    "llvm.nvvm.match.",
    "llvm.nvvm.redux.",
    PHASE,
    "bar.",
    "barrier.",
];

/// The kernels that are checked.
#[derive(Clone, Copy)]
pub(crate) enum Kernels<'a> {
    /// Those with phases.
    Phased,
    /// Those of these names.
    Named(&'a [String]),
}

/// The module of some of the kernels, in which all functions on the way to a barrier or a phase are
/// to be inlined. `None` if there are no such kernels.
pub(crate) fn part(module: &str, kernels: Kernels<'_>) -> Option<String> {
    if matches!(kernels, Kernels::Phased) && !module.contains(PHASE) {
        return None;
    }
    let items = ir::items(module);
    let waiting = reaching(&items, &may_wait);
    let phased = match kernels {
        Kernels::Phased => reaching(&items, &|text| text.contains(PHASE)),
        Kernels::Named(_) => HashSet::new(),
    };
    let is_wanted = |item: &Item<'_>| match kernels {
        Kernels::Phased => reaches(item, &phased),
        Kernels::Named(names) => item.name.is_some_and(|name| names.iter().any(|wanted| name == *wanted)),
    };
    if !items.iter().any(|item| is_kernel(item) && is_wanted(item)) {
        return None;
    }
    let mut out = String::with_capacity(module.len());
    for item in &items {
        let line = item.text.lines().next().unwrap_or("");
        if line.starts_with("define ") {
            match is_kernel(item) {
                true if !is_wanted(item) => {}
                false if reaches(item, &waiting) => {
                    with_attributes(line, "alwaysinline", &mut out);
                    out.push_str(&item.text[line.len()..]);
                }
                _ => out.push_str(item.text),
            }
        } else if line.starts_with("declare ") && item.name == Some(PHASE) {
            // Then no pass moves or joins the markers.
            out.push_str(&format!("declare void @{PHASE}(ptr) convergent\n"));
        } else if line.starts_with("attributes #") {
            out.push_str(&item.text.replace(" noinline", ""));
        } else if !line.starts_with("@llvm.used") && !line.starts_with("@llvm.compiler.used") {
            out.push_str(item.text);
        }
    }
    Some(ir::reachable(&out))
}

fn is_kernel(item: &Item<'_>) -> bool {
    item.text.starts_with("define ") && function::is_kernel(item.text)
}

/// Whether the text of a function may have a barrier, a phase or the end of a thread in it.
pub(super) fn may_wait(text: &str) -> bool {
    TOGETHER.iter().any(|together| text.contains(together)) || (text.contains(" asm ") && text.contains("exit"))
}

fn reaches(item: &Item<'_>, names: &HashSet<&str>) -> bool {
    item.name.is_some_and(|name| names.contains(name))
}

/// The functions and variables from which one is reached whose text is chosen by `directly`.
fn reaching<'a>(items: &[Item<'a>], directly: &dyn Fn(&str) -> bool) -> HashSet<&'a str> {
    // A table of methods leads to functions, too.
    let definitions: Vec<_> = items.iter().filter(|item| item.text.starts_with(['d', '@'])).collect();
    let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
    for item in &definitions {
        for name in ir::references(item.text) {
            callers.entry(name).or_default().extend(item.name);
        }
    }
    let mut open: Vec<&str> =
        definitions.iter().filter(|item| directly(item.text)).filter_map(|item| item.name).collect();
    let mut reaching: HashSet<&str> = open.iter().copied().collect();
    while let Some(name) = open.pop() {
        for &caller in callers.get(name).into_iter().flatten() {
            if reaching.insert(caller) {
                open.push(caller);
            }
        }
    }
    reaching
}
