//! Memory and events of one process that another opens. The other is this test once more.

use std::ffi::c_void;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::support::{
    Driver, INVALID_HANDLE, INVALID_VALUE, IpcHandle, KERNELS, NOT_READY, in_child, null_pointer, text,
};

/// Set in the process that opens something: the handles.
const HANDLES: &str = "COALESCE_DRIVER_IPC";

const MEMORY: &str = "ipc::a_process_opens_the_memory_of_another";
const EVENT: &str = "ipc::a_process_waits_for_the_event_of_another";

/// The handles that this process is to open, if it is the other one.
fn handles() -> Option<Vec<IpcHandle>> {
    let text = std::env::var(HANDLES).ok()?;
    let bytes: Vec<u8> = text.split(' ').map(|byte| byte.parse().expect("a byte")).collect();
    Some(bytes.as_chunks::<64>().0.iter().map(|bytes| IpcHandle(*bytes)).collect())
}

/// Starts the other process.
fn begin(test: &str, handles: &[IpcHandle]) -> Child {
    let shown: Vec<String> = handles.iter().flat_map(|handle| handle.0).map(|byte| byte.to_string()).collect();
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([test, "--exact", "--nocapture"]).env(HANDLES, shown.join(" "));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the test runs")
}

fn end(child: Child) {
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    assert!(status.success(), "{}{}", text(&stdout), text(&stderr));
}

// In a process of its own: other tests map memory at the same addresses.
#[test]
fn a_process_opens_the_memory_of_another() {
    in_child(MEMORY, &[], share);
}

fn share(driver: &Driver) {
    let add = driver.kernel(driver.module(KERNELS), "add");
    if let Some(handles) = handles() {
        let IpcHandle(mut bytes) = handles[0];
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
    end(begin(MEMORY, &[handle]));
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

#[test]
fn a_process_waits_for_the_event_of_another() {
    in_child(EVENT, &[], wait);
}

/// The first process records the event behind a function of the host, which waits for the other's
/// word that it saw the event as not reached.
fn wait(driver: &Driver) {
    let add = driver.kernel(driver.module(KERNELS), "add");
    let (mut memory, mut event, mut stream, mut other) = (0, 0, 0, 0);
    assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuStreamCreate(&mut other, 1)), (0, 0));
    if let Some(handles) = handles() {
        assert_eq!(driver.cuIpcOpenMemHandle_v2(&mut memory, handles[0], 1), 0);
        assert_eq!(driver.cuIpcOpenEventHandle(&mut event, handles[0]), INVALID_VALUE);
        assert_eq!(driver.cuIpcOpenEventHandle(&mut event, handles[1]), 0);
        assert_eq!(driver.cuEventQuery(event), NOT_READY);
        assert_eq!(driver.cuStreamWaitEvent(stream, event, 0), 0);
        assert_eq!(driver.cuStreamWriteValue32_v2(other, memory, 5, 0), 0);
        assert_eq!(driver.cuEventSynchronize(event), 0);
        assert_eq!((driver.cuEventQuery(event), driver.cuStreamSynchronize(stream)), (0, 0));
        // The other has written before the event.
        assert_eq!(driver.read(memory, 2), [5, 6]);
        assert_eq!(driver.add(add, 1, 32, memory, memory, 2), 0);
        assert_eq!(driver.cuEventRecord(event, stream), 0);
        assert_eq!((driver.cuEventDestroy_v2(event), driver.cuEventQuery(event)), (0, INVALID_HANDLE));
        return;
    }
    static SEEN: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn pause(_: *mut c_void) {
        while !SEEN.load(Relaxed) {
            std::thread::yield_now();
        }
    }
    let mut handles = [IpcHandle([0; 64]), IpcHandle([0; 64])];
    memory = driver.words(&[0, 0]);
    assert_eq!(driver.cuIpcGetMemHandle(&mut handles[0], memory), 0);
    // Such events have no times.
    assert_eq!(driver.cuEventCreate(&mut event, 4), INVALID_VALUE);
    assert_eq!(
        (driver.cuEventCreate(&mut event, 2), driver.cuIpcGetEventHandle(&mut handles[1], event)),
        (0, INVALID_VALUE)
    );
    assert_eq!((driver.cuEventCreate(&mut event, 6), driver.cuIpcGetEventHandle(&mut handles[1], event)), (0, 0));
    assert_eq!(driver.cuEventQuery(event), 0);
    assert_eq!(driver.cuMemsetD32_v2(memory + 4, 6, 1), 0);
    assert_eq!(driver.cuLaunchHostFunc(stream, Some(pause), null_pointer()), 0);
    assert_eq!((driver.cuEventRecord(event, stream), driver.cuEventQuery(event)), (0, NOT_READY));
    let mut child = begin(EVENT, &handles);
    // SAFETY: memory that was exported is in a file that is mapped at this address.
    let word = unsafe { &*(memory as *const AtomicU32) };
    while word.load(Relaxed) == 0 && child.try_wait().expect("it runs").is_none() {
        std::thread::yield_now();
    }
    SEEN.store(true, Relaxed);
    end(child);
    // The other's recording.
    assert_eq!((driver.cuEventSynchronize(event), driver.read(memory, 2)), (0, vec![10, 12]));
}

#[test]
fn a_wait_is_for_the_recording_before_it() {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn pause(_: *mut c_void) {
        while !GO_ON.load(Relaxed) {
            std::thread::yield_now();
        }
    }
    let driver = Driver::new();
    let (mut event, mut stream) = (0, 0);
    assert_eq!((driver.cuStreamCreate(&mut stream, 1), driver.cuEventCreate(&mut event, 6)), (0, 0));
    assert_eq!(driver.cuLaunchHostFunc(stream, Some(pause), null_pointer()), 0);
    assert_eq!((driver.cuEventRecord(event, stream), driver.cuStreamWaitEvent(stream, event, 0)), (0, 0));
    // This recording is behind the wait, which must not wait for it.
    assert_eq!((driver.cuEventRecord(event, stream), driver.cuEventQuery(event)), (0, NOT_READY));
    GO_ON.store(true, Relaxed);
    assert_eq!((driver.cuStreamSynchronize(stream), driver.cuEventQuery(event)), (0, 0));
}
