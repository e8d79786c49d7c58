//! Tests of `host check`.

use super::*;

const KERNEL: &str = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .align 8 .b8 s[24], .param .f32 x)
.maxntid 16, 8, 1
.minnctapersm 2
.maxnreg 48
{
.shared .align 8 .b8 tile[1024];
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [a];
st.shared.b64 [tile], %rd1;
ret;
}
";

fn written(text: &str, format: Format) -> (String, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    std::fs::write(&file, text).unwrap();
    let matches = command().try_get_matches_from(["check".into(), file.into_os_string()]).unwrap();
    let mut out = Vec::new();
    let error = main(&matches, format, &mut out).err().map(|error| error.to_string());
    let path = format!("{}/", folder.path().display());
    let plain = |text: String| text.replace(&path, "");
    (plain(String::from_utf8(out).unwrap()), error.map(plain))
}

#[test]
fn kernels_are_listed_with_what_they_need() {
    let (text, error) = written(KERNEL, Format::Table);
    assert_eq!(error, None);
    assert_eq!(
        text,
        "k.ptx: valid PTX 7.8 for sm_75, 1 kernel\n\n\
         k: 3 instructions, 1024 bytes of shared memory, blocks of at most 128 threads, 2 blocks a multiprocessor, at most 48 \
         registers per thread\n  \
         0: u64     8 bytes, align 8  a\n  \
         1: b8[24]  24 bytes, align 8  s\n  \
         2: f32     4 bytes, align 4  x\n"
    );
}

#[test]
fn one_is_singular() {
    let one = KERNEL.replace(".maxntid 16, 8, 1", ".maxntid 1").replace(".minnctapersm 2", ".minnctapersm 1");
    let (text, _) = written(&one.replace(".maxnreg 48", ".maxnreg 1"), Format::Table);
    let bounds = "blocks of at most 1 thread, 1 block a multiprocessor, at most 1 register per thread\n";
    assert!(text.contains(bounds), "{text}");
}

#[test]
fn clusters_are_named() {
    let bounds = |directives: &str| {
        let kernel = KERNEL.replace(".version 7.8\n.target sm_75", ".version 9.0\n.target sm_90");
        let (text, error) = written(&kernel.replace(".maxntid 16, 8, 1", directives), Format::Table);
        assert_eq!(error, None);
        text.lines().nth(2).unwrap_or_default().to_owned()
    };
    let all = bounds(".reqntid 64 .reqnctapercluster 2, 2 .blocksareclusters");
    assert!(all.contains(", clusters of 2 x 2 x 1 blocks, its grid is counted in clusters, "), "{all}");
    let some = bounds(".maxclusterrank 8 .explicitcluster");
    assert!(some.contains(", clusters of at most 8 blocks, launched in clusters, "), "{some}");
}

#[test]
fn json_has_it_all() {
    let (text, error) = written(KERNEL, Format::Json);
    assert_eq!(error, None);
    let json: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "file": "k.ptx", "valid": true, "version": "7.8", "target": "sm_75",
        "kernels": [{
            "name": "k",
                "demangled": null,
            "parameters": [
                {"name": "a", "type": "u64", "bytes": 8, "align": 8},
                {"name": "s", "type": "b8[24]", "bytes": 24, "align": 8},
                {"name": "x", "type": "f32", "bytes": 4, "align": 4},
            ],
            "shared": 1024, "local": 0, "max_threads": [16, 8, 1], "required_threads": null, "min_blocks": 2,
            "max_registers": 48, "cluster": null, "max_cluster": null, "grid_in_clusters": false,
            "instructions": 3, "never_written": [], "simulator": null,
        }],
        "errors": [],
    });
    assert_eq!(json, expected);
}

#[test]
fn registers_that_nothing_writes_are_named() {
    // What is put beside others may be padding.
    let used = "st.shared.b64 [%rd0], %rd1; st.shared.v2.b64 [tile], {%rd1, %rd2};";
    let text = KERNEL.replace("%rd<2>", "%rd<3>").replace("st.shared.b64 [tile], %rd1;", used);
    let (table, error) = written(&text, Format::Table);
    assert_eq!(error, None);
    assert!(table.ends_with("\n  used but never written: %rd0\n"), "{table}");
    let json: Value = serde_json::from_str(&written(&text, Format::Json).0).unwrap();
    assert_eq!(json["kernels"][0]["never_written"], json!(["%rd0"]));
}

#[test]
fn all_errors_are_shown() {
    let wrong = KERNEL.replace("ld.param.u64", "frob.u64").replace("ret;", "ret %rd9;");
    let (text, error) = written(&wrong, Format::Table);
    assert_eq!(error.as_deref(), Some("k.ptx: is not valid PTX: 2 errors"));
    assert_eq!(text.matches("k.ptx:12:").count() + text.matches("k.ptx:14:").count(), 2, "{text}");
    let unsupported = KERNEL.replace("ld.param.u64 %rd1, [a];", "tcgen05.fence::before_thread_sync;");
    let (_, error) = written(&unsupported, Format::Table);
    assert_eq!(error.as_deref(), Some("k.ptx: uses PTX that this program does not support: 1 error"));
    let (text, error) = written(&wrong, Format::Json);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert!(error.is_some());
    assert_eq!((&json["valid"], &json["errors"][0]["line"]), (&json!(false), &json!(12)));
    assert_eq!(json["errors"].as_array().map(Vec::len), Some(2));
}
