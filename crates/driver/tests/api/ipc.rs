//! Memory of one process that another opens. The other is this test once more.

use std::process::Command;

use super::support::{Driver, INVALID_VALUE, IpcHandle, KERNELS, in_child, null_pointer, text};

/// Set in the process that opens the memory: the handle.
const HANDLE: &str = "COALESCE_DRIVER_IPC";

const NAME: &str = "ipc::a_process_opens_the_memory_of_another";

// In a process of its own: other tests map memory at the same addresses.
#[test]
fn a_process_opens_the_memory_of_another() {
    in_child(NAME, &[], share);
}

fn share(driver: &Driver) {
    let add = driver.kernel(driver.module(KERNELS), "add");
    if let Ok(handle) = std::env::var(HANDLE) {
        let mut bytes = [0; 64];
        for (byte, word) in bytes.iter_mut().zip(handle.split(' ')) {
            *byte = word.parse().expect("a byte");
        }
        let mut memory = 0;
        assert_eq!(driver.cuIpcOpenMemHandle_v2(&mut memory, IpcHandle(bytes), 1), 0);
        assert_eq!(driver.read(memory, 8), [4; 8]);
        assert_eq!(driver.add(add, 1, 32, memory, memory, 8), 0);
        assert_eq!(driver.cuMemFree_v2(memory), INVALID_VALUE);
        assert_eq!((driver.cuIpcCloseMemHandle(memory), driver.cuIpcCloseMemHandle(memory)), (0, INVALID_VALUE));
        bytes[0] = 0;
        assert_eq!(driver.cuIpcOpenMemHandle_v2(&mut memory, IpcHandle(bytes), 1), INVALID_VALUE);
        return;
    }
    let memory = driver.words(&[4; 8]);
    let mut handle = IpcHandle([0; 64]);
    assert_eq!(driver.cuIpcGetMemHandle(&mut handle, memory), 0);
    let shown: Vec<String> = handle.0.iter().map(u8::to_string).collect();
    let output = Command::new(std::env::current_exe().expect("a path"))
        .args([NAME, "--exact", "--nocapture"])
        .env(HANDLE, shown.join(" "))
        .output()
        .expect("the test runs");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    // What the other's kernel wrote, and then one of this process.
    assert_eq!(driver.read(memory, 8), [8; 8]);
    assert_eq!(driver.add(add, 1, 32, memory, memory, 8), 0);
    assert_eq!(driver.read(memory, 8), [16; 8]);
    // Its own memory, no memory, and memory of the host.
    let (mut own, mut pinned) = (0, null_pointer());
    assert_eq!(driver.cuIpcOpenMemHandle_v2(&mut own, handle, 1), INVALID_VALUE);
    assert_eq!(driver.cuIpcGetMemHandle(&mut handle, 0), INVALID_VALUE);
    assert_eq!(driver.cuMemAllocHost_v2(&mut pinned, 16), 0);
    assert_eq!(driver.cuIpcGetMemHandle(&mut handle, pinned as u64), INVALID_VALUE);
    assert_eq!((driver.cuMemFree_v2(memory), driver.cuIpcGetMemHandle(&mut handle, memory)), (0, INVALID_VALUE));
}
