//! Tests of the rewrite on small modules, each with its expected result.

use super::*;

/// A module with one shared variable and the given lines of a kernel, rewritten; only those lines.
fn rewritten_line(line: &str) -> String {
    let module = format!(
        "@_RNvCsedjycmyLaww_4tiny4TILE = internal global [4224 x i8] undef, section \".shared\", align 4\n\
         @C = internal global [4 x i8] c\"abcd\", section \".constant\", align 1\n{line}\n"
    );
    let ir = rewrite(&module).unwrap().ir;
    ir.lines().nth(2).unwrap().to_owned()
}

const TILE: &str = "addrspacecast (ptr addrspace(3) @tiny__TILE to ptr)";

#[test]
fn every_form_of_use_becomes_a_cast() {
    // In each line, TILE stands for the variable: the mangled symbol before the rewrite, the cast
    // after it.
    for form in [
        "  store float %x, ptr TILE, align 4, !dbg !25",
        "  store ptr TILE, ptr %out, align 8",
        "  %1 = load <4 x float>, ptr TILE, align 16",
        "  %1 = getelementptr inbounds nuw [33 x float], ptr TILE, i64 %ty, !dbg !75",
        "  %1 = select i1 %which, ptr TILE, ptr %0, !dbg !14",
        "  %1 = phi ptr [ TILE, %start ], [ %2, %bb1 ]",
        "  %1 = icmp eq ptr %p, TILE",
        "  %1 = icmp eq ptr TILE, TILE",
        "  %1 = ptrtoint ptr TILE to i64",
        "  %1 = atomicrmw add ptr TILE, i32 1 monotonic, align 4",
        "  %1 = cmpxchg ptr TILE, i32 %a, i32 %b acq_rel monotonic, align 4",
        "  %1 = insertvalue { ptr, i64 } poison, ptr TILE, 0",
        "  %1 = call noundef float @f(ptr noundef nonnull align 4 TILE, i64 noundef 32) #5",
        "  call void asm sideeffect \"st.shared.f32 [$0], $1;\", \"l,f,~{memory}\"(ptr TILE, float %x)",
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 TILE, ptr align 4 %a, i64 16, i1 false)",
        "  ret ptr TILE",
        "  store float %x, ptr getelementptr inbounds nuw (i8, ptr TILE, i64 132), align 4",
        "  %1 = add i64 ptrtoint (ptr TILE to i64), 4",
        "  ret { ptr, i64 } { ptr TILE, i64 32 }",
        "@table = private constant <{ ptr, [8 x i8] }> <{ ptr TILE, [8 x i8] zeroinitializer }>, align 8",
    ] {
        let line = form.replace("TILE", "@_RNvCsedjycmyLaww_4tiny4TILE");
        assert_eq!(rewritten_line(&line), form.replace("TILE", TILE));
    }
}

#[test]
fn names_that_only_look_alike_stay() {
    for line in [
        "  store float %x, ptr @_RNvCsedjycmyLaww_4tiny4TILE2, align 4",
        "  %C = load i8, ptr %_RNvCsedjycmyLaww_4tiny4TILE, align 1 ; @C",
        "  call void asm sideeffect \"// @C\", \"~{memory}\"()",
        "!5 = !DIFile(filename: \"@C\", directory: \"\")",
        "; call @C",
    ] {
        assert_eq!(rewritten_line(line), line);
    }
}

#[test]
fn definitions_move_to_their_address_spaces() {
    let module = "\
@_RNvCsedjycmyLaww_4tiny4TILE = internal unnamed_addr global [4224 x i8] undef, section \".shared\", align 4
@_RNvCsedjycmyLaww_4tiny4COEF = internal constant [4 x i8] c\"\\00\\00\\80?\", section \".constant\", align 4
@GAMMA = local_unnamed_addr global <{ [4 x i8] }> zeroinitializer, section \".constant\", align 4
@__coalesce_dynamic_shared_f32 = external local_unnamed_addr global [0 x i8], align 4
@other = internal global [4 x i8] undef, align 4
";
    let rewritten = rewrite(module).unwrap();
    assert_eq!(
        rewritten.ir,
        "\
@tiny__TILE = internal addrspace(3) externally_initialized global [4224 x i8] undef, align 4
@tiny__COEF = internal addrspace(4) constant [4 x i8] c\"\\00\\00\\80?\", align 4
@GAMMA = addrspace(4) externally_initialized constant <{ [4 x i8] }> zeroinitializer, align 4
@__coalesce_dynamic_shared_f32 = external addrspace(3) global [0 x i8], align 16
@other = internal global [4 x i8] undef, align 4
"
    );
    let variable = |symbol: &str, rust_name: &str, space| Variable {
        symbol: symbol.to_owned(),
        rust_name: rust_name.to_owned(),
        space,
    };
    assert_eq!(
        rewritten.variables,
        [
            variable("tiny__TILE", "tiny::TILE", Space::Shared),
            variable("tiny__COEF", "tiny::COEF", Space::Constant),
            variable("GAMMA", "GAMMA", Space::Constant),
            variable("__coalesce_dynamic_shared_f32", "__coalesce_dynamic_shared_f32", Space::DynamicShared),
        ]
    );
}

