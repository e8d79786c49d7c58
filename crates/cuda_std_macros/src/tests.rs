//! Tests of what the attributes reject and write.

use proc_macro2::TokenStream;
use syn::Result;

fn parse(text: &str) -> TokenStream {
    text.parse().expect("the test is Rust")
}

fn error(result: Result<TokenStream>) -> String {
    result.expect_err("this is refused").to_string()
}

fn kernel(arguments: &str, item: &str) -> Result<TokenStream> {
    crate::kernel::expand(parse(arguments), parse(item))
}

#[test]
fn signatures_that_cannot_be_launched_are_refused_with_a_reason() {
    let cases = [
        ("unsafe fn f() {}", "a kernel is `pub`: the host launches it"),
        ("pub fn f() {}", "a kernel is an `unsafe fn`: nothing checks what the launch passes to it"),
        ("pub const unsafe fn f() {}", "a kernel cannot be a `const fn`"),
        ("pub async unsafe fn f() {}", "a kernel cannot be an `async fn`"),
        ("pub unsafe extern \"C\" fn f() {}", "a kernel names no ABI: `#[kernel]` gives it that of PTX kernels"),
        (
            "pub unsafe fn f<T>(x: T) {}",
            "a kernel is not generic: write one kernel for each type, over a generic `#[inline(always)]` function",
        ),
        (
            "pub unsafe fn f() -> u32 { 0 }",
            "a kernel returns nothing: write the result to memory, through a `*mut T` or `&mut [T]` parameter",
        ),
        ("pub unsafe fn f(self) {}", "a kernel is a free function: it has no `self`"),
        ("pub unsafe fn f((a, b): Pair) {}", "a kernel's parameter is a plain name, not a pattern"),
        (
            "pub unsafe fn f(x: &f32) {}",
            "a kernel takes references to slices only: `&[T]`, or `*const T` for a single value",
        ),
        (
            "pub unsafe fn f(x: &str) {}",
            "a kernel takes references to slices only: `&[T]`, or `*const T` for a single value",
        ),
        (
            "pub unsafe fn f(x: &'static [f32]) {}",
            "a kernel's slices have no named lifetime: they live as long as the launch",
        ),
        (
            "pub unsafe fn f(x: *const [f32]) {}",
            "a kernel's pointer points to a sized type: `*const T`, and the length as a `usize` of its own",
        ),
        (
            "pub unsafe fn f(x: [f32; 4]) {}",
            "a kernel takes no bare array: wrap it in a `#[repr(C)]` struct, or pass `&[T]`",
        ),
        (
            "pub unsafe fn f(x: (u32, u32)) {}",
            "a kernel takes no tuple, whose layout Rust leaves open: use a `#[repr(C)]` struct",
        ),
        ("pub unsafe fn f(x: impl Copy) {}", "a kernel is not generic: the host must know every type at the launch"),
        (
            "pub unsafe fn f(x: vector::f32x4) {}",
            "a kernel takes no vector by value, which rustc cannot pass: take its elements, or a pointer to it",
        ),
        (
            "pub unsafe fn f(x: fn()) {}",
            "a kernel takes slices (`&[T]`, `&mut [T]`), raw pointers, numbers, and `#[repr(C)]` values",
        ),
    ];
    for (item, message) in cases {
        assert_eq!(error(kernel("", item)), message, "{item}");
    }
}

#[test]
fn launch_bounds_that_no_gpu_has_are_refused_with_a_reason() {
    let cases = [
        (
            "bounds(1)",
            "unknown argument: `#[kernel]` knows `launch_bounds(THREADS)` and `launch_bounds(THREADS, MIN_BLOCKS)`",
        ),
        ("launch_bounds()", "`launch_bounds` needs the number of threads of the largest block"),
        ("launch_bounds(1025)", "a block has at most 1024 threads"),
        ("launch_bounds((32, 33))", "a block has at most 1024 threads"),
        ("launch_bounds((4000000000, 4000000000, 4000000000))", "a block has at most 1024 threads"),
        ("launch_bounds((1, 1, 1, 1))", "a block has one, two or three dimensions"),
        ("launch_bounds(N)", "launch bounds are integer literals greater than zero: they become part of the PTX"),
        ("launch_bounds(0)", "launch bounds are integer literals greater than zero: they become part of the PTX"),
        ("launch_bounds(1, 2, 3)", "`launch_bounds` takes the threads of a block and, at most, a number of blocks"),
        ("launch_bounds(1), more", "`launch_bounds(..)` is the only argument of `#[kernel]`"),
    ];
    for (arguments, message) in cases {
        assert_eq!(error(kernel(arguments, "pub unsafe fn f() {}")), message, "{arguments}");
    }
}

#[test]
fn slices_come_apart_and_launch_bounds_leave_their_marker() {
    let squeeze = |text: &str| text.replace(char::is_whitespace, "");
    let item = "pub unsafe fn f(x: &[f32], mut y: *mut u8, n: u32) {}";
    let text = squeeze(&kernel("launch_bounds((32, 8), 2)", item).unwrap().to_string());
    let contains = |wanted: &str| assert!(text.contains(&squeeze(wanted)), "{text}\nlacks\n{wanted}");
    contains("(__x_pointer: &[f32; 0], __x_length: usize, y: *mut u8, n: u32)");
    contains("let x = ::core::slice::from_raw_parts(__x_pointer.as_ptr(), __x_length); let mut y = y;");
    contains("static __coalesce_launch_bounds__32_8_1_2__f: u8 = 0;");
    contains(
        "Kernel<(::cuda_std::launch::Slice<f32>, ::cuda_std::launch::PointerMut<u8>, u32,)> = \
         ::cuda_std::launch::Kernel::new(\"f\", ",
    );
    contains("threads: [32u32, 8u32, 1u32], minimum_blocks: 2u32");
}

#[test]
fn memories_are_named_and_hold_statics() {
    let space = |arguments: &str, item: &str| crate::address_space::expand(parse(arguments), parse(item));
    let static_item = "static S: SharedCell<u32> = SharedCell::uninit();";
    assert_eq!(
        error(space("texture", static_item)),
        "unknown memory: a static lives in `shared`, `constant` or `global` memory"
    );
    assert_eq!(
        error(space("", static_item)),
        "name one memory: `#[address_space(shared)]`, `(constant)` or `(global)`"
    );
    assert_eq!(error(space("shared", "const S: u32 = 0;")), "`#[address_space]` belongs on a `static` with a value");
    for (name, section) in [("shared", Some(".shared")), ("constant", Some(".constant")), ("global", None)] {
        let text = space(name, static_item).unwrap().to_string();
        assert_eq!(text.contains("link_section"), section.is_some(), "{text}");
        assert!(section.is_none_or(|section| text.contains(&format!("{section:?}"))), "{text}");
        assert_eq!(text.contains("SharedStatic"), name == "shared", "{text}");
    }
}

#[test]
fn gpu_only_keeps_the_item_for_the_device() {
    let expand = |arguments: &str| crate::gpu_only::expand(parse(arguments), parse("use a::b;"));
    assert_eq!(expand("").unwrap().to_string(), parse("#[cfg(target_arch = \"nvptx64\")] use a::b;").to_string());
    assert_eq!(error(expand("x")), "`#[gpu_only]` takes no arguments");
}
