use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::null;

use coalesce_driver::record::{ENDING, KernelRecord};

use super::support::{Driver, KERNELS, in_child, null_pointer, text};

fn records(folder: &Path) -> Vec<KernelRecord> {
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|file| file.path()).collect();
    names.sort();
    let wanted = names.iter().filter(|name| name.to_string_lossy().ends_with(ENDING));
    wanted.map(|name| serde_json::from_slice(&std::fs::read(name).unwrap()).unwrap()).collect()
}

fn run(driver: &Driver) {
    let module = driver.module(KERNELS);
    let (add, count, words) = (driver.kernel(module, "add"), driver.kernel(module, "count"), driver.words(&[1; 64]));
    for _ in 0..70 {
        assert_eq!(driver.add(add, 2, 32, words, words, 64), 0);
    }
    assert_eq!(driver.add(add, 1, 32, words, words, 32), 0);
    assert_eq!(driver.launch(count, 1, 32, &[]), 0);
}

#[test]
fn launches_are_added_up_by_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let settings = [("COALESCE_RECORD", path), ("COALESCE_DEVICE", "hopper"), ("COALESCE_PREDICT", "always")];
    if in_child("records::launches_are_added_up_by_kernel", &settings, run).is_none() {
        return;
    }
    let all = records(folder.path());
    let [add, count] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((&*add.kernel, add.launches, &*count.kernel, count.launches), ("add", 71, "count", 1));
    assert_eq!(add.shapes.iter().map(|(shape, times)| (shape.grid[0], *times)).collect::<Vec<_>>(), [(2, 70), (1, 1)]);
    let predicted = add.predicted.as_ref().unwrap();
    assert!(predicted.all_us > 60.0 * predicted.longest_us && predicted.longest_us > 1.0, "{predicted:?}");
    // The module's PTX is beside them, and gives the counters their instructions.
    let ptx = std::fs::read_to_string(folder.path().join(&add.module)).unwrap();
    assert_eq!(ptx, KERNELS);
    let module = ptx::parse("module.ptx", &ptx).unwrap();
    let program = simt::Program::load(&module, &mut simt::Memory::new(1 << 20)).unwrap();
    let report = program.recorded("add", add.counted().unwrap(), None, Vec::new()).unwrap().unwrap();
    let counters = report.counters();
    assert_eq!((counters.global.load.requests, counters.global.store.sectors), (4 * 70 + 2, 8 * 70 + 4));
    assert!(program.recorded("add", Vec::new(), None, Vec::new()).unwrap().is_none());
}

#[test]
fn only_the_chosen_kernel_is_recorded_on_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let settings = [("COALESCE_RECORD", path), ("COALESCE_ONLY_KERNEL", "count"), ("COALESCE_MODEL", "1")];
    if in_child("records::only_the_chosen_kernel_is_recorded_on_a_model", &settings, run).is_some() {
        let all = records(folder.path());
        assert_eq!(all.iter().map(|record| &*record.kernel).collect::<Vec<_>>(), ["count"]);
        assert!(all[0].model.is_some() && all[0].occupancy().is_some());
    }
}

#[test]
fn a_fault_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let stopped = in_child("records::a_fault_is_recorded", &[("COALESCE_RECORD", path)], |driver| {
        assert_eq!(driver.launch(driver.kernel(driver.module(KERNELS), "trapping"), 1, 1, &[]), 719);
    });
    if stopped.is_some() {
        let all = records(folder.path());
        assert_eq!(all[0].stopped.as_ref().unwrap().kind, "trap", "{all:?}");
    }
}

/// For a folder that cannot be written there is one line, and the program continues.
#[test]
fn a_record_that_cannot_be_written_is_one_line() {
    let test = "records::a_record_that_cannot_be_written_is_one_line";
    if let Some(output) = in_child(test, &[("COALESCE_RECORD", "/proc/none")], run) {
        let message = text(&output.stderr);
        assert_eq!(message.matches("cannot be written").count(), 1, "{message}");
    }
}

/// A block within another has its launches for itself, and settings of its own; a module loaded
/// before is beside its records.
#[test]
fn a_process_records_blocks_itself() {
    let driver = Driver::new();
    let (outer, inner) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let module = driver.module(KERNELS);
    let (add, words) = (driver.kernel(module, "add"), driver.words(&[1; 64]));
    let begin = |folder: &Path, more: &str| {
        let settings = format!("COALESCE_RECORD={}\n{more}", folder.display());
        let (settings, mut problem) = (CString::new(settings).unwrap(), [0; 200]);
        let status = driver.coalesce_record_begin(settings.as_ptr(), problem.as_mut_ptr(), problem.len());
        (status, CStr::from_bytes_until_nul(&problem).unwrap().to_str().unwrap().to_owned())
    };
    let launch = || assert_eq!(driver.add(add, 2, 32, words, words, 64), 0);
    launch();
    assert_eq!(begin(outer.path(), "").0, 0);
    launch();
    assert_eq!(begin(inner.path(), "COALESCE_MODEL=1\nCOALESCE_PREDICT=always").0, 0);
    launch();
    launch();
    assert_eq!(driver.coalesce_record_end(), 0);
    launch();
    assert_eq!(driver.coalesce_record_end(), 0);
    launch();
    assert_eq!(driver.coalesce_record_end(), 1);
    let [outer_add] = records(outer.path()).try_into().unwrap();
    let [inner_add] = records(inner.path()).try_into().unwrap();
    assert_eq!((outer_add.launches, inner_add.launches), (2, 2));
    assert!(outer_add.model.is_none() && inner_add.model.is_some() && inner_add.predicted.is_some());
    for (record, folder) in [(&outer_add, &outer), (&inner_add, &inner)] {
        assert_eq!(record.report(folder.path()).unwrap().unwrap().counters().global.load.requests, 8);
    }
    for (more, said) in
        [("COALESCE_CHECK=banks", "COALESCE_CHECK: unknown check"), ("COALESCE_STEPS=x", "COALESCE_STEPS")]
    {
        let (status, problem) = begin(outer.path(), more);
        assert!(status == 1 && problem.starts_with(said), "{problem}");
    }
    assert_eq!(begin(Path::new("/none"), ""), (1, "COALESCE_RECORD: name a folder".to_owned()));
    assert_eq!(driver.coalesce_record_begin(null(), null_pointer(), 0), 1);
}

/// A fault of a block is not the next one's.
#[test]
fn a_block_begins_without_a_fault() {
    let driver = Driver::new();
    let folder = tempfile::tempdir().unwrap();
    let module = driver.module(KERNELS);
    let kernel = |name| driver.kernel(module, name);
    let (trapping, add, words) = (kernel("trapping"), kernel("add"), driver.words(&[1; 64]));
    assert_eq!(driver.launch(trapping, 1, 1, &[]), 719);
    assert_eq!(driver.add(add, 2, 32, words, words, 64), 719);
    let settings = CString::new(format!("COALESCE_RECORD={}", folder.path().display())).unwrap();
    assert_eq!(driver.coalesce_record_begin(settings.as_ptr(), null_pointer(), 0), 0);
    assert_eq!(driver.add(add, 2, 32, words, words, 64), 0);
    assert_eq!(driver.coalesce_record_end(), 0);
}
