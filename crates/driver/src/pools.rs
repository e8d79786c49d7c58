//! Pools of memory, from which streams allocate: each has its own numbers. The memory itself is the
//! simulator's, which no pool holds back.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};

use crate::allocations::{allocate, release};
use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::device::check;
use crate::objects::{Handle, Kind, Pool, Stream};
use crate::queue::submit;
use crate::settings::SETTINGS;
use crate::state::{State, ready, working};
use crate::work::Work;

/// The handle of a device's default pool: smaller than any other handle.
pub fn default_of(device: usize) -> Handle {
    0xd00 + device
}

/// The devices' default pools.
pub fn defaults() -> HashMap<Handle, Pool> {
    let pool = |device: usize| Pool { device: device as c_int, ..Pool::NEW };
    (0..SETTINGS.gpus.len()).map(|device| (default_of(device), pool(device))).collect()
}

impl Pool {
    /// As the API has them: memory may be used again in all three ways.
    pub const NEW: Self = Self { device: 0, used: [0; 2], kept: [0; 2], threshold: 0, reuse: [1; 3] };

    fn allocated(&mut self, bytes: u64) {
        let used = self.used[0] + bytes;
        let kept = self.kept[0].max(used);
        (self.used, self.kept) = ([used, self.used[1].max(used)], [kept, self.kept[1].max(kept)]);
    }

    /// Notes that so many bytes were freed.
    pub fn freed(&mut self, bytes: u64) {
        self.used[0] = self.used[0].saturating_sub(bytes);
        self.trim(self.threshold);
    }

    /// Keeps so many bytes, and what is allocated.
    fn trim(&mut self, bytes: u64) {
        self.kept[0] = self.kept[0].min(bytes).max(self.used[0]);
    }

    /// An attribute with a number of bytes.
    fn bytes(&self, number: c_uint) -> Option<u64> {
        match number {
            4 => Some(self.threshold),
            5 | 6 => Some(self.kept[number as usize - 5]),
            7 | 8 => Some(self.used[number as usize - 7]),
            _ => None,
        }
    }

    /// Sets such an attribute: the most so far begin anew, by 0 alone.
    fn set_bytes(&mut self, number: c_uint, bytes: u64) -> Done {
        match number {
            4 => self.threshold = bytes,
            6 if bytes == 0 => self.kept[1] = self.kept[0],
            8 if bytes == 0 => self.used[1] = self.used[0],
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }
}

impl State {
    fn pool(&mut self, pool: Handle) -> Done<&mut Pool> {
        self.pools.get_mut(&pool).ok_or(Status::INVALID_VALUE)
    }
}

/// Allocates memory in a stream's order, from a pool, or from its device's current one. What a
/// graph allocates has one address in all its launches, and is of no pool.
fn give(to: Out<u64>, bytes: usize, pool: Option<Handle>, stream: Handle) -> Done {
    to.check()?;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let (address, pool, captured) = {
        let mut state = working()?;
        let captured = state.stream(Stream::number(stream))?.capture.is_some();
        let current = state.current_pools[state.device() as usize];
        let pool = pool.unwrap_or(current);
        state.pool(pool)?;
        (allocate(&mut state, bytes, Kind::Device)?, pool, captured)
    };
    let given = submit(stream, Work::Allocate { address, bytes });
    let mut state = ready()?;
    if given.is_err() {
        release(&mut state, address)?;
        return given;
    }
    if captured {
        state.keep_for_graphs(address);
    } else if let Some(allocation) = state.allocations.get_mut(&address) {
        allocation.pool = pool;
        let bytes = allocation.bytes;
        if let Some(pool) = state.pools.get_mut(&pool) {
            pool.allocated(bytes);
        }
    }
    to.put(address)
}

/// The device in a `CUmemPoolProps`.
fn device_of(properties: In<u8>) -> Done<c_int> {
    // After the kind of the allocation and that of its handles: where it is, 1 for a device.
    let [place, device] = properties.at(8).cast::<[c_int; 2]>().get()?;
    if place != 1 {
        say("pools of the host's memory are not supported");
        return Err(Status::NOT_SUPPORTED);
    }
    check(device)?;
    Ok(device)
}

driver! {
    fn cuMemAllocAsync [cuMemAllocAsync_ptsz] (to: Out<u64>, bytes: usize, stream: Handle) {
        give(to, bytes, None, stream)
    }

    fn cuMemAllocFromPoolAsync [cuMemAllocFromPoolAsync_ptsz] (to: Out<u64>, bytes: usize, pool: Handle, stream: Handle) {
        give(to, bytes, Some(pool), stream)
    }

    fn cuDeviceGetDefaultMemPool(to: Out<Handle>, device: c_int) {
        check(device)?;
        to.put(default_of(device as usize))
    }

    fn cuDeviceGetMemPool(to: Out<Handle>, device: c_int) {
        check(device)?;
        to.put(ready()?.current_pools[device as usize])
    }

    fn cuDeviceSetMemPool(device: c_int, pool: Handle) {
        check(device)?;
        let mut state = ready()?;
        if state.pool(pool)?.device != device {
            return Err(Status::INVALID_VALUE);
        }
        state.current_pools[device as usize] = pool;
        Ok(())
    }

    fn cuMemPoolCreate(to: Out<Handle>, properties: In<u8>) {
        to.check()?;
        let device = device_of(properties)?;
        let mut state = ready()?;
        let pool = state.handle();
        state.pools.insert(pool, Pool { device, ..Pool::NEW });
        to.put(pool)
    }

    fn cuMemPoolDestroy(pool: Handle) {
        let mut state = ready()?;
        let device = state.pool(pool)?.device as usize;
        if pool == default_of(device) {
            return Err(Status::INVALID_VALUE);
        }
        state.pools.remove(&pool);
        // Its device allocates from the default one again.
        let current = &mut state.current_pools[device];
        if *current == pool {
            *current = default_of(device);
        }
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: Handle, bytes: usize) {
        ready()?.pool(pool)?.trim(bytes as u64);
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: Handle, number: c_uint, value: In<u8>) {
        let mut state = ready()?;
        let pool = state.pool(pool)?;
        match number {
            1..=3 => pool.reuse[number as usize - 1] = value.cast::<c_int>().get()?,
            _ => pool.set_bytes(number, value.cast().get()?)?,
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: Handle, number: c_uint, value: Out<u8>) {
        let mut state = ready()?;
        let pool = state.pool(pool)?;
        match number {
            1..=3 => value.cast().put(pool.reuse[number as usize - 1]),
            _ => value.cast().put(pool.bytes(number).ok_or(Status::INVALID_VALUE)?),
        }
    }

    fn cuMemPoolSetAccess(pool: Handle, map: In<u8>, count: usize) {
        ready()?.pool(pool).map(|_| ())
    }

    fn cuMemPoolGetAccess(flags: Out<c_uint>, pool: Handle, location: In<u8>) {
        ready()?.pool(pool)?;
        flags.put(3)
    }
}
