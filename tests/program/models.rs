//! Tests of `--device sim:MODEL`: the simulator with a model of a GPU and its caches.

use serde_json::Value;

use crate::{fails, host, output};

fn json(arguments: &str) -> Value {
    let text = output(&format!("{arguments} --format json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments}: {error}\n{text}"))
}

fn counters(arguments: &str) -> Value {
    json(arguments)["variants"][0]["counters"].clone()
}

#[test]
fn each_model_makes_its_own_transactions_of_a_misaligned_read() {
    let counted =
        |model: &str| counters(&format!("offset --read --offset 1 --size 4096 --block 32 --device sim:{model}"));
    // Two arrays, 128 warps; the very last lane reads nothing. Lines of 128 bytes, and sectors of
    // 32.
    assert_eq!(counted("fermi")["gld_transactions"], 2 * (2 * 128 - 1));
    assert_eq!(counted("fermi:cg")["gld_transactions"], 2 * (5 * 128 - 1));
    // Slices are read through Kepler's read-only cache: 12 queries of 32 bytes a warp, 5 misses.
    for kepler in [counted("kepler"), counted("kepler:ca")] {
        assert_eq!(kepler["gld_transactions"], 0);
        assert_eq!(kepler["tex_cache_sector_queries"], 2 * (12 * 128 - 1));
        assert_eq!(kepler["nc_l2_read_transactions"], 2 * (5 * 128 - 1));
    }
    assert_eq!(counted("maxwell")["gld_transactions"], 2 * (5 * 128 - 1));
    // One transaction per thread on GPUs whose half-warps must access memory in order.
    assert_eq!(counted("g80")["gld_transactions"], 2 * (4096 - 1));
    let hopper = counted("hopper");
    assert!(hopper["gld_transactions"].is_null(), "{hopper}");
    assert_eq!(hopper["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 2 * (5 * 128 - 1));
    assert!(hopper["dram__bytes_read.sum"].as_u64().is_some_and(|bytes| bytes >= 2 * 4095 * 4), "{hopper}");
    // Without a model there are no such counters.
    let plain = counters("offset --read --offset 1 --size 4096 --block 32 --device sim");
    assert!(plain["gld_transactions"].is_null() && plain["dram__bytes_read.sum"].is_null(), "{plain}");
}

#[test]
fn the_banks_are_the_models() {
    let wavefronts = |model: &str| {
        let counters = counters(&format!("transpose --tiled --rows 32 --cols 32 --device sim{model}"));
        counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"].as_u64().expect("a number")
    };
    // 32 warps read a column of 32 x 32 floats: 32 banks, 16 banks in two halves, 8-byte banks.
    assert_eq!([wavefronts(""), wavefronts(":tesla"), wavefronts(":kepler8")], [32 * 32, 32 * 32, 32 * 16]);
}

#[test]
fn a_table_shows_caches_and_occupancy_within_a_hundred_columns() {
    for model in ["g80", "fermi", "hopper"] {
        let text = output(&format!("transpose --rows 100 --cols 100 --legend --device sim:{model}"));
        assert!(text.contains("occupancy") && text.contains("DRAM"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn models_are_listed_in_every_format() {
    let table = output("devices");
    for model in simt::Model::all() {
        assert!(table.contains(&format!("\n {} ", model.name)), "{table}");
    }
    let hopper = table.lines().find(|line| line.starts_with(" hopper")).expect("it is listed");
    assert_eq!(
        hopper.split_whitespace().collect::<Vec<_>>(),
        "hopper H200 9.0 132 2048 256 61440 228 4610".split(' ').collect::<Vec<_>>()
    );
    assert!(table.find(" hopper") < table.find(" g80"), "the newest first: {table}");
    let devices = json("devices");
    let hopper = devices.as_array().expect("a list").iter().find(|device| device["simulates"] == "hopper");
    let hopper = hopper.expect("it is listed");
    assert_eq!((&hopper["multiprocessors"], &hopper["shared_sizes"][9]), (&132.into(), &233_472.into()));
    assert!(
        output("devices --format csv")
            .lines()
            .next()
            .is_some_and(|head| head.ends_with("sim:h100,sim:b200,sim:rtx5090"))
    );
    assert!(output("devices --device sim:turing").contains("32 64 KiB"));
}

#[test]
fn what_a_model_cannot_do_is_one_line() {
    fails(host("transpose --device sim:cuda"), 2, &["sim:cuda", "hopper"]);
    fails(host("transpose --device sim:fermi:cv"), 2, &["sim:fermi:cv", ":ca (cache loads in L1) or :cg (bypass L1)"]);
    fails(host("offset --block 1024 --device sim:g80"), 2, &["1024", "512"]);
}
