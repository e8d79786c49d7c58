//! Copies and kernels on streams, for [`super::flow`]: a [`Launcher`] starts them, and on the
//! simulator records them, so that their times follow from the parameters of a model's links.

use std::ops::Range;

use bytemuck::Pod;
use cuda_std::launch::{ArgumentList, SafeKernel};
use device::{Buffer, LaunchConfig, Outside, OutsideBuffer, Predict, Result};
use simt::Model;
use simt::models::Links;
use simt::prediction::{Bound, Predicted, Prediction};
use simt::transfers::{Engine, Operation, Schedule, microseconds};

use super::launcher::Launcher;
use crate::report::RowPrediction;

/// A part of the data.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Its elements.
    pub range: Range<usize>,
    /// Its number, from 0.
    pub number: u32,
    /// Its stream; 0 is the one of all other work.
    pub stream: u32,
    /// The bytes that it stands for.
    pub bytes: u64,
}

/// Where a kernel reads a chunk from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// The device's memory.
    Device,
    /// Pinned memory of the host.
    Mapped,
    /// Managed memory, whose pages are on the host.
    Managed,
}

/// What a stream was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    stream: u32,
    chunk: u32,
    bytes: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Copy {
        outside: Outside,
        to_device: bool,
    },
    Local,
    /// The launch of this number in the record.
    Kernel(usize, Reads),
}

impl Given {
    /// Whether it is a kernel that waits for the link.
    fn reads_host(&self) -> bool {
        matches!(self.what, What::Kernel(_, Reads::Mapped | Reads::Managed))
    }
}

impl Launcher<'_> {
    fn give(&mut self, chunk: &Chunk, what: What) {
        let &Chunk { number, stream, bytes, .. } = chunk;
        if let Some(record) = &mut self.record {
            record.given.push(Given { stream, chunk: number, bytes, what });
        }
    }

    /// Starts copying a chunk to the device.
    pub(super) fn copy_to_device<T: Pod>(
        &mut self,
        from: &OutsideBuffer<T>,
        to: &mut Buffer<T>,
        chunk: &Chunk,
    ) -> Result<()> {
        self.give(chunk, What::Copy { outside: from.kind(), to_device: true });
        from.copy_to(to, chunk.range.clone(), chunk.stream)
    }

    /// Starts copying a chunk to the host, or to another GPU.
    pub(super) fn copy_to_host<T: Pod>(
        &mut self,
        from: &Buffer<T>,
        to: &mut OutsideBuffer<T>,
        chunk: &Chunk,
    ) -> Result<()> {
        self.give(chunk, What::Copy { outside: to.kind(), to_device: false });
        to.copy_from(from, chunk.range.clone(), chunk.stream)
    }

    /// Starts copying within the device's memory.
    pub(super) fn copy_on_device<T: Pod>(&mut self, from: &Buffer<T>, to: &mut Buffer<T>, chunk: &Chunk) -> Result<()> {
        self.give(chunk, What::Local);
        from.copy_to(to)
    }

    /// Starts moving managed memory to the device.
    pub(super) fn prefetch<T: Pod>(&mut self, memory: &OutsideBuffer<T>, chunk: &Chunk) -> Result<()> {
        self.give(chunk, What::Copy { outside: Outside::Managed, to_device: true });
        memory.prefetch(true)
    }

    /// Launches a kernel on a chunk, in its stream.
    pub(super) fn launch_on<P, A: ArgumentList<P>>(
        &mut self,
        chunk: &Chunk,
        reads: Reads,
        kernel: &'static SafeKernel<P>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<()> {
        // Its time is needed, however small it is.
        if self.common.predict == Predict::TimeIfFull {
            self.common.predict = Predict::Time;
        }
        if let Some(launch) = self.record.as_ref().map(|record| record.predicted.len()) {
            self.give(chunk, What::Kernel(launch, reads));
        }
        self.launch(kernel, config, arguments)
    }

    /// Lets the streams from 1 on begin.
    pub(super) fn fork(&mut self, streams: u32) -> Result<()> {
        self.device().fork(streams)
    }

    /// Lets later work wait for the streams.
    pub(super) fn join(&mut self, streams: u32) -> Result<()> {
        self.device().join(streams)
    }
}

/// The schedule of what was given on this model, and its predicted time; `None` if nothing was given
/// or nothing is known of the model's links.
pub(super) fn predicted(
    given: &[Given],
    launches: &[(&'static str, Predicted)],
    model: &'static Model,
    useful_bytes: u64,
) -> Option<(RowPrediction, Schedule)> {
    let links = model.links().filter(|_| !given.is_empty())?;
    let mut operations = Vec::new();
    for given in given {
        match operation(given, launches, model, links)? {
            Ok(operation) => operations.push(operation),
            Err(why) => return Some((RowPrediction::not(why), Schedule::default())),
        }
    }
    let schedule = Schedule::of(operations);
    let time_us = links.wait_us() + schedule.end_us();
    let limit = limit(&schedule, links, given, launches);
    let prediction = RowPrediction::of_schedule(model, time_us / 1e3, limit, useful_bytes, launches);
    Some((prediction, schedule))
}

/// How long an operation takes on its engine, or why that is not known.
fn operation(
    given: &Given,
    launches: &[(&'static str, Predicted)],
    model: &Model,
    links: &Links,
) -> Option<std::result::Result<Operation, &'static str>> {
    let &Given { stream, chunk, bytes, what } = given;
    let (engine, us, waits) = match what {
        What::Copy { outside, to_device } => {
            let engine = match (outside, to_device) {
                (Outside::Peer, _) => Engine::ToPeer,
                (_, true) => Engine::ToDevice,
                (_, false) => Engine::ToHost,
            };
            (engine, links.copy_us(bytes, outside, to_device)?, outside == Outside::Pageable)
        }
        What::Local => (Engine::OnDevice, model.local_copy_us(bytes)?, false),
        What::Kernel(launch, reads) => match &launches.get(launch)?.1 {
            Predicted::Not(why) => return Some(Err(why)),
            Predicted::Time(time) => (Engine::Kernels, kernel_us(time, reads, bytes, links), false),
        },
    };
    Some(Ok(Operation { stream, engine, chunk, us, waits }))
}

/// How long a kernel takes behind another one, with what it reads from the host.
fn kernel_us(time: &Prediction, reads: Reads, bytes: u64, links: &Links) -> f64 {
    let Prediction { cold_us, empty_us, next_us, .. } = *time;
    let own = cold_us - empty_us + next_us;
    match reads {
        Reads::Device => own,
        // The link is busy while the kernel works.
        Reads::Mapped => own.max(microseconds(bytes, links.host.pinned_gbps[0])),
        Reads::Managed => own + microseconds(bytes, links.host.faults_gbps),
    }
}

/// What limits a schedule: its latencies, the engine that works longest, or what limits its kernels.
fn limit(schedule: &Schedule, links: &Links, given: &[Given], launches: &[(&'static str, Predicted)]) -> Bound {
    let alone = links.wait_us() + links.host.next_us;
    let kernel = launches.iter().find_map(|(_, predicted)| match predicted {
        Predicted::Time(time) => Some(time.bound),
        Predicted::Not(_) => None,
    });
    match schedule.busiest() {
        _ if 2.0 * alone > links.wait_us() + schedule.end_us() => Bound::Latency,
        Some(Engine::Kernels) if !given.iter().any(|given| given.reads_host()) => kernel.unwrap_or(Bound::Launch),
        Some(Engine::OnDevice) => Bound::Dram,
        _ => Bound::Link,
    }
}
