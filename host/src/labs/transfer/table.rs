//! The table of the lab: its ways to copy, its uses of streams and of the host's memory, and its flags.

use clap::Args;
use device::Device;

use crate::flag_values::{some_bytes, whole_number};
use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 24, on_simulator: 1 << 18 };

/// Input and output on the device, as managed memory and in pinned memory of the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "chunks of a vector", on_device: 3, on_host: 4 };

/// The sizes of copies: from those that cost latency to those that cost bandwidth; and the largest.
const BYTES: [u64; 4] = [1 << 10, 1 << 14, 1 << 19, 1 << 24];
const LARGEST: u64 = 1 << 28;

/// The bytes of a copy that the simulator moves, at most.
const CHECKED: u64 = 1 << 16;

/// Where a copy goes, and whose memory is at its other end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ToDevicePageable,
    ToDevicePinned,
    ToHostPageable,
    ToHostPinned,
    OnDevice,
    Peer,
}

impl Variants for Way {
    const TITLE: &'static str = "Copies";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("to-device-pageable", "To the device, from memory that the system may move", Self::ToDevicePageable),
        variant("to-device-pinned", "To the device, from pinned memory", Self::ToDevicePinned),
        variant("to-host-pageable", "To the host, to memory that the system may move", Self::ToHostPageable),
        variant("to-host-pinned", "To the host, to pinned memory", Self::ToHostPinned),
        variant("on-device", "Within the device's memory: each byte is read and written there", Self::OnDevice),
        variant("to-peer", "To a second GPU, where there is one", Self::Peer),
    ];
}

/// What a kernel needs of the host's memory, and how it comes there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Streams(u32),
    Copied,
    Mapped,
    Managed,
    Prefetched,
}

impl Variants for Use {
    const TITLE: &'static str = "Streams, and kernels that read what is on the host";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("streams-1", "Chunks to the device, a kernel, and back, in one stream", Self::Streams(1)),
        variant("streams-2", "The same, with every other chunk in a second stream", Self::Streams(2)),
        variant("streams-4", "The same in four streams", Self::Streams(4)),
        variant("copied", "A kernel reads once what was copied before, from pinned memory", Self::Copied),
        variant("mapped", "It reads pinned memory of the host itself: zero-copy", Self::Mapped),
        variant("managed", "It reads managed memory, whose pages move as it accesses them", Self::Managed),
        variant("prefetched", "It reads managed memory that was moved before", Self::Prefetched),
    ];
}

/// The flags of `host transfer`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    ways: Chosen<Way>,
    #[command(flatten)]
    uses: Chosen<Use>,
    #[command(flatten)]
    pub(super) values: VectorFlags,
    /// Bytes of each copy, such as 4K,1M [default: 1K,16K,512K,16M,256M]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = copied_bytes)]
    bytes: Vec<u64>,
    /// The default sizes up to this one, such as 1G [default: 256M]
    #[arg(long, value_name = "BYTES", conflicts_with = "bytes", value_parser = copied_bytes)]
    largest: Option<u64>,
    /// How many chunks the streams get
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = whole_number(1, 64u32))]
    pub(super) chunks: u32,
    /// The kernel's work on each element of a chunk
    #[arg(long, value_name = "NUMBER", default_value_t = 512, value_parser = whole_number(1, 65536u32))]
    pub(super) rounds: u32,
}

/// A number of bytes of a copy: whole words.
fn copied_bytes(text: &str) -> Result<u64, String> {
    match some_bytes(text)? {
        bytes if bytes > 1 << 34 => Err("copies of more than 16G are not made".to_owned()),
        bytes if bytes % 4 != 0 => Err("give a multiple of 4 bytes".to_owned()),
        bytes => Ok(bytes),
    }
}

/// How many bytes of a copy this device moves.
pub(super) fn moved(device: &Device, bytes: u64) -> u64 {
    if device.properties().is_gpu() { bytes } else { bytes.min(CHECKED) }
}

impl Options {
    /// The sizes of copies on this device.
    pub(super) fn sizes(&self, device: &Device) -> Vec<u64> {
        let mut sizes = self.bytes.clone();
        if sizes.is_empty() {
            // A driver that predicts times is the simulator.
            let most = if device.properties().has_predicted_times() { CHECKED } else { u64::MAX };
            let largest = self.largest.unwrap_or(LARGEST);
            let smaller = BYTES.into_iter().filter(|&bytes| bytes < largest);
            sizes = smaller.chain([largest]).filter(|&bytes| bytes <= most || self.largest.is_some()).collect();
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Whether there are rows of copies.
    pub(super) fn copies(&self) -> bool {
        self.ways.any() || !self.uses.any()
    }

    pub(super) fn ways(&self) -> Vec<&'static VariantSpec<Way>> {
        if self.copies() { self.ways.chosen() } else { Vec::new() }
    }

    pub(super) fn uses(&self) -> Vec<&'static VariantSpec<Use>> {
        if self.uses.any() || !self.ways.any() { self.uses.chosen() } else { Vec::new() }
    }

    pub(super) fn chooses_rows(&self) -> bool {
        self.ways.any() || self.uses.any() || !self.bytes.is_empty() || self.largest.is_some()
    }
}

/// The axes: what a row does, and with how much.
pub(super) const WAY: &str = "transfer";
pub(super) const AMOUNT: &str = "KiB";
/// How much a copy is of, as a number.
pub(super) const COPIED: &str = "copied_KiB";

/// Bytes in KiB.
pub(super) fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}
