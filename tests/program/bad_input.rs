//! Tests of bad input: one line on the standard error that says what, where and what to do, exit
//! code 2, and no other output.

use crate::{fails, host};

#[test]
fn flags_that_do_not_fit_are_one_line() {
    for (arguments, parts) in [
        ("", &["subcommand"][..]),
        ("transpoze", &["transpoze", "transpose"]),
        ("transpose --paded", &["--paded", "--padded"]),
        ("transpose --rows 0", &["--rows", "0"]),
        ("transpose --rows -3", &["--rows", "-3", "from 1 to 4294967295"]),
        ("transpose --rows many", &["--rows", "many", "whole number"]),
        ("transpose --rows 99999999999", &["--rows", "99999999999"]),
        ("transpose --block 0,8", &["--block", "0,8"]),
        ("transpose --block 64,32", &["--block", "1024"]),
        ("transpose --padded --block 32,16 --device sim", &["--block", "only --block16"]),
        // Also without a GPU: no note about the simulator if nothing runs there.
        ("transpose --carveout 101", &["--carveout", "101"]),
        ("transpose --format xml", &["--format", "xml", "json"]),
        ("transpose --seed x", &["--seed"]),
        ("transpose --rows 5 --input a.npy", &["--input", "--rows"]),
        ("offset --size 0", &["--size"]),
        ("offset --offset 70000 --size 65536 --device sim", &["--offset", "70000", "65536"]),
        ("offset --offset 3,,5", &["--offset", "whole number"]),
        ("offset --block 1025", &["--block", "1025"]),
        ("offset --block 0", &["--block", "0"]),
        ("launch --word f64", &["--word", "f64", "f32x4"]),
        ("launch --loads 3", &["--loads", "give 1, 2, 4 or 8"]),
        ("launch --grid 4294967295", &["--grid", "from 1 to 2147483647"]),
        ("access --stride 0", &["--stride", "from 2 to 1024"]),
        ("access --models g81", &["--models", "unknown model 'g81'", "fermi", ":ca"]),
        ("pitch --rows 5000000 --cols 1 --block 1024 --device sim", &["--block", "5000000 x 1", "at most 858"]),
        ("cache --pattern diagonal", &["--pattern", "diagonal", "stencil"]),
        ("table --step 0", &["--step", "above 0"]),
        ("table --step nan", &["--step", "nan"]),
        ("matmul --block 64,32", &["--block", "1024"]),
        ("list --step-limit 5", &["unexpected argument '--step-limit'"]),
        ("matmul --k 5 --input a.npy", &["--k", "--input"]),
        ("matmul --input-b b.npy", &["--input"]),
        ("dot --input-b b.npy", &["--input"]),
        ("dot --block 100", &["--block", "power of two", "1024"]),
        ("reduce --block 48", &["--block", "power of two from 64"]),
        ("reduce --operation mean", &["--operation", "mean", "product"]),
        ("reduce --type f64", &["--type", "f64", "i32"]),
        ("reduce --type f32,i32 --input a.npy", &["--type", "choose one"]),
        ("rows --block 33", &["--block", "power of two"]),
        ("banks --pattern diagonal", &["--pattern", "diagonal", "stride-1"]),
        ("banks --rounds 0", &["--rounds", "from 1 to"]),
        ("shared --kilobytes 1000 --device sim", &["--kilobytes", "1000", "227"]),
        ("shared --kilobytes 227 --device sim:fermi", &["--kilobytes", "227", "48"]),
        ("stencil --points 5,6", &["--points", "give 5, 25 or 7"]),
        ("stencil --volume 3,4", &["--volume", "three numbers from 1 up"]),
        ("stencil --volume 70000,1,1 --device sim", &["--volume", "70000 planes", "at most 65535 blocks"]),
        ("stencil --volume 65535,65538,1 --device sim", &["--volume", "32-bit index"]),
        ("stencil --both --points 5 --device sim", &["--points", "no chosen variant has this many points"]),
        ("stencil --points 7 --input a.npy --device sim", &["--input", "no chosen variant reads this file"]),
        ("texture --size 1000", &["--size", "power of two"]),
        ("matmul --tiled32 --device sim:g80", &["matmul_tiled32", "1024 threads", "512"]),
        ("transpose --best --device sim:g80", &["transpose_best", "16640 bytes of shared memory", "16384"]),
        // Variants with different results.
        ("rows --output never.npy --device sim", &["--output", "the results of sum", "the results of column-means"]),
        ("texture --all --output never.npy --device sim", &["--output", "the doubled image"]),
        ("matmul --output nowhere/x.npy --device sim", &["nowhere"]),
        ("course --seed x", &["--seed", "whole number"]),
        ("course --rows 5", &["--rows"]),
        ("course --check everything", &["--check", "everything", "race"]),
        ("devices --device tpu", &["tpu", "sim"]),
        ("devices --memory-limit 999999999T", &["--memory-limit", "too large", "16777215T"]),
        ("devices --step-limit 0", &["--step-limit", "from 1 to"]),
        ("run a.ptx k --grid 99999999999 --block 1", &["--grid", "from 1 to 4294967295"]),
        ("run a.ptx k --grid 1 --block 1 --shared 5G", &["--shared", "too large"]),
        ("run a.ptx k --grid 1 --block 1 --shared many", &["--shared", "not a number of bytes"]),
        ("run a.ptx k --grid 1 --block 1 --registers 256", &["--registers", "from 1 to 255"]),
        ("run a.ptx k --grid 1 --block 1 --print 1.x", &["--print", "the number of an argument", "a variable"]),
        ("run a.ptx k --grid 1 --block 1 --set x", &["--set", "count=u32:5"]),
        ("run a.ptx k --grid 1 --block 1 --set x=f32[4]=uninit", &["--set", "f32[4]=ramp"]),
        ("run a.ptx k --grid 1 --block 1 --then l --grid 1", &["--block", "launch 1 (l)"]),
        ("run a.ptx k --grid 1 --block 1 --lines --hot 0", &["--hot", "from 1 to"]),
        ("offset --picture 0", &["--picture", "from 1 to"]),
        ("offset --picture x", &["--picture", "whole number"]),
        ("offset --picture --format csv", &["--picture", "--format table"]),
        ("offset --picture --format json", &["--picture", "--format table"]),
        ("offset --picture --device nothing", &["nothing", "sim"]),
    ] {
        fails(host(arguments), 2, parts);
    }
}

