//! Streams, events, and graphs that are captured.

use std::ffi::{c_int, c_uint, c_void};

use crate::call::{put, runtime};
use crate::device::{current, ready};
use crate::driver;
use crate::types::{Handle, IpcHandle, StreamCallback};

runtime! {
    fn cudaStreamCreate(to: *mut Handle) {
        ready()?;
        driver::cuStreamCreate(to, 0)
    }

    fn cudaStreamCreateWithFlags(to: *mut Handle, flags: c_uint) {
        ready()?;
        driver::cuStreamCreate(to, flags)
    }

    fn cudaStreamCreateWithPriority(to: *mut Handle, flags: c_uint, priority: c_int) {
        ready()?;
        driver::cuStreamCreateWithPriority(to, flags, priority)
    }

    fn cudaStreamDestroy(stream: Handle) {
        ready()?;
        driver::cuStreamDestroy_v2(stream)
    }

    fn cudaStreamSynchronize [cudaStreamSynchronize_ptsz] (stream: Handle) {
        ready()?;
        driver::cuStreamSynchronize(stream)
    }

    fn cudaStreamQuery [cudaStreamQuery_ptsz] (stream: Handle) {
        ready()?;
        driver::cuStreamQuery(stream)
    }

    fn cudaStreamWaitEvent [cudaStreamWaitEvent_ptsz] (stream: Handle, event: Handle, flags: c_uint) {
        ready()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }

    fn cudaStreamAddCallback [cudaStreamAddCallback_ptsz] (stream: Handle, function: StreamCallback, data: *mut c_void, flags: c_uint) {
        ready()?;
        driver::cuStreamAddCallback(stream, function, data, flags)
    }

    fn cudaStreamGetFlags [cudaStreamGetFlags_ptsz] (stream: Handle, to: *mut c_uint) {
        ready()?;
        driver::cuStreamGetFlags(stream, to)
    }

    fn cudaStreamGetPriority [cudaStreamGetPriority_ptsz] (stream: Handle, to: *mut c_int) {
        ready()?;
        driver::cuStreamGetPriority(stream, to)
    }

    fn cudaStreamGetDevice [cudaStreamGetDevice_ptsz] (stream: Handle, to: *mut c_int) {
        put(to, current())
    }

    // Where managed memory is seen is left as it is: everywhere.
    fn cudaStreamAttachMemAsync [cudaStreamAttachMemAsync_ptsz] (stream: Handle, address: u64, bytes: usize, flags: c_uint) {
        ready()
    }

    fn cudaStreamBeginCapture [cudaStreamBeginCapture_ptsz] (stream: Handle, mode: c_uint) {
        ready()?;
        driver::cuStreamBeginCapture_v2(stream, mode)
    }

    fn cudaStreamEndCapture [cudaStreamEndCapture_ptsz] (stream: Handle, to: *mut Handle) {
        ready()?;
        driver::cuStreamEndCapture(stream, to)
    }

    fn cudaStreamIsCapturing [cudaStreamIsCapturing_ptsz] (stream: Handle, to: *mut c_uint) {
        ready()?;
        driver::cuStreamIsCapturing(stream, to)
    }

    fn cudaGraphCreate(to: *mut Handle, flags: c_uint) {
        ready()?;
        driver::cuGraphCreate(to, flags)
    }

    fn cudaGraphGetNodes(graph: Handle, to: *mut Handle, count: *mut usize) {
        ready()?;
        driver::cuGraphGetNodes(graph, to, count)
    }

    fn cudaGraphInstantiate(to: *mut Handle, graph: Handle, flags: u64) {
        ready()?;
        driver::cuGraphInstantiateWithFlags(to, graph, flags)
    }

    fn cudaGraphInstantiateWithFlags(to: *mut Handle, graph: Handle, flags: u64) {
        ready()?;
        driver::cuGraphInstantiateWithFlags(to, graph, flags)
    }

    fn cudaGraphLaunch [cudaGraphLaunch_ptsz] (graph: Handle, stream: Handle) {
        ready()?;
        driver::cuGraphLaunch(graph, stream)
    }

    fn cudaGraphDestroy(graph: Handle) {
        ready()?;
        driver::cuGraphDestroy(graph)
    }

    fn cudaGraphExecDestroy(graph: Handle) {
        ready()?;
        driver::cuGraphExecDestroy(graph)
    }

    fn cudaEventCreate(to: *mut Handle) {
        ready()?;
        driver::cuEventCreate(to, 0)
    }

    fn cudaEventCreateWithFlags(to: *mut Handle, flags: c_uint) {
        ready()?;
        driver::cuEventCreate(to, flags)
    }

    fn cudaEventRecord [cudaEventRecord_ptsz] (event: Handle, stream: Handle) {
        ready()?;
        driver::cuEventRecord(event, stream)
    }

    fn cudaEventRecordWithFlags [cudaEventRecordWithFlags_ptsz] (event: Handle, stream: Handle, flags: c_uint) {
        ready()?;
        driver::cuEventRecord(event, stream)
    }

    fn cudaEventSynchronize(event: Handle) {
        ready()?;
        driver::cuEventSynchronize(event)
    }

    fn cudaEventQuery(event: Handle) {
        ready()?;
        driver::cuEventQuery(event)
    }

    fn cudaEventElapsedTime(to: *mut f32, begin: Handle, end: Handle) {
        ready()?;
        driver::cuEventElapsedTime(to, begin, end)
    }

    fn cudaIpcGetEventHandle(to: *mut IpcHandle, event: Handle) {
        ready()?;
        driver::cuIpcGetEventHandle(to, event)
    }

    fn cudaIpcOpenEventHandle(to: *mut Handle, handle: IpcHandle) {
        ready()?;
        driver::cuIpcOpenEventHandle(to, handle)
    }

    fn cudaEventDestroy(event: Handle) {
        ready()?;
        driver::cuEventDestroy_v2(event)
    }
}
