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
        ("pub const unsafe fn f() {}", "a kernel cannot be a `const fn`"),
        ("pub async unsafe fn f() {}", "a kernel cannot be an `async fn`"),
        ("pub unsafe extern \"C\" fn f() {}", "a kernel names no ABI: `#[kernel]` gives it that of PTX kernels"),
        (
            "pub unsafe fn f<T>(x: T) {}",
            "a kernel is not generic: write one kernel for each type, over a generic `#[inline(always)]` function",
        ),
        (
            "pub unsafe fn f() -> u32 { 0 }",
            "a kernel returns nothing: write the result to memory, through a `DisjointSlice<T>` or `*mut T` parameter",
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
            "a kernel takes `&[T]`, `Matrix<T>`, `DisjointSlice<T>`, `DisjointMatrix<T>`, raw pointers, numbers, and \
             `#[repr(C)]` values",
        ),
        (
            "pub unsafe fn f(x: &mut [f32]) {}",
            "a kernel takes no `&mut [T]`, since all threads would hold the same exclusive reference: take \
             `DisjointSlice<T>`, of which each thread reaches its own elements",
        ),
        (
            "pub fn f(x: *mut f32) {}",
            "a safe kernel takes no raw pointer: take `&[T]` or `Matrix<T>` to read, `DisjointSlice<T>` or \
             `DisjointMatrix<T>` to write, or make it an `unsafe fn`",
        ),
    ];
    for (item, message) in cases {
        assert_eq!(error(kernel("", item)), message, "{item}");
    }
}

#[test]
fn launches_that_no_gpu_has_are_refused_with_a_reason() {
    let literal =
        "a block's extents and launch bounds are integer literals greater than zero: they become part of the PTX";
    let cases = [
        (
            "bounds(1)",
            "unknown argument: `#[kernel]` knows `block(X, Y, Z)`, `min_blocks(COUNT)`, `linear`, `launch_bounds(THREADS)`, \
             `launch_bounds(THREADS, MIN_BLOCKS)` and `allow(divergent_barrier)`",
        ),
        ("launch_bounds()", "`launch_bounds` needs the number of threads of the largest block"),
        ("launch_bounds(1025)", "a block has at most 1024 threads"),
        ("launch_bounds((32, 33))", "a block has at most 1024 threads"),
        ("launch_bounds((4000000000, 4000000000, 4000000000))", "a block has at most 1024 threads"),
        ("launch_bounds((1, 1, 1, 1))", "a block has one, two or three dimensions"),
        ("launch_bounds(N)", literal),
        ("launch_bounds(0)", literal),
        ("launch_bounds(1, 2, 3)", "`launch_bounds` takes the threads of a block and, at most, a number of blocks"),
        ("launch_bounds(1) more", "expected `,`"),
        ("block()", "a block has one, two or three dimensions"),
        ("block(32, 33)", "a block has at most 1024 threads"),
        ("block(1, 1, 65)", "a block extends by at most 64 in z"),
        ("block(X)", literal),
        ("min_blocks(2)", "`min_blocks(..)` says how many blocks of a `block(..)` a multiprocessor holds"),
        ("block(32), min_blocks(2), min_blocks(2)", "`min_blocks` stands here twice"),
        ("block(32), min_blocks(0)", literal),
        ("block(32), block(32)", "`block` stands here twice"),
        ("linear, linear", "`linear` stands here twice"),
        ("block(32), launch_bounds(32)", "a kernel with a `block(..)` needs no `launch_bounds(..)`"),
        ("linear, block(32, 8)", "the block of a `linear` kernel extends in x only"),
        ("allow(dead_code)", "a kernel can `allow(divergent_barrier)` and nothing else"),
        ("allow(divergent_barrier, linear)", "a kernel can `allow(divergent_barrier)` and nothing else"),
        ("allow(divergent_barrier), allow(divergent_barrier)", "`allow` stands here twice"),
    ];
    for (arguments, message) in cases {
        assert_eq!(error(kernel(arguments, "pub unsafe fn f() {}")), message, "{arguments}");
    }
}

#[test]
fn a_safe_kernel_allows_no_divergent_barrier() {
    let message = error(kernel("allow(divergent_barrier)", "pub fn f() {}"));
    assert!(message.starts_with("in a safe kernel all threads reach each barrier"), "{message}");
}

#[test]
fn markers_say_what_the_builder_does_about_divergent_barriers() {
    let warned = "static __coalesce_divergent__warn__f: __cuda_std_of_f::value::scalar::u8 = 0;";
    assert_makes("", "pub unsafe fn f() {}", &[warned]);
    assert_makes(
        "allow(divergent_barrier)",
        "pub unsafe fn f() {}",
        &["static __coalesce_divergent__allow__f: __cuda_std_of_f::value::scalar::u8 = 0;"],
    );
    let safe = kernel("", "pub fn f() {}").unwrap().to_string();
    assert!(!safe.contains("__coalesce_divergent__"), "{safe}");
}