#[test]
fn sizes_beyond_memory_are_refused_before_anything_is_allocated() {
    for arguments in [
        "transpose --rows 4000000000 --cols 4000000000",
        "transpose --rows 1000000 --cols 1000000",
        "offset --size 18446744073709551615",
        "offset --size 900000000000",
        "launch --size 18446744073709551615",
        "layout --size 4294967295",
        "vector --size 18446744073709551615",
        "pitch --rows 4294967295 --cols 4294967295",
        "constant --size 18446744073709551615",
        "table --size 18446744073709551615",
        "matmul --m 4294967295 --n 4294967295 --k 4294967295",
        "matmul --m 1000000 --k 1000000 --n 1",
        "gram --rows 4294967295",
        "gram --rows 1000000 --cols 1",
        "reduce --size 18446744073709551615",
        "dot --size 18446744073709551615",
        "rows --rows 4294967295 --cols 4294967295",
        "shared --size 18446744073709551615",
    ] {
        fails(host(&format!("{arguments} --device sim")), 2, &["needs", "memory"]);
    }
    // Those that count threads or blocks in 32 bits say so.
    for (arguments, parts) in [
        ("access --size 18446744073709551615", &["--size", "67108864"][..]),
        ("cache --size 18446744073709551615", &["--size", "33554432"]),
        ("texture --size 1048576", &["--size", "32768"]),
        ("banks --blocks 4294967295", &["--blocks", "16777216"]),
        ("matmul --m 2000000 --n 1 --k 1 --block 1,1", &["--m", "2000000", "65535"]),
    ] {
        fails(host(&format!("{arguments} --device sim")), 2, parts);
    }
}

