//! Contexts. All of them share one space of addresses; each thread has a stack of them.

use std::ffi::{c_int, c_uint};

use crate::boundary::callbacks::wait;
use crate::boundary::{Done, In, Out, Status, driver};
use crate::capture::check_all;
use crate::device::check;
use crate::module::free_variables;
use crate::objects::{Allocation, Context, Handle, Stream};
use crate::running::{Destroyed, Destroying};
use crate::settings::SETTINGS;
use crate::state::{CURRENT, State, current, ready, working};

fn create(to: Out<Handle>, flags: c_uint, device: c_int) -> Done {
    check(device)?;
    to.check()?;
    let mut state = ready()?;
    let context = state.handle();
    state.contexts.insert(context, Context { flags, device });
    CURRENT.with_borrow_mut(|all| all.push(context));
    to.put(context)
}

fn set(context: Handle) -> Done {
    let state = ready()?;
    if context != 0 && !state.contexts.contains_key(&context) {
        return Err(Status::INVALID_CONTEXT);
    }
    CURRENT.with_borrow_mut(|all| {
        all.pop();
        if context != 0 {
            all.push(context);
        }
    });
    Ok(())
}

fn synchronize() -> Done {
    check_all(&mut *ready()?)?;
    wait();
    ready()?.synchronize_all()
}