#[test]
fn statics_local_to_functions_move_too() {
    let module = "\
@_RNvNvCsedjycmyLaww_4tiny12local_static3BUF = internal global [256 x i8] undef, section \".shared\", align 4
@_RNvNvCsedjycmyLaww_4tiny12local_statics_3BUF = internal global [64 x i8] undef, section \".shared\", align 4
";
    let symbols: Vec<_> = rewrite(module).unwrap().variables.into_iter().map(|variable| variable.symbol).collect();
    assert_eq!(symbols, ["tiny__local_static__BUF", "tiny__local_static__BUF_2"]);
}

#[test]
fn launch_bounds_become_attributes_of_the_kernel() {
    let module = "\
@__coalesce_launch_bounds__32_8_1_0__tiled = constant [1 x i8] zeroinitializer, section \".launch_bounds\", align 1
@__coalesce_launch_bounds__256_1_1_4__many__parts = constant [1 x i8] zeroinitializer, section \".launch_bounds\", align 1
@llvm.used = appending global [2 x ptr] [ptr @__coalesce_launch_bounds__32_8_1_0__tiled, ptr @__coalesce_launch_bounds__256_1_1_4__many__parts], section \"llvm.metadata\"
define ptx_kernel void @tiled(ptr noundef captures(address) %0, i64 range(i64 0, 5) %1) unnamed_addr #2 !dbg !19 {
define ptx_kernel void @many__parts() #0 {
define internal void @tiled2() #0 {
";
    let rewritten = rewrite(module).unwrap();
    assert_eq!(
        rewritten.ir,
        "\
define ptx_kernel void @tiled(ptr noundef captures(address) %0, i64 range(i64 0, 5) %1) unnamed_addr convergent \"nvvm.maxntid\"=\"32,8,1\" #2 !dbg !19 {
define ptx_kernel void @many__parts() convergent \"nvvm.maxntid\"=\"256,1,1\" \"nvvm.minctasm\"=\"4\" #0 {
define internal void @tiled2() convergent #0 {
"
    );
    assert_eq!(rewritten.kernels, ["tiled", "many__parts"]);
}

#[test]
fn the_shape_of_the_block_becomes_an_attribute_of_the_kernel() {
    let module = "\
@__coalesce_block__32_8_1_0__tiled = constant [1 x i8] zeroinitializer, section \".launch_bounds\", align 1
define ptx_kernel void @tiled() #0 {
";
    let expected = "define ptx_kernel void @tiled() convergent \"nvvm.reqntid\"=\"32,8,1\" #0 {\n";
    assert_eq!(rewrite(module).unwrap().ir, expected);
    let two = rewrite(&module.replace("_1_0__", "_1_2__")).unwrap().ir;
    assert_eq!(two, expected.replace("8,1\"", "8,1\" \"nvvm.minctasm\"=\"2\""));
}

