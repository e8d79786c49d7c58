//! Allocations, and what the API says of pointers.

use std::ffi::{c_int, c_uint};

use crate::allocations::{self, allocate, release};
use crate::boundary::{Done, In, Out, Status, driver};
use crate::objects::{Allocation, Handle, Kind};
use crate::queue::submit;
use crate::settings::SETTINGS;
use crate::state::{State, current, ready, working};
use crate::work::Work;

/// Allocates memory of a kind for a caller.
fn give_memory(to: Out<u64>, bytes: usize, kind: Kind) -> Done {
    to.check()?;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    to.put(allocate(&mut *working()?, bytes, kind)?)
}

/// Frees an allocation of one of these kinds.
fn free(address: u64, kinds: &[Kind]) -> Done {
    let mut state = ready()?;
    if address == 0 {
        return Ok(());
    }
    let allocation = state.allocations.get(&address).ok_or(Status::INVALID_VALUE)?;
    if !kinds.contains(&allocation.kind) {
        return Err(Status::INVALID_VALUE);
    }
    allocations::free(&mut state, address)
}

fn attribute(state: &State, number: c_uint, pointer: u64, to: Out<u8>) -> Done {
    let found = state.allocation(pointer).or_else(|| state.registered(pointer as usize));
    let of_symbol = || state.memory.allocations().find(|span| pointer.wrapping_sub(span.address) < span.bytes);
    let (start, allocation) = match found {
        Some(found) => found,
        // A variable of a module.
        None => {
            let span = of_symbol().ok_or(Status::INVALID_VALUE)?;
            (
                span.address,
                Allocation { bytes: span.bytes, kind: Kind::Device, device: state.device(), id: span.address, pool: 0 },
            )
        }
    };
    let device = match allocation.kind {
        Kind::Registered(host) if pointer < start || pointer >= start + allocation.bytes => {
            start + (pointer - host as u64)
        }
        _ => pointer,
    };
    let of_host = !matches!(allocation.kind, Kind::Exported | Kind::Imported);
    let host = allocation.on_host(start).filter(|_| of_host).map(|base| base + (device - start));
    match number {
        1 => to.cast().put(current().unwrap_or(0)),
        2 => to.cast::<c_uint>().put(if matches!(allocation.kind, Kind::Host | Kind::Registered(_)) { 1 } else { 2 }),
        3 => to.cast().put(device),
        4 => to.cast().put(host.ok_or(Status::INVALID_VALUE)?),
        6 => to.cast::<c_uint>().put(1),
        7 => to.cast().put(allocation.id),
        8 => to.cast::<c_uint>().put((allocation.kind == Kind::Managed).into()),
        9 => to.cast::<c_int>().put(allocation.device),
        10 | 15 => to.cast::<c_uint>().put(0),
        11 | 19 => to.cast().put(start),
        12 | 18 => to.cast().put(allocation.bytes as usize),
        13 => to.cast::<c_uint>().put(1),
        14 => to.cast::<u64>().put(0),
        16 => to.cast::<c_uint>().put(3),
        17 => to.cast::<Handle>().put(allocation.pool),
        20 => to.cast().put(allocation.id),
        _ => Err(Status::INVALID_VALUE),
    }
}

