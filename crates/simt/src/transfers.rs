//! When copies and kernels run that a host gives to several streams: from the parameters of a
//! model's links and from the kernels' predicted times. Pure.
//!
//! The rules:
//!
//! - Operations of a stream run one after the other, in the order in which they were given.
//! - Each engine runs one operation at a time: one copies to the device, one to the host, one to
//!   another GPU; kernels are taken to fill the GPU, so that they run one after the other, too.
//! - Of several operations that could be next on an engine, the one that can begin first is; of
//!   those the one that was given first.
//! - The host waits for the end of a copy of pageable memory before it gives the next operation.

use crate::model::{HostLink, Links, Model};

/// What runs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Copies from the host.
    ToDevice,
    /// Kernels.
    Kernels,
    /// Copies to the host.
    ToHost,
    /// Copies within the device's memory.
    OnDevice,
    /// Copies to another GPU.
    ToPeer,
}

impl Engine {
    /// All engines, in the order in which data passes through them.
    pub const ALL: [Self; 5] = [Self::ToDevice, Self::Kernels, Self::ToHost, Self::OnDevice, Self::ToPeer];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToDevice => "to device",
            Self::Kernels => "kernels",
            Self::ToHost => "to host",
            Self::OnDevice => "on device",
            Self::ToPeer => "to peer",
        }
    }
}

/// A piece of work that a host gives to a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The stream.
    pub stream: u32,
    /// What runs it.
    pub engine: Engine,
    /// What it is of: the number of a chunk, from 0.
    pub chunk: u32,
    /// How long it takes, in microseconds.
    pub us: f64,
    /// Whether the host waits for its end.
    pub waits: bool,
}

/// An operation with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The operation.
    pub operation: Operation,
    /// When it begins, in microseconds from the first one's begin.
    pub start_us: f64,
    /// When it ends.
    pub end_us: f64,
}

/// When operations run that are given in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The operations, in the order in which they begin.
    pub operations: Vec<Placed>,
}

impl Schedule {
    /// The schedule of these operations.
    pub fn of(operations: Vec<Operation>) -> Self {
        let mut placed: Vec<Placed> = Vec::new();
        let mut given_us = 0.0;
        let mut rest = operations.as_slice();
        while !rest.is_empty() {
            // What the host gives before it waits.
            let waiting = rest.iter().position(|operation| operation.waits);
            let (batch, after) = rest.split_at(waiting.map_or(rest.len(), |at| at + 1));
            rest = after;
            let mut left: Vec<&Operation> = batch.iter().collect();
            while !left.is_empty() {
                let (next, start_us) = next(&left, &placed, given_us);
                let operation = left.remove(next).clone();
                let end_us = start_us + operation.us;
                if operation.waits {
                    given_us = end_us;
                }
                placed.push(Placed { operation, start_us, end_us });
            }
        }
        placed.sort_by(|one, other| one.start_us.total_cmp(&other.start_us));
        Self { operations: placed }
    }

    /// When the last operation ends, in microseconds from the begin of the first.
    pub fn end_us(&self) -> f64 {
        self.operations.iter().map(|placed| placed.end_us).fold(0.0, f64::max)
    }

    /// How long an engine works, in microseconds.
    pub fn busy_us(&self, engine: Engine) -> f64 {
        self.operations.iter().filter(|it| it.operation.engine == engine).map(|it| it.operation.us).sum()
    }

    /// The engine that works longest.
    pub fn busiest(&self) -> Option<Engine> {
        let busy = Engine::ALL.into_iter().filter(|&engine| self.busy_us(engine) > 0.0);
        busy.reduce(|most, engine| if self.busy_us(engine) > self.busy_us(most) { engine } else { most })
    }
}

/// Which operation begins next, and when: the first of each stream may.
fn next(left: &[&Operation], placed: &[Placed], given_us: f64) -> (usize, f64) {
    let after = |same: &dyn Fn(&Operation) -> bool| {
        placed.iter().filter(|it| same(&it.operation)).map(|it| it.end_us).fold(given_us, f64::max)
    };
    let mut best = (0, f64::INFINITY);
    for (index, operation) in left.iter().enumerate() {
        if left[..index].iter().any(|before| before.stream == operation.stream) {
            continue;
        }
        let free = after(&|it| it.stream == operation.stream || it.engine == operation.engine);
        if free < best.1 {
            best = (index, free);
        }
    }
    best
}

