//! Streams and events. All work is done when its call returns, so there is nothing to wait for but
//! the functions of the host that a stream was given.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::boundary::callbacks::{Behind, HostFunction, Passed, StreamCallback};
use crate::boundary::{Done, In, Out, Status, driver};
use crate::capture::{check_event, check_stream, join};
use crate::objects::{Event, Handle, LEGACY, PER_THREAD, Stream};
use crate::queue::submit;
use crate::shared_event::SharedEvent;
use crate::state::{current, ready, working};
use crate::work::Work;

fn known(stream: Handle) -> Done<Stream> {
    ready()?.stream(Stream::number(stream)).cloned()
}

/// The context of a stream: of a default stream, the current one.
fn context_of(stream: Handle) -> Done<Handle> {
    let context = known(stream)?.context;
    if context == 0 { current() } else { Ok(context) }
}

fn create(to: Out<Handle>, flags: c_uint, priority: c_int) -> Done {
    to.check()?;
    let mut state = working()?;
    let stream = state.handle();
    let context = current()?;
    state.streams.insert(stream, Stream { context, flags, priority: priority.clamp(-5, 0), ..Stream::default() });
    to.put(stream)
}

/// Waits for a stream.
fn synchronize(stream: Handle) -> Done {
    let number = Stream::number(stream);
    let behind = {
        let mut state = ready()?;
        check_stream(&mut state, number)?;
        state.behind(number)?
    };
    behind.into_iter().for_each(Behind::wait);
    reach(number)
}

/// The host knows that a stream's work has ended.
fn reach(stream: Handle) -> Done {
    let mut state = ready()?;
    let clock = state.stream(stream)?.clock;
    state.host = state.host.max(clock);
    state.synchronize()
}

fn record(event: Handle, stream: Handle) -> Done {
    let context = ready()?.event_mut(event)?.context;
    if context_of(stream)? != context {
        return Err(Status::INVALID_HANDLE);
    }
    submit(stream, Work::Record(event))
}