driver! {
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let state = working()?;
        free.give(SETTINGS.memory.saturating_sub(state.used_on(state.device())) as usize);
        total.give(SETTINGS.memory as usize);
        Ok(())
    }

    fn cuMemAlloc_v2(to: Out<u64>, bytes: usize) {
        give_memory(to, bytes, Kind::Device)
    }

    fn cuMemAllocPitch_v2(to: Out<u64>, pitch: Out<usize>, row: usize, rows: usize, element: c_uint) {
        if ![4, 8, 16].contains(&element) {
            return Err(Status::INVALID_VALUE);
        }
        let each = row.checked_next_multiple_of(ready()?.gpu().pitch_alignment as usize);
        let each = each.ok_or(Status::INVALID_VALUE)?;
        let bytes = each.checked_mul(rows).ok_or(Status::OUT_OF_MEMORY)?;
        pitch.put(each)?;
        give_memory(to, bytes, Kind::Device)
    }

    fn cuMemAllocManaged(to: Out<u64>, bytes: usize, flags: c_uint) {
        give_memory(to, bytes, Kind::Managed)
    }

    fn cuMemAllocHost_v2(to: Out<u64>, bytes: usize) {
        give_memory(to, bytes, Kind::Host)
    }

    fn cuMemHostAlloc(to: Out<u64>, bytes: usize, flags: c_uint) {
        give_memory(to, bytes, Kind::Host)
    }

    fn cuMemFree_v2(address: u64) {
        free(address, &[Kind::Device, Kind::Managed, Kind::Exported])
    }

    fn cuMemFreeHost(address: u64) {
        free(address, &[Kind::Host])
    }

    fn cuMemHostGetDevicePointer_v2(to: Out<u64>, host: usize, flags: c_uint) {
        let state = ready()?;
        let device = match state.registered(host) {
            Some((start, Allocation { kind: Kind::Registered(base), .. })) => start + (host - base) as u64,
            _ => state.allocation(host as u64).map(|_| host as u64).ok_or(Status::INVALID_VALUE)?,
        };
        to.put(device)
    }

    fn cuMemHostGetFlags(flags: Out<c_uint>, host: usize) {
        let state = ready()?;
        let found = state.registered(host).or_else(|| state.allocation(host as u64));
        found.filter(|(_, allocation)| allocation.kind != Kind::Device).ok_or(Status::INVALID_VALUE)?;
        flags.put(2)
    }

    fn cuMemHostRegister_v2(host: usize, bytes: usize, flags: c_uint) {
        let mut state = working()?;
        if host == 0 || bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let end = host.checked_add(bytes).ok_or(Status::INVALID_VALUE)? as u64;
        let overlaps = |(&start, it): (&u64, &Allocation)| {
            it.on_host(start).is_some_and(|base| base < end && (host as u64) < base + it.bytes)
        };
        if state.allocations.iter().any(overlaps) {
            return Err(Status::ALREADY_REGISTERED);
        }
        allocate(&mut state, bytes, Kind::Registered(host)).map(|_| ())
    }

    fn cuMemHostUnregister(host: usize) {
        let mut state = ready()?;
        let (start, _) = state.registered(host).ok_or(Status::NOT_REGISTERED)?;
        release(&mut state, start)
    }

    fn cuMemGetAddressRange_v2(base: Out<u64>, bytes: Out<usize>, address: u64) {
        let state = ready()?;
        let (start, allocation) = state.allocation(address).ok_or(Status::NOT_FOUND)?;
        base.give(start);
        bytes.give(allocation.bytes as usize);
        Ok(())
    }

    fn cuMemFreeAsync [cuMemFreeAsync_ptsz] (address: u64, stream: Handle) {
        if address == 0 {
            return Ok(());
        }
        let kind = ready()?.allocations.get(&address).map(|allocation| allocation.kind);
        if !matches!(kind, Some(Kind::Device | Kind::Exported)) {
            return Err(Status::INVALID_VALUE);
        }
        submit(stream, Work::Free(address))
    }

    fn cuMemAdvise(address: u64, bytes: usize, advice: c_uint, device: c_int) {
        Ok(())
    }

    fn cuMemAdvise_v2(address: u64, bytes: usize, advice: c_uint, kind: c_int, id: c_int) {
        Ok(())
    }

    fn cuMemPrefetchAsync [cuMemPrefetchAsync_ptsz] (address: u64, bytes: usize, device: c_int, stream: Handle) {
        Ok(())
    }

    fn cuMemPrefetchAsync_v2 [cuMemPrefetchAsync_v2_ptsz] (address: u64, bytes: usize, location: u64, flags: c_uint, stream: Handle) {
        Ok(())
    }

    fn cuStreamAttachMemAsync [cuStreamAttachMemAsync_ptsz] (stream: Handle, address: u64, bytes: usize, flags: c_uint) {
        Ok(())
    }

    fn cuPointerGetAttribute(to: Out<u8>, number: c_uint, pointer: u64) {
        attribute(&*ready()?, number, pointer, to)
    }

    fn cuPointerGetAttributes(count: c_uint, numbers: In<c_uint>, values: In<Out<u8>>, pointer: u64) {
        let state = ready()?;
        for index in 0..count as usize {
            let (number, to) = (numbers.at(index).get()?, values.at(index).get()?);
            if attribute(&state, number, pointer, to).is_err() {
                // What has no such attribute reads as zero; of a device, as none.
                match number {
                    9 => to.cast::<c_int>().give(-2),
                    2 | 6 | 8 | 10 | 13 | 15 | 16 => to.cast::<c_uint>().give(0),
                    _ => to.cast::<u64>().give(0),
                }
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: In<u8>, number: c_uint, pointer: u64) {
        Ok(())
    }
}