driver! {
    fn cuDevicePrimaryCtxRetain(to: Out<Handle>, device: c_int) {
        let mut state = ready()?;
        let context = state.primary_context(device)?;
        state.primary(device)?.count += 1;
        to.put(context)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        let mut state = ready()?;
        // The memory stays: a client that releases and retains again in its tests keeps what it
        // has.
        let count = &mut state.primary(device)?.count;
        *count = count.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        Ok(())
    }

    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        check(device)?;
        let _destroying = Destroying::new(Destroyed::Primary(device));
        let mut state = ready()?;
        state.recover();
        let of_device = |(&address, allocation): (&u64, &Allocation)| (allocation.device == device).then_some(address);
        let all: Vec<u64> = state.allocations.iter().filter_map(of_device).collect();
        for address in all {
            let bytes = state.allocations[&address].bytes;
            state.host_recorder.leaks(bytes);
            crate::allocations::release(&mut state, address)?;
        }
        crate::mapped::reset(&mut state, device);
        let gone = state.modules.extract_if(|_, module| module.device == device);
        gone.collect::<Vec<_>>().into_iter().for_each(|(_, module)| free_variables(&mut state, &module));
        let State { modules, functions, .. } = &mut *state;
        functions.retain(|_, function| modules.contains_key(&function.module));
        if SETTINGS.gpus.len() > 1 {
            // Streams, events and graphs may be another device's.
            return Ok(());
        }
        state.streams = Stream::defaults();
        state.references.clear();
        state.events.clear();
        state.graphs.clear();
        state.node_graphs.clear();
        state.executables.clear();
        state.captures.clear();
        state.stored.clear();
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint) {
        ready()?.primary(device)?.flags = flags;
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: c_int, flags: Out<c_uint>, active: Out<c_int>) {
        let mut state = ready()?;
        let primary = *state.primary(device)?;
        flags.give(primary.flags);
        active.give((primary.count > 0).into());
        Ok(())
    }

    fn cuCtxCreate_v2(to: Out<Handle>, flags: c_uint, device: c_int) {
        create(to, flags, device)
    }

    fn cuCtxCreate_v3(to: Out<Handle>, affinity: In<u8>, count: c_int, flags: c_uint, device: c_int) {
        create(to, flags, device)
    }

    fn cuCtxCreate_v4(to: Out<Handle>, parameters: In<u8>, flags: c_uint, device: c_int) {
        create(to, flags, device)
    }

    fn cuCtxDestroy_v2(context: Handle) {
        let _destroying = Destroying::new(Destroyed::Context(context));
        let mut state = ready()?;
        if state.primaries.iter().any(|primary| primary.context == Some(context)) {
            return Err(Status::INVALID_CONTEXT);
        }
        state.contexts.remove(&context).ok_or(Status::INVALID_CONTEXT)?;
        // As on a GPU, a fault is gone with its context.
        state.recover();
        CURRENT.with_borrow_mut(|all| {
            if all.last() == Some(&context) {
                all.pop();
            }
        });
        Ok(())
    }

    fn cuCtxPushCurrent_v2(context: Handle) {
        let state = ready()?;
        if !state.contexts.contains_key(&context) {
            return Err(Status::INVALID_CONTEXT);
        }
        CURRENT.with_borrow_mut(|all| all.push(context));
        Ok(())
    }

    fn cuCtxPopCurrent_v2(to: Out<Handle>) {
        let context = CURRENT.with_borrow_mut(|all| all.pop()).ok_or(Status::INVALID_CONTEXT)?;
        to.give(context);
        Ok(())
    }

    fn cuCtxSetCurrent(context: Handle) {
        set(context)
    }

    fn cuCtxGetCurrent(to: Out<Handle>) {
        let _ready = ready()?;
        to.put(current().unwrap_or(0))
    }

    fn cuCtxGetDevice(device: Out<c_int>) {
        let state = ready()?;
        current()?;
        device.put(state.device())
    }

    fn cuCtxGetDevice_v2(device: Out<c_int>, context: Handle) {
        let context = if context == 0 { current()? } else { context };
        device.put(ready()?.contexts.get(&context).ok_or(Status::INVALID_CONTEXT)?.device)
    }

    fn cuCtxGetFlags(flags: Out<c_uint>) {
        let state = ready()?;
        flags.put(state.contexts.get(&current()?).map_or(0, |context| context.flags))
    }

    fn cuCtxSetFlags(flags: c_uint) {
        let context = current()?;
        ready()?.contexts.get_mut(&context).ok_or(Status::INVALID_CONTEXT)?.flags = flags;
        Ok(())
    }

    fn cuCtxGetId(context: Handle, id: Out<u64>) {
        let context = if context == 0 { current()? } else { context };
        id.put(context as u64)
    }

    fn cuCtxGetApiVersion(context: Handle, version: Out<c_uint>) {
        if context != 0 && !ready()?.contexts.contains_key(&context) {
            return Err(Status::INVALID_CONTEXT);
        }
        version.put(3020)
    }

    fn cuCtxSynchronize() {
        drop(working()?);
        synchronize()
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        synchronize()
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: c_uint) {
        current()?;
        let state = ready()?;
        // Stack, printf's buffer, heap, nesting, pending launches, granularity, persisting L2.
        let default = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0].get(limit as usize).copied();
        let default = default.ok_or(Status(215))?;
        value.put(state.limits.get(&limit).copied().unwrap_or(default))
    }

    fn cuCtxSetLimit(limit: c_uint, value: usize) {
        current()?;
        if limit > 6 {
            return Err(Status(215));
        }
        let mut state = ready()?;
        if limit == 2 {
            // The heap for `malloc`. Its size is fixed once a kernel uses it.
            state.memory.set_heap_limit(value as u64).map_err(|_| Status::INVALID_VALUE)?;
        }
        state.limits.insert(limit, value);
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<c_uint>) {
        config.put(ready()?.cache)
    }

    fn cuCtxSetCacheConfig(config: c_uint) {
        if config > 3 {
            return Err(Status::INVALID_VALUE);
        }
        ready()?.cache = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Out<c_uint>) {
        config.put(1)
    }

    fn cuCtxSetSharedMemConfig(config: c_uint) {
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        current()?;
        least.give(0);
        greatest.give(-5);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        Ok(())
    }

    fn cuCtxAttach(to: Out<Handle>, flags: c_uint) {
        to.put(current()?)
    }

    fn cuCtxDetach(context: Handle) {
        Ok(())
    }

    fn cuCtxEnablePeerAccess(context: Handle, flags: c_uint) {
        let own = current()?;
        let mut state = ready()?;
        let device = state.contexts.get(&context).ok_or(Status::INVALID_CONTEXT)?.device;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if device == state.device() {
            return Err(Status::PEER_ACCESS_UNSUPPORTED);
        }
        if state.peers.insert((own, context)) { Ok(()) } else { Err(Status(704)) }
    }

    fn cuCtxDisablePeerAccess(context: Handle) {
        let own = current()?;
        if ready()?.peers.remove(&(own, context)) { Ok(()) } else { Err(Status(705)) }
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }

    fn cuProfilerInitialize(config: In<u8>, output: In<u8>, mode: c_uint) {
        Ok(())
    }
}
