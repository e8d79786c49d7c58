//! Recognises the functions of the device's runtime, which a module declares without a body.
//!
//! Compilers call these for `printf`, `assert`, `malloc`, `free`, `new` and `delete` (CUDA
//! programming guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation and
//! Operations").

use ptx::{Function, Module};

/// One of these functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemFunction {
    /// `int vprintf(const char* format, void* arguments)`
    Print,
    /// `void* malloc(size_t bytes)`
    Allocate,
    /// `void free(void* address)`
    Free,
    /// `void __assertfail(const char* message, const char* file, unsigned line, const char*
    /// function, size_t charSize)`
    FailAssertion,
}

/// A declaration of a function that needs the heap, if the module has any.
pub(super) fn heap_user(module: &Module) -> Option<&Function> {
    let mut functions = module.functions.iter().map(|(_, function)| function);
    functions.find(|function| of(module, function).is_some_and(SystemFunction::uses_heap))
}

impl SystemFunction {
    /// Whether it is `malloc` or `free`.
    pub fn uses_heap(self) -> bool {
        matches!(self, Self::Allocate | Self::Free)
    }
}

/// Whether a function belongs to CUDA's device runtime, with which kernels launch kernels: the
/// module declares it without a body. (`cudaLaunchDeviceV2`, `cudaGetParameterBufferV2` and the
/// like; `__cudaCDP2LaunchDeviceV2` since CUDA 12.)
pub fn is_of_device_runtime(function: &Function) -> bool {
    let name = &function.name;
    let of_runtime = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    function.body.is_none()
        && !function.is_kernel
        && (name.strip_prefix("cuda").is_some_and(of_runtime) || name.starts_with("__cudaCDP2"))
}

/// The system function that a declaration names, if it is one, with the right parameters.
pub(super) fn of(module: &Module, function: &Function) -> Option<SystemFunction> {
    if function.body.is_some() || function.is_kernel {
        return None;
    }
    let sizes = |list: &[ptx::Handle<ptx::Variable>]| -> Vec<u64> {
        list.iter().map(|&variable| module.variables[variable].size.unwrap_or(0)).collect()
    };
    let (parameters, results) = (sizes(&function.parameters), sizes(&function.results));
    let (found, takes, gives): (_, &[u64], &[u64]) = match function.name.as_str() {
        "vprintf" => (SystemFunction::Print, &[8, 8], &[4]),
        "__assertfail" => (SystemFunction::FailAssertion, &[8, 8, 4, 8, 8], &[]),
        "malloc" => (SystemFunction::Allocate, &[8], &[8]),
        "free" => (SystemFunction::Free, &[8], &[]),
        _ => return None,
    };
    (parameters == takes && results == gives).then_some(found)
}