#[test]
fn files_of_another_shape_or_type_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, shape: &[usize]| {
        let elements = vec![1.0_f32; shape.iter().product()];
        host::npy::write(&folder.path().join(name), shape, &elements).expect("the file is written");
    };
    write("vector10.npy", &[10]);
    write("vector11.npy", &[11]);
    write("matrix4x5.npy", &[4, 5]);
    write("matrix6x3.npy", &[6, 3]);
    let sparse = "%%MatrixMarket matrix coordinate real general\n4 5 2\n1 1 1.0\n5 1 2.0\n";
    std::fs::write(folder.path().join("row5.mtx"), sparse).expect("the file is written");
    std::fs::write(folder.path().join("matrix4x5.mtx"), sparse.replace("5 1", "4 1")).expect("the file is written");
    host::npy::write(&folder.path().join("beyond.npy"), &[3], &[0.0_f32, 1.0, 2.0]).expect("the file is written");
    for (arguments, parts) in [
        ("offset --input vector10.npy --input-b vector11.npy", &["vector11.npy", "11", "10"][..]),
        ("offset --input matrix4x5.npy", &["matrix4x5.npy", "[4, 5]", "1 dimension"]),
        ("dot --input vector10.npy --input-b vector11.npy", &["vector11.npy", "11", "10"]),
        ("dot --input vector10.npy --input-b matrix4x5.npy", &["matrix4x5.npy", "1 dimension"]),
        ("matmul --input matrix4x5.npy --input-b matrix6x3.npy", &["matrix6x3.npy", "6 x 3", "5 x 3"]),
        ("matmul --input vector10.npy", &["vector10.npy", "2 dimensions"]),
        ("gram --input vector10.npy", &["vector10.npy", "2 dimensions"]),
        ("constant --input beyond.npy", &["beyond.npy", "element 2 is 2", "from 0 to 1"]),
        ("pitch --input vector10.npy", &["vector10.npy", "2 dimensions"]),
        ("rows --input vector10.npy", &["vector10.npy", "2 dimensions"]),
        ("texture --input vector10.npy", &["vector10.npy", "2 dimensions"]),
        ("reduce --input vector10.npy --type i32", &["vector10.npy", "int32 is needed"]),
        ("vector --input matrix4x5.npy", &["matrix4x5.npy", "1 dimension"]),
        ("sparse --matrix row5.mtx", &["row5.mtx", "line 4: the row '5' is not from 1 to 4"]),
        ("sparse --matrix missing.mtx", &["missing.mtx"]),
        ("sparse --matrix matrix4x5.mtx --uniform", &["--matrix", "leave out --uniform"]),
        ("sparse --matrix matrix4x5.mtx --input vector10.npy", &["vector10.npy", "10", "a vector of 5"]),
        ("sparse --matrix matrix4x5.npy", &["matrix4x5.npy", "line 1"]),
        ("sparse --rows 100000 --each 65536", &["--rows", "6553600000 entries"]),
        ("launch --input missing.npy", &["missing.npy"]),
        ("shared --input missing.npy", &["missing.npy"]),
    ] {
        let mut command = host(&format!("{arguments} --device sim"));
        command.current_dir(folder.path());
        fails(command, 2, parts);
    }
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    fails(host("transpose --padded --device gpu:97"), 2, &["GPU"]);
    fails(host("devices --device gpu:97"), 2, &["GPU"]);
}

#[test]
fn ptx_that_cannot_be_read_is_reported_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("broken.ptx");
    std::fs::write(
        &file,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n frobnicate.u32;\n}\n",
    )
    .expect("the file is written");
    let with = |path: &std::path::Path| {
        let mut command = host("transpose --padded --device sim --ptx");
        command.arg(path);
        command
    };
    fails(with(&file), 2, &["broken.ptx", "5", "frobnicate"]);
    fails(with(&folder.path().join("missing.ptx")), 2, &["missing.ptx"]);
    std::fs::write(&file, ".version 7.0\n.target sm_75\n.address_size 64\n").expect("the file is written");
    fails(with(&file), 2, &["transpose_padded"]);
}

#[test]
fn ptx_without_a_labs_kernels_is_named_with_the_kernels_that_it_has() {
    let file = "../tests/wild/ptx/clang_plain.sm_75.ptx";
    fails(
        host(&format!("transpose --naive --rows 8 --cols 8 --device sim --ptx {file}")),
        2,
        &[&format!("kernel transpose_strided_writes: is not in {file}, which has saxpy, collatz, ")],
    );
    fails(host(&format!("constant --size 8 --device sim --ptx {file}")), 2, &[&format!("is not in {file}")]);
    let folder = tempfile::tempdir().expect("a folder");
    let other = ".version 7.8\n.target sm_75\n.address_size 64\n\
                 .visible .entry transpose_strided_writes(.param .u64 p) { ret; }\n";
    std::fs::write(folder.path().join("other.ptx"), other).expect("the file is written");
    let mut command = host("transpose --naive --rows 8 --cols 8 --device sim --ptx other.ptx");
    command.current_dir(folder.path());
    fails(command, 2, &["takes 1 parameter in other.ptx, but 8 arguments were given"]);
}