#[test]
fn other_entries_of_the_keep_list_stay() {
    let module = "\
@__coalesce_launch_bounds__1_1_1_0__k = constant [1 x i8] zeroinitializer, section \".launch_bounds\", align 1
@TILE = internal global [4 x i8] undef, section \".shared\", align 4
@llvm.used = appending global [3 x ptr] [ptr @__coalesce_launch_bounds__1_1_1_0__k, ptr @TILE, ptr @kept], section \"llvm.metadata\"
define ptx_kernel void @k() {
";
    let ir = rewrite(module).unwrap().ir;
    assert_eq!(
        ir.lines().nth(1).unwrap(),
        "@llvm.used = appending global [2 x ptr] [ptr addrspacecast (ptr addrspace(3) @TILE to ptr), ptr @\"kept\"], \
         section \"llvm.metadata\""
    );
}

/// The error's text for a module of one line.
fn refusal(line: &str) -> String {
    rewrite(line).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(
        refusal(
            "@_RNvCsedjycmyLaww_4tiny4TILE = internal global [4 x i8] zeroinitializer, section \".shared\", align 4"
        ),
        "shared variable `tiny::TILE` has an initial value, and shared memory cannot have one: declare it uninitialised \
         (`SharedCell::uninit()`) and let the kernel write it"
    );
    assert_eq!(
        refusal("@TILE = internal global [49156 x i8] undef, section \".shared\", align 4"),
        "shared variable `TILE` takes 49156 bytes, and the variables of a kernel have 49152: make it smaller, or use \
         dynamic shared memory"
    );
    assert_eq!(
        refusal("@C = internal global [65540 x i8] undef, section \".constant\", align 4"),
        "the variables in constant memory take 65540 bytes, but only 65536 are available: move some to global memory"
    );
    assert_eq!(
        refusal("@T = internal global [4 x i8] undef, section \".share\", align 4"),
        "static `T` is put in section `.share`, which means nothing on a GPU: use `.shared` or `.constant`, or no section \
         for global memory"
    );
    assert_eq!(
        refusal("@a = alias i8, ptr @b, section \".shared\""),
        "line 1 of rustc's LLVM IR has an unexpected form: `@a = alias i8, ptr @b, section \".shared\"`; use a rustc of a \
         version that is known to work, or report this line"
    );
}

#[test]
fn wrong_launch_bounds_are_refused() {
    let bounds = ["32_32_2_0", "0_1_1_0", "1_1_1", "a_1_1_0", "1_1_1_1_1", "18446744073709551615_2_1_0"];
    let bounds = bounds.map(|bounds| format!("launch_bounds__{bounds}"));
    let blocks = ["32_32_2_0", "0_1_1_0", "1_1_1", "1_1_1_1_1"].map(|block| format!("block__{block}"));
    for marker in bounds.into_iter().chain(blocks) {
        let marker = format!("__coalesce_{marker}__k");
        let error = refusal(&format!(
            "@{marker} = constant [1 x i8] zeroinitializer, section \".launch_bounds\", align 1\n\
             define ptx_kernel void @k() {{"
        ));
        assert_eq!(
            error,
            format!(
                "launch bounds `{marker}` are wrong: give three block dimensions of at least 1, at most 1024 threads \
                 together, and the blocks per multiprocessor"
            )
        );
    }
    assert_eq!(
        refusal(
            "@__coalesce_launch_bounds__1_1_1_0__k = constant [1 x i8] zeroinitializer, section \".launch_bounds\""
        ),
        "launch bounds are given for `k`, which is not a kernel of this crate: mark that function with `#[kernel]`"
    );
}

#[test]
fn assembly_outside_of_functions_is_refused() {
    let error = refusal("module asm \".visible .func f {}\"\ndefine ptx_kernel void @k() {");
    assert!(error.starts_with("the crate has `global_asm!`, which no check of barriers can see through"), "{error}");
}

#[test]
fn two_kernels_of_one_name_are_named_as_in_the_source() {
    for marker in [
        "",
        "__coalesce_divergent__warn__",
        "__coalesce_block__32_8_1_1__",
        "__coalesce_launch_bounds__32_1_1_0__",
        "__coalesce_signature__",
        "__coalesce_kernel__",
    ] {
        let text = with_kernels_name(&format!("error: symbol `{marker}my__copy` is already defined")).into_owned();
        assert_eq!(text, "error: symbol `my__copy` is already defined");
    }
}

#[test]
fn signatures_leave_the_module() {
    let module = "@__coalesce_signature__k = constant [6 x i8] c\"unsafe\", section \".signature\", align 1\n\
                  @llvm.used = appending global [2 x ptr] [ptr @__coalesce_signature__k, ptr @c], section \"llvm.metadata\"\n\
                  define ptx_kernel void @k() {\n";
    let rewritten = rewrite(module).unwrap();
    assert_eq!(rewritten.signatures, [("k".to_owned(), "unsafe".to_owned())].into());
    assert!(
        !rewritten.ir.contains("__coalesce_signature__") && rewritten.ir.contains("ptr @\"c\""),
        "{}",
        rewritten.ir
    );
    let forged = "@text = constant [6 x i8] c\"unsafe\", section \".signature\", align 1\n";
    assert!(rewrite(forged).unwrap_err().to_string().contains("`text` is put in section `.signature`"));
}
