//! Tests on IR text: one for each rule of the analysis, and for what the check must not overlook.

use super::{Kernels, check, part};

/// The findings in a kernel of these lines, without names that a user would see.
fn findings(parameters: &str, body: &str) -> Vec<String> {
    let text = format!("define ptx_kernel void @k({parameters}) {{\n{body}\n}}\n");
    check(&text, "").into_iter().map(|finding| finding.error.to_string()).collect()
}

const SYNC: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
const TID: &str = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !9";

#[test]
fn a_diamond_on_the_thread_is_apart_until_it_meets() {
    let diamond = |inside: &str, behind: &str| {
        findings(
            "",
            &format!(
                "start:\n  {TID}\n  %c = icmp eq i32 %t, 0\n  br i1 %c, label %a, label %b\na:\n  {inside}\n  br label %b\n\
                 b:\n  %f = phi i32 [ 1, %a ], [ 2, %start ]\n  {behind}\n  ret void"
            ),
        )
    };
    assert!(diamond("", SYNC).is_empty());
    assert_eq!(diamond(SYNC, "").len(), 1);
    // The phi knows which way the thread came.
    assert_eq!(diamond("", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 %f)").len(), 1);
}

#[test]
fn a_phi_of_one_value_does_not_tell_the_ways_apart() {
    let body = |first: &str| {
        format!(
            "start:\n  {TID}\n  %c = icmp eq i32 %t, 0\n  switch i32 %t, label %m [\n    i32 0, label %a\n    i32 1, label %m\n  ]\n\
             a:\n  br label %m\nm:\n  %f = phi i32 [ {first}, %a ], [ %n, %start ], [ %n, %start ]\n  \
             %d = icmp eq i32 %f, 0\n  br i1 %d, label %w, label %e\nw:\n  {SYNC}\n  br label %e\ne:\n  ret void"
        )
    };
    assert!(findings("i32 %n", &body("%n")).is_empty());
    assert_eq!(findings("i32 %n", &body("7")).len(), 1);
}

#[test]
fn what_a_loop_counts_differs_when_threads_leave_it_at_different_times() {
    let behind = |limit: &str, operand: &str| {
        let body = format!(
            "s:\n  {TID}\n  br label %h\nh:\n  %i = phi i32 [ 0, %s ], [ %j, %h ]\n  %j = add i32 %i, 1\n  \
             %c = icmp ult i32 %j, {limit}\n  br i1 %c, label %h, label %e\ne:\n  \
             call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 {operand})\n  ret void"
        );
        findings("i32 %n", &body).len()
    };
    assert_eq!(behind("%n", "%j"), 0);
    assert_eq!(behind("%t", "%j"), 1);
    assert_eq!(behind("%t", "%n"), 0);
}

#[test]
fn a_load_is_uniform_from_what_nobody_writes() {
    let through = |parameter: &str, load: &str| {
        findings(
            parameter,
            &format!(
                "  {TID}\n  %i = zext i32 %t to i64\n  %q = getelementptr inbounds ptr, ptr %p, i64 2\n  \
                 %qt = getelementptr inbounds i32, ptr %p, i64 %i\n  {load}\n  %c = icmp eq i32 %l, 0\n  \
                 br i1 %c, label %w, label %e\nw:\n  {SYNC}\n  br label %e\ne:\n  ret void"
            ),
        )
        .len()
    };
    let read_only = "ptr noalias noundef nonnull readonly align 4 captures(address, read_provenance) %p";
    assert_eq!(through(read_only, "%l = load i32, ptr %q, align 4"), 0);
    assert_eq!(through(read_only, "%l = load i32, ptr %qt, align 4"), 1);
    assert_eq!(through(read_only, "%l = load volatile i32, ptr %q, align 4"), 1);
    assert_eq!(through(read_only, "%x = load ptr, ptr %q, align 8\n  %l = load i32, ptr %x, align 4"), 1);
    assert_eq!(through("ptr noalias noundef nonnull align 4 %p", "%l = load i32, ptr %q, align 4"), 1);
    assert_eq!(through("ptr readonly %p", "%l = load i32, ptr %q, align 4"), 1);
    assert_eq!(through(read_only, "%l = load i32, ptr @unknown, align 4"), 1);
    let select = "%s = select i1 %z, ptr %q, ptr @unknown\n  %l = load i32, ptr %s, align 4";
    assert_eq!(through(&format!("{read_only}, i1 %z"), select), 1);
}

#[test]
fn a_phase_may_not_choose_its_tile_by_the_thread() {
    let phase = |operand: &str| {
        findings(
            "i1 %c",
            &format!(
                "  {TID}\n  %d = icmp eq i32 %t, 1\n  %p = select i1 %d, ptr @A, ptr @B\n  \
        %u = select i1 %c, ptr @A, ptr @B\n  call void @__coalesce_phase(ptr {operand})\n  ret void"
            ),
        )
    };
    assert_eq!(phase("%u"), [""; 0]);
    assert_eq!(phase("null"), [""; 0]);
    assert_eq!(
        phase("%p"),
        [
            "unknown line: the threads of kernel `k` may give this phase different operands (a tile, a distance): they depend \
          on `llvm.nvvm.read.ptx.sreg.tid.x()`; choose them by what is the same in all threads"
        ]
    );
    assert_eq!(phase("%undefined").len(), 1);
}

#[test]
fn inline_assembly_may_wait_and_end_threads() {
    let after = |code: &str| {
        findings("", &format!("  {TID}\n  %c = icmp eq i32 %t, 0\n  br i1 %c, label %a, label %b\na:\n  {code}\nb:\n  {SYNC}\n  ret void")).len()
    };
    assert_eq!(after("call void asm sideeffect \"bar.sync 0;\", \"\"()\n  br label %b"), 1);
    assert_eq!(after("call void asm sideeffect \"{\\0Abarrier.sync 1, 64;\\0A}\", \"\"()\n  br label %b"), 1);
    assert_eq!(after("call void asm sideeffect \"exit;\", \"\"() #2, !dbg !3\n  unreachable, !dbg !3"), 1);
    assert_eq!(after("call void @llvm.trap()\n  unreachable, !dbg !3"), 0);
    assert_eq!(after("call void asm sideeffect \"membar.cta;\", \"\"()\n  br label %b"), 0);
}

#[test]
fn an_operation_of_a_whole_warp_is_for_all_its_lanes() {
    let shuffle = |condition: &str, mask: i32| {
        let operation = format!("%s = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 {mask}, i32 1, i32 1, i32 31)");
        findings(
            "i32 %n",
            &format!("  {TID}\n  {condition}\n  br i1 %c, label %a, label %b\na:\n  {operation}\n  br label %b\nb:\n  ret void"),
        )
        .len()
    };
    for of_warps in [
        "%c = icmp samesign ult i32 %t, 64",
        "%c = icmp ugt i32 %t, 31",
        "%w = lshr i32 %t, 5\n  %c = icmp eq i32 %w, %n",
        "%z = zext i32 %t to i64\n  %w = udiv i64 %z, 96\n  %c = icmp eq i64 %w, 3",
        "%w = and i32 %t, 992\n  %c = icmp eq i32 %w, 0",
        "%v = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %d)\n  %c = xor i1 %v, true",
    ] {
        assert_eq!(shuffle(of_warps, -1), 0, "{of_warps}");
    }
    for of_lanes in [
        "%c = icmp ult i32 %t, 16",
        "%c = icmp ult i32 %t, %n",
        "%c = icmp ult i32 32, %t",
        "%w = lshr i32 %t, 4\n  %c = icmp eq i32 %w, 0",
        "%w = and i32 %t, 31\n  %c = icmp eq i32 %w, 0",
        "%y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n  %c = icmp eq i32 %y, 0",
    ] {
        assert_eq!(shuffle(of_lanes, -1), 1, "{of_lanes}");
        assert_eq!(shuffle(of_lanes, 1), 0, "{of_lanes}");
    }
}

#[test]
fn a_warp_s_operation_hides_no_phase_at_the_same_place() {
    let body = format!(
        "  {TID}\n  %c = icmp eq i32 %t, 0\n  br i1 %c, label %a, label %b\na:\n  \
         %s = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)\n  call void @__coalesce_phase(ptr null)\n  br label %b\n\
         b:\n  ret void"
    );
    let findings = findings("", &body);
    assert!(findings.len() == 1 && findings[0].contains("has a phase that"), "{findings:?}");
}

#[test]
fn what_is_not_inlined_may_not_wait() {
    let with = |call: &str, other: &str| {
        let text = format!("{other}\ndefine ptx_kernel void @k(ptr %p) {{\n  {call}\n  ret void\n}}\n");
        check(&text, "").len()
    };
    let waits = format!("define internal void @f() {{\n  {SYNC}\n  ret void\n}}");
    let caller = format!("{waits}\ndefine internal range(i32 0, 3) i32 @g() {{\n  call void @f()\n  ret i32 1\n}}");
    assert_eq!(with("call void @f()", &waits), 1);
    assert_eq!(with("%1 = call i32 @g()", &caller), 1);
    assert_eq!(with("call void %p()", &waits), 1);
    assert_eq!(with("call void %p()", ""), 0);
    assert_eq!(with("call void @h()", &format!("@h = alias void (), ptr @f\n{waits}")), 1);
    assert_eq!(with("call void @h()", &format!("declare void @h()\n{waits}")), 0);
    assert_eq!(with("call void @f()", "define internal void @f() {\n  ret void\n}"), 0);
}

#[test]
fn the_part_has_the_kernels_with_phases_and_all_on_the_way_to_them() {
    let module = "\
@table = private constant [1 x ptr] [ptr @method]
@llvm.used = appending global [1 x ptr] [ptr @k], section \"llvm.metadata\"
define ptx_kernel void @k() unnamed_addr #0 {
  call void @f()
  ret void
}
define ptx_kernel void @by_table() unnamed_addr #0 {
  %1 = load ptr, ptr @table
  call void %1()
  ret void
}
define ptx_kernel void @other() unnamed_addr #0 {
  ret void
}
define internal void @f() unnamed_addr #1 {
  call void @__coalesce_phase(ptr null)
  ret void
}
define internal void @method() unnamed_addr #1 {
  call void @f()
  ret void
}
declare void @__coalesce_phase(ptr noundef) unnamed_addr #1
attributes #0 = { nounwind }
attributes #1 = { noinline nounwind }
";
    let phased = part(module, Kernels::Phased).unwrap();
    for kept in ["@k()", "@by_table()", "@f() unnamed_addr alwaysinline #1", "@method() unnamed_addr alwaysinline #1"] {
        assert!(phased.contains(kept), "{kept} is not in:\n{phased}");
    }
    assert!(phased.contains("declare void @__coalesce_phase(ptr) convergent\n"), "{phased}");
    assert!(!phased.contains("@other") && !phased.contains("noinline") && !phased.contains("llvm.used"), "{phased}");
    let named = part(module, Kernels::Named(&["other".to_owned()])).unwrap();
    assert!(named.contains("@other") && !named.contains("@k()"), "{named}");
    assert_eq!(part(&module.replace("__coalesce_phase", "g"), Kernels::Phased), None);
}