/// What memory a copy reads or writes outside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The host's, which the system may move.
    Pageable,
    /// The host's, which it may not. Kernels reach it, too.
    Pinned,
    /// Memory that moves between the host and the device, when one of the two accesses it or as the
    /// host asks.
    Managed,
    /// Another GPU's.
    Peer,
}

impl Links {
    /// How long a copy in this direction occupies its engine, in microseconds; `None` without such a
    /// link.
    pub fn copy_us(&self, bytes: u64, outside: Outside, to_device: bool) -> Option<f64> {
        let of = |[there, back]: [f64; 2]| if to_device { there } else { back };
        let gbps = match outside {
            Outside::Pageable => of(self.host.pageable_gbps),
            Outside::Pinned | Outside::Managed => of(self.host.pinned_gbps),
            Outside::Peer => self.peer?.gbps,
        };
        Some(self.host.next_us + microseconds(bytes, gbps))
    }

    /// What the host waits for beside the operations: from its first call until the first operation
    /// begins, and from the end of the last one until it knows.
    pub fn wait_us(&self) -> f64 {
        let HostLink { latency_us, next_us, .. } = self.host;
        latency_us - next_us
    }
}

impl Model {
    /// How long a copy within its memory takes, in microseconds, as far as DRAM limits it; `None` for
    /// a model without times.
    pub fn local_copy_us(&self, bytes: u64) -> Option<f64> {
        Some(self.links()?.host.next_us + microseconds(2 * bytes, self.dram_gbps()?))
    }
}

/// The time of so many bytes at so many GB/s.
pub fn microseconds(bytes: u64, gbps: f64) -> f64 {
    bytes as f64 / gbps / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks that are copied there, worked on and copied back, each for one microsecond.
    fn chunks(count: u32, streams: u32, waits: bool) -> Schedule {
        let engines = [Engine::ToDevice, Engine::Kernels, Engine::ToHost];
        let of = |chunk: u32| {
            engines.map(|engine| Operation {
                stream: chunk % streams,
                engine,
                chunk,
                us: 1.0,
                waits: waits && engine != Engine::Kernels,
            })
        };
        Schedule::of((0..count).flat_map(of).collect())
    }

    #[test]
    fn one_stream_takes_turns_and_several_overlap() {
        assert_eq!(chunks(4, 1, false).end_us(), 12.0);
        // Two streams keep two of three engines busy.
        assert_eq!(chunks(4, 2, false).end_us(), 7.0);
        assert_eq!(chunks(4, 4, false).end_us(), 6.0);
        assert_eq!(chunks(400, 4, false).end_us(), 402.0);
        // From pageable memory nothing overlaps but a kernel and the next chunk's copy.
        assert!(chunks(4, 4, true).end_us() > 8.0);
    }

    #[test]
    fn engines_and_streams_run_one_operation_at_a_time() {
        for streams in [1, 2, 3, 4] {
            let schedule = chunks(9, streams, false);
            for (index, one) in schedule.operations.iter().enumerate() {
                for other in &schedule.operations[index + 1..] {
                    let (a, b) = (&one.operation, &other.operation);
                    let apart = one.end_us <= other.start_us || other.end_us <= one.start_us;
                    assert!(apart || a.engine != b.engine && a.stream != b.stream, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn copies_cost_latency_and_bytes() {
        let links = Model::named("hopper").and_then(Model::links).unwrap();
        let copy = |bytes, outside| links.wait_us() + links.copy_us(bytes, outside, true).unwrap();
        assert!((copy(1024, Outside::Pinned) - 8.52).abs() < 0.01);
        assert!(copy(1 << 30, Outside::Pageable) > 4.0 * copy(1 << 30, Outside::Pinned));
        assert!(copy(1 << 30, Outside::Peer) < 0.2 * copy(1 << 30, Outside::Pinned));
    }
}