fn squeeze(text: &str) -> String {
    text.replace(char::is_whitespace, "")
}

/// Asserts that what `#[kernel]` makes of the item contains each text, whatever the spaces.
fn assert_makes(arguments: &str, item: &str, wanted: &[&str]) {
    let text = squeeze(&kernel(arguments, item).unwrap().to_string());
    for wanted in wanted {
        assert!(text.contains(&squeeze(wanted)), "{text}\nlacks\n{wanted}");
    }
}

#[test]
fn slices_come_apart_and_launch_bounds_leave_their_marker() {
    assert_makes(
        "launch_bounds((32, 8), 2)",
        "pub unsafe fn f(x: &[f32], mut y: *mut u8, n: u32) {}",
        &[
            "extern crate cuda_std as __cuda_std_of_f;",
            "pub unsafe extern \"ptx-kernel\" fn f(__x_pointer @ _: &[f32; 0], __x_length @ _: __cuda_std_of_f::value::scalar::usize, y: *mut u8, n: u32)",
            "let x = unsafe { __cuda_std_of_f::entry::slice::<f32>(__x_pointer, __x_length) };",
            "let mut y = y;",
            "static __coalesce_launch_bounds__32_8_1_2__f: __cuda_std_of_f::value::scalar::u8 = 0;",
            "pub static f: __cuda_std_of_f::launch::Kernel<(__cuda_std_of_f::launch::Slice<f32>, \
             __cuda_std_of_f::launch::PointerMut<u8>, u32,)> = __cuda_std_of_f::launch::Kernel::new(\"f\", ",
            "threads: [32u32, 8u32, 1u32], minimum_blocks: 2u32",
        ],
    );
}

#[test]
fn a_safe_kernel_is_safe_on_both_sides_and_knows_its_block() {
    assert_makes(
        "block(256), linear",
        "pub fn f(a: Matrix<f32>, mut b: BlockSlice<f64>, mut c: cuda_std::DisjointSlice<u8>) { g(); }",
        &[
            "pub extern \"ptx-kernel\" fn f(__a_pointer @ _: &[f32; 0], \
             __a_rows @ _: __cuda_std_of_f::value::scalar::u32, \
             __a_cols @ _: __cuda_std_of_f::value::scalar::u32, \
             __a_pitch @ _: __cuda_std_of_f::value::scalar::u32, __b_pointer @ _: &mut [f64; 0], \
             __b_length @ _: __cuda_std_of_f::value::scalar::usize, __c_pointer @ _: &mut [u8; 0], \
             __c_length @ _: __cuda_std_of_f::value::scalar::usize) { #[used] #[unsafe(no_mangle)]",
            "static __coalesce_block__256_1_1_0__f: __cuda_std_of_f::value::scalar::u8 = 0;",
            "unsafe { __cuda_std_of_f::shape::assume_block::<256u32, 1u32, 1u32>() };",
            "unsafe { __cuda_std_of_f::shape::assume_linear() };",
            "__cuda_std_of_f::entry::disjoint_slice::<u8>(__c_pointer, __c_length) }; { g(); } }",
            "__cuda_std_of_f::launch::SafeKernel<(__cuda_std_of_f::launch::Matrix<f32>, \
             __cuda_std_of_f::launch::DisjointSlice<f64>, __cuda_std_of_f::launch::DisjointSlice<u8>,)>",
            "block: ::core::option::Option::Some([256u32, 1u32, 1u32]), linear: true",
        ],
    );
}

#[test]
fn a_slice_of_atomics_is_an_output() {
    assert_makes(
        "linear",
        "pub fn f(x: AtomicSlice<u32>) { x.add(0, 1); }",
        &[
            "fn f(__x_pointer @ _: &mut [u32; 0], __x_length @ _: __cuda_std_of_f::value::scalar::usize)",
            "let x = unsafe { __cuda_std_of_f::entry::atomic_slice::<u32>(__x_pointer, __x_length) };",
            "fn is_own(_: __cuda_std_of_f::AtomicSlice<u32>) {}",
            "__cuda_std_of_f::launch::SafeKernel<(__cuda_std_of_f::launch::DisjointSlice<u32>,)>",
        ],
    );
}

