//! Tests of the check on small pieces of PTX, as `llc` prints it.

use super::*;

/// A file with one kernel with this body, in which `TILE` and `DYNAMIC` are shared and
/// `COEFFICIENTS` is constant.
fn checked(body: &str) -> Result<(), CheckError> {
    let variable = |symbol: &str, rust_name: &str, space| Variable {
        symbol: symbol.to_owned(),
        rust_name: rust_name.to_owned(),
        space,
    };
    let variables = [
        variable("COEFFICIENTS", "kernels::COEFFICIENTS", Space::Constant),
        variable("kernels__TILE", "kernels::TILE", Space::Shared),
        variable("DYNAMIC", "DYNAMIC", Space::DynamicShared),
    ];
    let ptx = format!(
        ".version 6.3\n.target sm_75\n.file\t1 \"kernels/src/a.rs\"\n\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 32\n{{\n\
         \t.reg .b64 \t%rd<9>;\n\t.loc\t1 7 9\t// kernels/src/a.rs:7:9\n{body}\n\tret;\n}}\n"
    );
    check(&ptx, &variables)
}

#[test]
fn shared_accesses_pass() {
    for body in [
        "\tmov.b64 \t%rd1, kernels__TILE;\n\tadd.s64 \t%rd2, %rd1, %rd3;\n\tst.shared.b32 \t[%rd2+4], %r1;",
        "\tst.shared.b32 \t[kernels__TILE], %r1;\n\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [kernels__TILE+16];",
        "\tatom.shared.add.u32 \t%r1, [DYNAMIC], 1;",
        "\tatom.relaxed.cta.shared::cta.add.u32 \t%r1, [DYNAMIC], 1;",
        // Constants may be reached either way.
        "\tmov.b64 \t%rd1, COEFFICIENTS;\n\tcvta.const.u64 \t%rd2, %rd1;\n\tld.b32 \t%r1, [%rd2];",
        // Pointers to something else.
        "\tld.param.b64 \t%rd1, [k_param_0];\n\tst.b32 \t[%rd1], %r1;",
        // Converted back to shared, as inline assembly with a pointer does.
        "\tmov.b64 \t%rd1, kernels__TILE;\n\tcvta.shared.u64 \t%rd2, %rd1;\n\
         \t{ .reg .u64 a; cvta.to.shared.u64 %rd4, %rd2; ld.shared.f32 %r1, [%rd4]; st.shared.f32 [%rd4], %r1; }",
        // A comparison of addresses.
        "\tmov.b64 \t%rd1, kernels__TILE;\n\tcvta.shared.u64 \t%rd2, %rd1;\n\tsetp.eq.s64 \t%p1, %rd2, %rd3;\n\
         \tselp.b64 \t%rd4, %rd5, %rd6, %p1;\n\tst.b64 \t[%rd4], %rd5;",
    ] {
        assert_eq!(checked(body), Ok(()), "{body}");
    }
}

/// Such a kernel became a bare `ret`, without a word.
#[test]
fn a_variable_that_is_read_and_never_written_is_refused() {
    let address = "\tmov.b64 \t%rd1, kernels__TILE;\n\tadd.s64 \t%rd2, %rd1, %rd3;\n";
    let load = "\tld.shared.b32 \t%r1, [%rd2+4];";
    let refused = Err(CheckError::NeverWritten {
        place: "kernels/src/a.rs:7".to_owned(),
        kernel: "k".to_owned(),
        variable: "kernels::TILE".to_owned(),
    });
    for body in [
        format!("{address}{load}"),
        "\tld.volatile.shared.v2.b32 \t{%r1, %r2}, [kernels__TILE+16];".to_owned(),
        // The value that is stored elsewhere is no address of it; a comparison is no write.
        format!("{address}{load}\n\tsetp.eq.s64 \t%p1, %rd2, %rd4;\n\tst.global.b32 \t[%rd5], %r1;"),
        // Dynamic shared memory is another variable.
        format!("{address}{load}\n\tst.shared.b32 \t[DYNAMIC], %r1;"),
    ] {
        assert_eq!(checked(&body), refused, "{body}");
    }
    // Whatever may be a write is taken for one, in any order.
    for write in [
        "\tst.shared.b32 \t[%rd2], %r1;",
        "\t@%p1 st.volatile.shared.b32 \t[kernels__TILE+8], %r1;",
        "\tatom.shared.add.u32 \t%r2, [%rd1], 1;",
        "\tred.shared.add.u32 \t[%rd2], 1;",
        "\tcp.async.ca.shared.global \t[%rd2], [%rd5], 4;",
        "\tmbarrier.init.shared.b64 \t[kernels__TILE], %r1;",
        "\tst.param.b64 \t[param0], %rd2;",
        "\t{ .reg .u32 a; cvt.u32.u64 a, %rd2; cp.async.bulk.shared::cluster.global.mbarrier [a], [%rd5], 16, [%rd6]; }",
    ] {
        assert_eq!(checked(&format!("{address}{load}\n{write}")), Ok(()), "{write}");
        assert_eq!(checked(&format!("{address}{write}\n{load}")), Ok(()), "{write}");
    }
    // An address alone, dynamic shared memory, and a variable that is only written.
    for body in [address, "\tld.shared.b32 \t%r1, [DYNAMIC];", "\tst.shared.b32 \t[kernels__TILE], %r1;"] {
        assert_eq!(checked(body), Ok(()), "{body}");
    }
}

