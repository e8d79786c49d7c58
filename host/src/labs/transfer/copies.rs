//! The rows of copies: of some bytes in one way, whose arrival is compared.

use device::{Buffer, Device, Result};
use kernels::transfer::after_rounds;
use serde_json::json;

use super::on_device::{Data, OfSize};
use super::table::{AMOUNT, COPIED, WAY, Way, kib, moved};
use super::{Transfer, Use};
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};
use crate::labs::launcher::Launcher;
use crate::labs::streams::Chunk;
use crate::labs::variants::VariantSpec;

impl Transfer {
    /// The number that a copy moves at this index.
    pub(super) fn sent(&self, index: usize) -> u32 {
        after_rounds(self.seed ^ index as u32, 1)
    }

    /// A copy of the size of this number.
    pub(super) fn copy(&self, way: &VariantSpec<Way>, size: usize, device: &Device) -> Variant<'_, Data> {
        let (bytes, words) = (self.sizes[size], (moved(device, self.sizes[size]) / 4) as usize);
        let (name, of) = (way.name, way.of);
        let amount = kib(bytes).to_string();
        Variant::new(
            format!("{name}-{amount}"),
            move |data: &mut Data, launcher| start(of, data.sized(size), words, bytes, launcher),
            move |data| {
                let found = arrived(of, data.sized(size))?;
                Ok(Outcome::exact(Shape::Vector(words), found, |_, index| self.sent(index)))
            },
        )
        .group(format!("{amount} KiB"))
        .axis(WAY, name)
        .axis(AMOUNT, amount)
        .fact(COPIED, if bytes % 1024 == 0 { json!(bytes / 1024) } else { json!(kib(bytes)) })
        .bytes(bytes)
        .by_host_clock(|_, _| Ok(()))
    }
}

/// Starts a copy of so many words, which stand for so many bytes.
fn start(way: Way, data: &mut OfSize, words: usize, bytes: u64, launcher: &mut Launcher<'_>) -> Result<()> {
    let chunk = Chunk { range: 0..words, number: 0, stream: 0, bytes };
    let OfSize { pageable, pinned, source, target, pageable_back, pinned_back, peer } = data;
    match way {
        Way::ToDevicePageable => launcher.copy_to_device(pageable, target, &chunk),
        Way::ToDevicePinned => launcher.copy_to_device(pinned, target, &chunk),
        Way::ToHostPageable => launcher.copy_to_host(source, pageable_back, &chunk),
        Way::ToHostPinned => launcher.copy_to_host(source, pinned_back, &chunk),
        Way::OnDevice => launcher.copy_on_device(source, target, &chunk),
        Way::Peer => match peer {
            Some(peer) => launcher.copy_to_host(source, peer, &chunk),
            None => Ok(()),
        },
    }
}

/// What has arrived.
fn arrived(way: Way, data: &OfSize) -> Result<Vec<u32>> {
    let on_device = |buffer: &Buffer<u32>| buffer.read();
    match way {
        Way::ToDevicePageable | Way::ToDevicePinned | Way::OnDevice => on_device(&data.target),
        Way::ToHostPageable => data.pageable_back.read(),
        Way::ToHostPinned => data.pinned_back.read(),
        Way::Peer => data.peer.as_ref().map_or(Ok(Vec::new()), |peer| peer.read()),
    }
}

impl Use {
    /// The rounds of its kernel.
    pub(super) fn rounds(self, rounds: u32) -> u32 {
        if matches!(self, Self::Streams(_)) { rounds } else { 1 }
    }
}