fn elapsed(to: Out<f32>, from: Handle, until: Handle) -> Done {
    let mut state = ready()?;
    let of = |event: Handle| -> Done<(Handle, f64)> {
        let event = state.events.get(&event).ok_or(Status::INVALID_HANDLE)?;
        // 2: without times.
        let at = event.at.filter(|_| event.flags & 2 == 0).ok_or(Status::INVALID_HANDLE)?;
        Ok((event.context, at))
    };
    let ((one, from), (other, until)) = (of(from)?, of(until)?);
    if one != other {
        return Err(Status::INVALID_HANDLE);
    }
    state.host_recorder.timed(from, until);
    let milliseconds = (until - from) / 1000.0;
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
        if stream == PER_THREAD {
            return Err(Status::INVALID_HANDLE);
        }
        let mut state = ready()?;
        // The legacy default stream has another number than its handles.
        let stream = if stream == LEGACY { 1 } else { stream };
        state.streams.remove(&stream).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    fn cuStreamQuery [cuStreamQuery_ptsz] (stream: Handle) {
        let number = Stream::number(stream);
        {
            let mut state = ready()?;
            check_stream(&mut state, number)?;
            state.check()?;
            if !state.behind(number)?.into_iter().all(Behind::is_reached) {
                return Err(Status::NOT_READY);
            }
        }
        reach(number)
    }

    fn cuStreamSynchronize [cuStreamSynchronize_ptsz] (stream: Handle) {
        synchronize(stream)
    }

    fn cuStreamWaitEvent [cuStreamWaitEvent_ptsz] (stream: Handle, event: Handle, flags: c_uint) {
        let joined = {
            let mut state = ready()?;
            state.event_mut(event)?;
            let number = Stream::number(stream);
            state.stream(number)?;
            join(&mut state, number, event)?
        };
        if joined { Ok(()) } else { submit(stream, Work::WaitFor(event)) }
    }

    fn cuStreamGetPriority [cuStreamGetPriority_ptsz] (stream: Handle, to: Out<c_int>) {
        to.put(known(stream)?.priority)
    }

    fn cuStreamGetFlags [cuStreamGetFlags_ptsz] (stream: Handle, to: Out<c_uint>) {
        to.put(known(stream)?.flags)
    }

    fn cuStreamGetId [cuStreamGetId_ptsz] (stream: Handle, to: Out<u64>) {
        known(stream)?;
        to.put(stream as u64)
    }

    fn cuStreamGetCtx [cuStreamGetCtx_ptsz] (stream: Handle, to: Out<Handle>) {
        to.put(context_of(stream)?)
    }

    fn cuStreamGetCtx_v2 [cuStreamGetCtx_v2_ptsz] (stream: Handle, to: Out<Handle>, green: Out<Handle>) {
        green.give(0);
        to.put(context_of(stream)?)
    }

    fn cuStreamGetDevice [cuStreamGetDevice_ptsz] (stream: Handle, to: Out<c_int>) {
        let context = context_of(stream)?;
        let device = ready()?.contexts.get(&context).map(|context| context.device);
        to.put(device.ok_or(Status::CONTEXT_IS_DESTROYED)?)
    }

    fn cuStreamCopyAttributes [cuStreamCopyAttributes_ptsz] (to: Handle, from: Handle) {
        Ok(())
    }

    fn cuStreamSetAttribute [cuStreamSetAttribute_ptsz] (stream: Handle, number: c_uint, value: In<u8>) {
        Ok(())
    }

    fn cuStreamAddCallback [cuStreamAddCallback_ptsz] (stream: Handle, function: StreamCallback, data: Passed, flags: c_uint) {
        if function.is_none() {
            return Err(Status::INVALID_VALUE);
        }
        submit(stream, Work::Callback(function, data))
    }

    fn cuLaunchHostFunc [cuLaunchHostFunc_ptsz] (stream: Handle, function: HostFunction, data: Passed) {
        if function.is_none() {
            return Err(Status::INVALID_VALUE);
        }
        submit(stream, Work::Call(function, data))
    }

    // The mode is how a GPU's driver waits for what is before the function.
    fn cuLaunchHostFunc_v2 [cuLaunchHostFunc_v2_ptsz] (stream: Handle, function: HostFunction, data: Passed, mode: c_uint) {
        if function.is_none() {
            return Err(Status::INVALID_VALUE);
        }
        submit(stream, Work::Call(function, data))
    }

    fn cuEventCreate(to: Out<Handle>, flags: c_uint) {
        let mut state = working()?;
        let event = state.handle();
        // 2: without times; 4: for several processes, which have no common time.
        let shared = match flags & 6 {
            4 => return Err(Status::INVALID_VALUE),
            6 => Some(Arc::new(SharedEvent::new().map_err(|_| Status::OUT_OF_MEMORY)?)),
            _ => None,
        };
        state.timed |= flags & 2 == 0;
        state.events.insert(event, Event { context: current()?, flags, shared, ..Event::default() });
        to.put(event)
    }

    fn cuEventDestroy_v2(event: Handle) {
        ready()?.events.remove(&event).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }

    fn cuEventRecord [cuEventRecord_ptsz] (event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags [cuEventRecordWithFlags_ptsz] (event: Handle, stream: Handle, flags: c_uint) {
        record(event, stream)
    }

    fn cuEventQuery(event: Handle) {
        let mut state = ready()?;
        check_event(&mut state, event)?;
        state.check()?;
        let event = state.event_mut(event)?;
        let is_shared_reached = event.shared.as_ref().is_none_or(|shared| shared.is_reached());
        if !event.behind.iter().all(|behind| behind.is_reached()) || !is_shared_reached {
            return Err(Status::NOT_READY);
        }
        let at = event.at.unwrap_or(0.0);
        state.host = state.host.max(at);
        state.synchronize()
    }

    fn cuEventSynchronize(event: Handle) {
        let (behind, shared) = {
            let mut state = ready()?;
            check_event(&mut state, event)?;
            let event = state.event_mut(event)?;
            (event.behind.clone(), event.shared.clone())
        };
        behind.into_iter().for_each(Behind::wait);
        shared.into_iter().for_each(|shared| shared.wait(shared.recorded()));
        let mut state = ready()?;
        let at = state.event_mut(event)?.at.unwrap_or(0.0);
        state.host = state.host.max(at);
        state.synchronize()
    }

    fn cuEventElapsedTime(to: Out<f32>, from: Handle, until: Handle) {
        elapsed(to, from, until)
    }

    fn cuEventElapsedTime_v2(to: Out<f32>, from: Handle, until: Handle) {
        elapsed(to, from, until)
    }
}
