//! Streams and events. All work is done when its call returns, so there is nothing to wait for but
//! the functions of the host that a stream was given.

use std::ffi::{c_int, c_uint};

use crate::boundary::callbacks::{HostFunction, Passed, StreamCallback, call_host, call_stream, wait};
use crate::boundary::{Done, In, Out, Status, driver};
use crate::objects::{Event, Handle, Stream};
use crate::state::{current, ready, working};

/// The default streams have numbers of their own.
fn known(stream: Handle) -> Done<Stream> {
    match stream {
        0..=2 => Ok(Stream::default()),
        _ => ready()?.streams.get(&stream).copied().ok_or(Status::INVALID_HANDLE),
    }
}

fn create(to: Out<Handle>, flags: c_uint, priority: c_int) -> Done {
    to.check()?;
    let mut state = working()?;
    let stream = state.handle();
    state.streams.insert(stream, Stream { flags, priority: priority.clamp(-5, 0) });
    to.put(stream)
}

fn record(event: Handle) -> Done {
    let mut state = working()?;
    let clock = state.clock;
    state.events.get_mut(&event).ok_or(Status::INVALID_HANDLE)?.at = Some(clock);
    Ok(())
}

fn elapsed(to: Out<f32>, from: Handle, until: Handle) -> Done {
    let state = ready()?;
    let of = |event: Handle| -> Done<f64> {
        let event = state.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        // 2: without times.
        event.at.filter(|_| event.flags & 2 == 0).ok_or(Status::INVALID_HANDLE)
    };
    let milliseconds = (of(until)? - of(from)?) / 1000.0;
    to.put(milliseconds as f32)
}

driver! {
    fn cuStreamCreate(to: Out<Handle>, flags: c_uint) {
        create(to, flags, 0)
    }

    fn cuStreamCreateWithPriority(to: Out<Handle>, flags: c_uint, priority: c_int) {
        create(to, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        ready()?.streams.remove(&stream).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    fn cuStreamQuery(stream: Handle) {
        known(stream)?;
        ready()?.synchronize()
    }

    fn cuStreamSynchronize(stream: Handle) {
        known(stream)?;
        wait();
        ready()?.synchronize()
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) {
        known(stream)?;
        ready()?.events.get(&event).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    fn cuStreamGetPriority(stream: Handle, to: Out<c_int>) {
        to.put(known(stream)?.priority)
    }

    fn cuStreamGetFlags(stream: Handle, to: Out<c_uint>) {
        to.put(known(stream)?.flags)
    }

    fn cuStreamGetId(stream: Handle, to: Out<u64>) {
        known(stream)?;
        to.put(stream as u64)
    }

    fn cuStreamGetCtx(stream: Handle, to: Out<Handle>) {
        known(stream)?;
        to.put(current()?)
    }

    fn cuStreamGetCtx_v2(stream: Handle, to: Out<Handle>, green: Out<Handle>) {
        known(stream)?;
        green.give(0);
        to.put(current()?)
    }

    fn cuStreamGetDevice(stream: Handle, to: Out<c_int>) {
        to.put(0)
    }

    fn cuStreamIsCapturing(stream: Handle, to: Out<c_uint>) {
        to.put(0)
    }

    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<c_uint>, id: Out<u64>) {
        id.give(0);
        status.put(0)
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<Handle>, count: Out<usize>,
    ) {
        id.give(0);
        count.give(0);
        status.put(0)
    }

    fn cuStreamGetCaptureInfo_v3(
        stream: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<Handle>, edges: Out<Handle>,
        count: Out<usize>,
    ) {
        id.give(0);
        count.give(0);
        status.put(0)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        Ok(())
    }

    fn cuStreamCopyAttributes(to: Handle, from: Handle) {
        Ok(())
    }

    fn cuStreamSetAttribute(stream: Handle, number: c_uint, value: In<u8>) {
        Ok(())
    }

    fn cuStreamAddCallback(stream: Handle, function: StreamCallback, data: Passed, flags: c_uint) {
        known(stream)?;
        call_stream(stream, function, data)
    }

    fn cuLaunchHostFunc(stream: Handle, function: HostFunction, data: Passed) {
        known(stream)?;
        call_host(function, data)
    }

    fn cuStreamWriteValue32_v2(stream: Handle, address: u64, value: u32, flags: c_uint) {
        working()?.memory.write(address, &value.to_le_bytes()).map_err(|_| Status::INVALID_VALUE)
    }

    fn cuStreamWriteValue64_v2(stream: Handle, address: u64, value: u64, flags: c_uint) {
        working()?.memory.write(address, &value.to_le_bytes()).map_err(|_| Status::INVALID_VALUE)
    }

    fn cuEventCreate(to: Out<Handle>, flags: c_uint) {
        let mut state = working()?;
        let event = state.handle();
        state.timed |= flags & 2 == 0;
        state.events.insert(event, Event { flags, at: None });
        to.put(event)
    }

    fn cuEventDestroy_v2(event: Handle) {
        ready()?.events.remove(&event).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        known(stream)?;
        record(event)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) {
        known(stream)?;
        record(event)
    }

    fn cuEventQuery(event: Handle) {
        let mut state = ready()?;
        state.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        state.synchronize()
    }

    fn cuEventSynchronize(event: Handle) {
        wait();
        let mut state = ready()?;
        state.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        state.synchronize()
    }

    fn cuEventElapsedTime(to: Out<f32>, from: Handle, until: Handle) {
        elapsed(to, from, until)
    }

    fn cuEventElapsedTime_v2(to: Out<f32>, from: Handle, until: Handle) {
        elapsed(to, from, until)
    }
}