#[test]
fn generic_accesses_are_refused() {
    let start = "\tmov.b64 \t%rd1, kernels__TILE;\n\tcvta.shared.u64 \t%rd2, %rd1;\n";
    for (body, instruction) in [
        ("\tst.b32 \t[%rd2], 1077936128;", "st.b32 [%rd2], 1077936128"),
        ("\tadd.s64 \t%rd3, %rd2, %rd7;\n\tld.v2.b32 \t{%r1, %r2}, [%rd3+8];", "ld.v2.b32 {%r1, %r2}, [%rd3+8]"),
        (
            "\tselp.b64 \t%rd4, %rd2, %rd8, %p1;\n\tmad.lo.s64 \t%rd5, %rd6, 4, %rd4;\n\tatom.add.u32 \t%r1, [%rd5], 1;",
            "atom.add.u32 %r1, [%rd5], 1",
        ),
        ("\t@%p1 ld.volatile.b32 \t%r1, [%rd2];", "@%p1 ld.volatile.b32 %r1, [%rd2]"),
        ("\t{ red.global::x.add.u32 [%rd7], 1; red.add.u32 [%rd2], 1; }", "red.add.u32 [%rd2], 1"),
        // Assigned later in the text.
        ("\tld.b32 \t%r1, [%rd9];\n\tmov.b64 \t%rd9, %rd2;", "ld.b32 %r1, [%rd9]"),
    ] {
        assert_eq!(
            checked(&format!("{start}{body}")).unwrap_err().to_string(),
            format!(
                "kernels/src/a.rs:7: kernel `k` reaches shared variable `kernels::TILE` through a generic address \
                 (`{instruction}`), which is slow: index the variable itself here, with no pointer that could also point elsewhere"
            )
        );
    }
    let by_name = checked("\tld.b32 \t%r1, [DYNAMIC+4];").unwrap_err();
    assert!(matches!(by_name, CheckError::GenericAccess { variable, .. } if variable == "DYNAMIC"));
}

#[test]
fn addresses_that_get_out_are_refused() {
    let start = "\tmov.b64 \t%rd1, kernels__TILE;\n\tcvta.shared.u64 \t%rd2, %rd1;\n";
    for (body, instruction) in [
        ("\tst.param.b64 \t[param0], %rd2;", "st.param.b64 [param0], %rd2"),
        ("\tst.local.v2.b64 \t[%rd5], {%rd6, %rd2};", "st.local.v2.b64 [%rd5], {%rd6, %rd2}"),
        ("\tst.global.b64 \t[%rd5], %rd2;", "st.global.b64 [%rd5], %rd2"),
    ] {
        assert_eq!(
            checked(&format!("{start}{body}")).unwrap_err().to_string(),
            format!(
                "kernels/src/a.rs:7: kernel `k` lets the address of shared variable `kernels::TILE` out as a generic one \
                 (`{instruction}`), and accesses through it are slow: mark the function that takes it `#[inline(always)]`, and \
                 keep no pointer to it in memory"
            )
        );
    }
}

#[test]
fn a_static_with_the_address_is_refused() {
    let variables = [Variable { symbol: "TILE".to_owned(), rust_name: "k::TILE".to_owned(), space: Space::Shared }];
    let ptx = ".visible .global .align 8 .u64 HOLDER[2] = {generic(TILE), 0};\n.global .align 1 .b8 other[1] = {1};\n";
    assert_eq!(
        check(ptx, &variables).unwrap_err().to_string(),
        "static `HOLDER` holds the address of shared variable `k::TILE`, and each block has its own: take the address in the \
         kernel"
    );
}

#[test]
fn a_function_that_is_nowhere_is_refused() {
    assert_eq!(check(".extern .func  (.param .b32 func_retval0) vprintf\n(\n);\n", &[]), Ok(()));
    assert_eq!(
        check(".extern .func  (.param .b32 func_retval0) memcmp\n(\n\t.param .b64 memcmp_param_0\n)\n;\n", &[])
            .unwrap_err()
            .to_string(),
        "kernels call `memcmp`, which no GPU code defines: use another function, or one of `cuda_std` or `libm`"
    );
}

#[test]
fn a_function_that_is_no_kernel_is_checked_too() {
    let variables = [Variable { symbol: "TILE".to_owned(), rust_name: "k::TILE".to_owned(), space: Space::Shared }];
    let ptx = "\
.func  (.param .b32 func_retval0) _RNvCsedjycmyLaww_4tiny6helper(
\t.param .b64 p
)
{
\tcvta.shared.u64 \t%rd2, TILE;
\tld.b32 \t%r1, [%rd2];
}
";
    let error = check(ptx, &variables).unwrap_err().to_string();
    assert!(error.starts_with("unknown line: kernel `tiny::helper` reaches shared variable `k::TILE`"), "{error}");
}

#[test]
fn blocks_of_inline_assembly_do_not_end_the_function() {
    let error = checked(
        "\t.local .align 16 .b8 \t__local_depot0[16];\n\t{\n\t.reg .pred p;\n\tbar.red.or.pred p, 0, p;\n\t}\n\tmov.b64 \t%rd1, kernels__TILE;\n\
         \tcvta.shared.u64 \t%rd2, %rd1;\n\tst.b32 \t[%rd2], 1;",
    );
    assert!(matches!(error, Err(CheckError::GenericAccess { place, .. }) if place == "kernels/src/a.rs:7"));
}

#[test]
fn a_declaration_ends_before_what_follows_it() {
    let variables = [Variable { symbol: "TILE".to_owned(), rust_name: "k::TILE".to_owned(), space: Space::Shared }];
    let ptx = ".func  (.param .b32 func_retval0) later\n(\n\t.param .b64 later_param_0\n)\n;\n\
               .global .align 8 .u64 HOLDER = generic(TILE);\n";
    assert!(matches!(check(ptx, &variables), Err(CheckError::AddressInStatic { .. })));
}
