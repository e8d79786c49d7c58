//! The data of the lab, and the rows whose kernels need it: in streams, and read once from where it
//! is.

use device::{Buffer, Device, LaunchConfig, Outside, OutsideBuffer, Result};
use kernels::transfer::{after_rounds, transfer_rounds};
use serde_json::json;

use super::Transfer;
use super::table::{AMOUNT, Use, WAY, kib, moved};
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};
use crate::labs::launcher::Launcher;
use crate::labs::streams::{Chunk, Reads};
use crate::labs::variants::VariantSpec;

/// Threads of a block.
const BLOCK: u32 = 256;

/// The data on a device and on the host.
pub struct Data {
    /// Of each size of copies.
    copies: Vec<OfSize>,
    /// Which of them a copy wrote since they were poisoned.
    written: Option<usize>,
    input: OutsideBuffer<u32>,
    managed: OutsideBuffer<u32>,
    output: OutsideBuffer<u32>,
    x: Buffer<u32>,
    y: Buffer<u32>,
}

/// Sources and targets of copies of one size.
pub(super) struct OfSize {
    pub(super) pageable: OutsideBuffer<u32>,
    pub(super) pinned: OutsideBuffer<u32>,
    pub(super) source: Buffer<u32>,
    pub(super) target: Buffer<u32>,
    pub(super) pageable_back: OutsideBuffer<u32>,
    pub(super) pinned_back: OutsideBuffer<u32>,
    pub(super) peer: Option<OutsideBuffer<u32>>,
}

impl OfSize {
    fn new(lab: &Transfer, device: &Device, bytes: u64) -> Result<Self> {
        let words = (moved(device, bytes) / 4) as usize;
        let outside = |kind| device.outside(kind, words);
        let mut sized = Self {
            pageable: outside(Outside::Pageable)?,
            pinned: outside(Outside::Pinned)?,
            source: device.buffer(words)?,
            target: device.buffer(words)?,
            pageable_back: outside(Outside::Pageable)?,
            pinned_back: outside(Outside::Pinned)?,
            peer: if device.has_peer() { Some(outside(Outside::Peer)?) } else { None },
        };
        let sent: Vec<u32> = (0..words).map(|index| lab.sent(index)).collect();
        sized.pageable.write(&sent)?;
        sized.pinned.write(&sent)?;
        sized.source.write(&sent)?;
        sized.poison()?;
        Ok(sized)
    }

    fn poison(&mut self) -> Result<()> {
        self.target.poison()?;
        self.peer.iter_mut().try_for_each(OutsideBuffer::poison)?;
        self.pageable_back.poison()?;
        self.pinned_back.poison()
    }
}

impl Data {
    pub(super) fn new(lab: &Transfer, device: &Device) -> Result<Self> {
        let sizes = if lab.options.copies() { lab.sizes.as_slice() } else { &[] };
        let length = lab.values.len();
        let mut data = Self {
            copies: sizes.iter().map(|&bytes| OfSize::new(lab, device, bytes)).collect::<Result<_>>()?,
            written: None,
            input: device.outside(Outside::Pinned, length)?,
            managed: device.outside(Outside::Managed, length)?,
            output: device.outside(Outside::Pinned, length)?,
            x: device.buffer(length)?,
            y: device.buffer(length)?,
        };
        data.input.write(&lab.values)?;
        data.managed.write(&lab.values)?;
        Ok(data)
    }

    /// The data of a size, whose targets are written.
    pub(super) fn sized(&mut self, size: usize) -> &mut OfSize {
        self.written = Some(size);
        &mut self.copies[size]
    }

    pub(super) fn poison(&mut self) -> Result<()> {
        if let Some(written) = self.written.take() {
            self.copies[written].poison()?;
        }
        self.x.poison()?;
        self.y.poison()?;
        self.output.poison()
    }
}

impl Transfer {
    /// A row whose kernel works on the values.
    pub(super) fn task(&self, spec: &VariantSpec<Use>) -> Variant<'_, Data> {
        let (name, of) = (spec.name, spec.of);
        let length = self.values.len();
        let (rounds, bytes) = (of.rounds(self.options.rounds), 4 * length as u64);
        let copies = if matches!(of, Use::Streams(_)) { 2 } else { 1 };
        let variant = Variant::new(
            name,
            move |data: &mut Data, launcher| match of {
                Use::Streams(streams) => self.in_streams(data, streams, launcher),
                _ => self.once(of, data, launcher),
            },
            move |data| {
                let found = if copies == 2 { data.output.read()? } else { data.y.read()? };
                Ok(Outcome::exact(Shape::Vector(length), found, |_, i| after_rounds(self.values[i], rounds)))
            },
        );
        let what = if copies == 2 { "the numbers after all rounds" } else { "the numbers after one round" };
        let variant = variant
            .group(if copies == 2 { "streams" } else { "reads" })
            .axis(WAY, name)
            .axis(AMOUNT, kib(bytes).to_string())
            .fact("grid", json!(LaunchConfig::linear(length, BLOCK).grid))
            .bytes(copies * bytes)
            .computes(what, bytes);
        match of {
            // Its pages are on the device since the run before.
            Use::Managed | Use::Prefetched => variant.by_host_clock(|data, _| data.managed.prefetch(false)),
            _ => variant.by_host_clock(|_, _| Ok(())),
        }
    }

    /// Chunks to the device, a kernel, and back, in so many streams.
    fn in_streams(&self, data: &mut Data, streams: u32, launcher: &mut Launcher<'_>) -> Result<()> {
        let length = self.values.len();
        let each = length.div_ceil(self.options.chunks as usize).max(1);
        let Data { input, output, x, y, .. } = data;
        launcher.fork(streams)?;
        for (number, first) in (0..length).step_by(each).enumerate() {
            let range = first..length.min(first + each);
            let (number, bytes) = (number as u32, 4 * range.len() as u64);
            let chunk = Chunk { range: range.clone(), number, stream: 1 + number % streams, bytes };
            launcher.copy_to_device(input, x, &chunk)?;
            let launch = LaunchConfig { stream: chunk.stream, ..LaunchConfig::linear(range.len(), BLOCK) };
            let arguments = (x.tail(first).first(range.len()), y.part_mut(range), self.options.rounds);
            launcher.launch_on(&chunk, Reads::Device, &transfer_rounds, &launch, arguments)?;
            launcher.copy_to_host(y, output, &chunk)?;
        }
        launcher.join(streams)
    }

    /// A kernel that reads the values once, from where they are.
    fn once(&self, of: Use, data: &mut Data, launcher: &mut Launcher<'_>) -> Result<()> {
        let length = self.values.len();
        let chunk = Chunk { range: 0..length, number: 0, stream: 0, bytes: 4 * length as u64 };
        let launch = LaunchConfig::linear(length, BLOCK);
        let Data { input, managed, x, y, .. } = data;
        let kernel = &transfer_rounds;
        match of {
            Use::Mapped => launcher.launch_on(&chunk, Reads::Mapped, kernel, &launch, (input.mapped()?, y, 1)),
            Use::Managed => launcher.launch_on(&chunk, Reads::Managed, kernel, &launch, (managed.mapped()?, y, 1)),
            Use::Prefetched => {
                launcher.prefetch(managed, &chunk)?;
                launcher.launch_on(&chunk, Reads::Device, kernel, &launch, (managed.mapped()?, y, 1))
            }
            Use::Copied | Use::Streams(_) => {
                launcher.copy_to_device(input, x, &chunk)?;
                launcher.launch_on(&chunk, Reads::Device, kernel, &launch, (&*x, y, 1))
            }
        }
    }
}