#[test]
fn a_kernel_may_be_written_by_a_macro() {
    use proc_macro2::{Delimiter, Group};
    // `$literal` of `macro_rules!` arrives in brackets that nobody sees.
    let unseen = |text: &str| TokenStream::from(proc_macro2::TokenTree::from(Group::new(Delimiter::None, parse(text))));
    let (literal, ty) = (unseen("32"), unseen("&[u32]"));
    let item = quote::quote!(pub fn f(x: #ty) {});
    let written = crate::kernel::expand(quote::quote!(block(#literal), linear), item).unwrap().to_string();
    assert!(written.contains("__coalesce_block__32_1_1_0__f") && written.contains("__x_pointer"), "{written}");
}

#[test]
fn attributes_within_the_body_are_written_before_the_function() {
    let written = kernel("", "pub fn f() { #![allow(unused)] #![doc = \"Why.\"] g(); }").unwrap().to_string();
    assert!(!written.contains("#!") && written.matches("allow (unused)").count() == 1, "{written}");
    assert_eq!(written.matches("doc = \"Why.\"").count(), 2, "{written}");
}

#[test]
fn a_linear_kernel_has_no_positions() {
    let message = error(kernel("linear", "pub fn f(x: DisjointMatrix<u32>) {}"));
    assert!(message.starts_with("a `linear` kernel reaches only the first row of a matrix"), "{message}");
    kernel("", "pub fn f(x: DisjointMatrix<u32>) {}").unwrap();
    kernel("linear", "pub unsafe fn f(x: DisjointMatrix<u32>) {}").unwrap();
}

#[test]
fn raw_names_lose_their_prefix_where_they_are_symbols() {
    assert_makes(
        "block(32)",
        "pub unsafe fn r#match(b: Block<32>, r#static: Shared<[u32; 32]>) {}",
        &[
            "extern \"ptx-kernel\" fn r#match(",
            "Kernel::new(\"match\",",
            "static __coalesce_block__32_1_1_0__match: __cuda_std_of_match::value::scalar::u8",
            "static STATIC: __cuda_std_of_match::shared::SharedCell<__Tile>",
        ],
    );
}

#[test]
fn what_a_kernel_s_attributes_hide_leaves_no_marker() {
    // Outside of the function, the marker would speak of another kernel of this name.
    let text = kernel("allow(divergent_barrier)", "#[cfg_attr(all(), cfg(any()))] pub unsafe fn f() {}").unwrap();
    let text = squeeze(&text.to_string());
    let (_, function) = text.split_once("fnf()").unwrap();
    assert!(function.starts_with("{#[used]") && text.matches("__coalesce_divergent__allow__f").count() == 1, "{text}");
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
        assert_eq!(text.contains("ConstantStatic"), name == "constant", "{text}");
    }
}

#[test]
fn gpu_only_keeps_the_item_for_the_device() {
    let expand = |arguments: &str| crate::gpu_only::expand(parse(arguments), parse("use a::b;"));
    assert_eq!(expand("").unwrap().to_string(), parse("#[cfg(target_arch = \"nvptx64\")] use a::b;").to_string());
    assert_eq!(error(expand("x")), "`#[gpu_only]` takes no arguments");
}

#[test]
fn both_sides_get_the_signature() {
    let item = "pub unsafe fn f(mut block: Block<32>, x: &[k::P], y: DisjointMatrix<f32>, p: *mut u8, n: usize) {}";
    let text = squeeze(&kernel("block(32), linear", item).unwrap().to_string());
    let parameter = |name: &str, before: &str, behind: &str, ty: &str| {
        format!(
            "__cuda_std_of_f::signature::Parameter::new({name:?}, [{before:?}, {behind:?}], \
             __cuda_std_of_f::signature::Type::of::<{ty}>(),)"
        )
    };
    let parameters = [
        parameter("x", "&[", "]", "k::P"),
        parameter("y", "DisjointMatrix<", ">", "f32"),
        parameter("p", "*mut ", "", "u8"),
        parameter("n", "", "", "usize"),
    ];
    let parameters = squeeze(&format!("&[{}];", parameters.join(",")));
    assert_eq!(text.matches(&parameters).count(), 2, "{text}");
    assert_eq!(text.matches("\"unsafeblock(32,1,1)linear\"").count(), 2, "{text}");
    assert!(
        text.contains(&squeeze(
            "static __coalesce_signature__f: [__cuda_std_of_f::value::scalar::u8; \
             __cuda_std_of_f::signature::Signature::length(__COALESCE_TEXT)]"
        )),
        "{text}"
    );
    assert!(text.contains("macro_rules!__coalesce_kernel__f"), "{text}");
}

#[test]
fn a_kernel_that_is_left_out_leaves_nothing() {
    let text = squeeze(&kernel("block(32)", "#[cfg(no)] pub unsafe fn f() {}").unwrap().to_string());
    // The import, the entry point with all that is in it, the handle, the name and the checks.
    assert_eq!(text.matches("#[cfg(no)]").count(), 5, "{text}");
    for item in ["externcrate", "fnf()", "staticf:", "macro_rules!"] {
        assert_eq!(text.matches(item).count(), 1, "{text}");
    }
}
