//! Finds functions that call a kernel.
//!
//! Rust lets no source call one. But a kernel's name is its symbol, which can be that of a function
//! that rustc calls by itself: it compares slices of bytes by `memcmp`. rustc then makes one
//! function of both, which is no kernel any more, and which gets the arguments of the other.

use std::collections::{HashMap, HashSet};

use super::demangle;
use super::error::RewriteError;
use super::reachable::references;

/// Fails if a function's body names a kernel: a function that has a signature.
pub(super) fn check(ir: &str, signatures: &HashMap<String, String>) -> Result<(), RewriteError> {
    let defined = |line| references(line).next().unwrap_or_default();
    let kernels: HashSet<&str> = ir
        .lines()
        .filter(|line| line.starts_with("define "))
        .map(defined)
        .filter(|&name| signatures.contains_key(name))
        .collect();
    let mut function = "";
    for line in ir.lines() {
        if line.starts_with("define ") {
            function = defined(line);
        } else if line.starts_with(' ')
            && let Some(kernel) = references(line).find(|name| kernels.contains(name))
        {
            return Err(RewriteError::KernelCalled { kernel: kernel.to_owned(), function: demangle(function) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_not_called() {
        let module = |callee: &str| {
            format!(
                "@TABLE = constant [4 x i8] zeroinitializer, align 4\n\
                 @llvm.used = appending global [1 x ptr] [ptr @memcmp], section \"llvm.metadata\"\n\
                 define internal i1 @_RNvCsedjycmyLaww_4tiny4same(ptr %a) !dbg !7 {{\n\
                 \x20 %1 = load i32, ptr @TABLE\n\
                 \x20 %2 = call i32 @{callee}(ptr %a, ptr %a, i64 3) ; @memcmp\n  ret i1 0\n}}\n\
                 define void @memcmp(ptr %a, i64 %b) {{\n  ret void\n}}\n"
            )
        };
        let signatures = ["memcmp", "TABLE"].map(|name| (name.to_owned(), String::new())).into();
        assert_eq!(check(&module("bcmp"), &signatures), Ok(()));
        assert_eq!(
            check(&module("memcmp"), &signatures).unwrap_err().to_string(),
            "`tiny::same` calls the function `memcmp`, whose name a kernel has taken: give the kernel another name"
        );
    }
}
