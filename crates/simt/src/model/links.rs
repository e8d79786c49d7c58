//! The links of each model: what moves data between the host and the GPU, and between two GPUs, and
//! how fast. Only constants; [`crate::transfers`] computes times from them.
//!
//! A link's peak is its line rate after encoding, in one direction: 8, 16 and 32 GT/s in 16 lanes
//! with 128 of 130 bits for PCIe 3 to 5, 2.5 and 5 GT/s with 8 of 10 bits for PCIe 1 and 2 (PCI
//! Express base specifications); NVLink by NVIDIA's whitepapers of P100, V100, A100 and H100, and the
//! data sheet of B200: 4 links of 20 GB/s, 6, 12 and 18 of 25, 18 of 50. What copies reach:
//!
//! - PCIe 3: pinned 11 to 12 GB/s, pageable 5 to 6 (github.com/rapidsai/dask-cuda/pull/98; 12 to a
//!   V100: github.com/ZaidQureshi/bam/issues/54).
//! - PCIe 4: 25.1 GB/s to an A100 (github.com/NVIDIA/nvbandwidth/issues/42), 26.3 to an RTX 4090 and
//!   26.8 from it (issues/15 there).
//! - PCIe 5: 52.8 GB/s from an H100 to the host (issues/24 there); to it: assumed as much.
//! - An H200: all but `next_us`, by `host transfer --device gpu` on two H200 (driver 580.159.04,
//!   2026-11-29), for `h100`, too. Pageable memory: copies of 16 MiB, which moved at 13.3 and 11.1
//!   GB/s on one machine, and at 14.6 and 10.9 on another.
//! - NVLink 4: 393 GB/s between these two, 87 % of the peak.
//!
//! The rest is assumed: the same part of the peak for other generations, half of the pinned rate for
//! pageable memory and for page faults where it is not measured, and other latencies. Pageable
//! memory depends on the host's memory and processor more than on the GPU.

use super::gpu::Model;

/// The links of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// To the host.
    pub host: HostLink,
    /// To another GPU of its kind, if there is one beside PCIe.
    pub peer: Option<PeerLink>,
}

/// The link to the host. Rates are in GB/s (10^9 bytes), of large copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostLink {
    /// Its name.
    pub name: &'static str,
    /// The line rate of a direction, after encoding.
    pub peak_gbps: f64,
    /// Copies of pinned memory to the device, and to the host.
    pub pinned_gbps: [f64; 2],
    /// Copies of pageable memory, which the driver stages through a pinned buffer.
    pub pageable_gbps: [f64; 2],
    /// Managed memory that moves when a kernel's access faults.
    pub faults_gbps: f64,
    /// From the call of a copy of a few bytes until the host knows that it has ended, in
    /// microseconds.
    pub latency_us: f64,
    /// What each copy takes of a copy engine beside its bytes, in microseconds.
    pub next_us: f64,
}

/// The link to another GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerLink {
    /// Its name.
    pub name: &'static str,
    /// The line rate of a direction.
    pub peak_gbps: f64,
    /// What copies of a direction reach.
    pub gbps: f64,
}

/// What copies reach of a link's line rate where nothing was measured.
const REACHED: f64 = 0.8;

/// A link of which only its line rate is known.
const fn host(name: &'static str, peak_gbps: f64) -> HostLink {
    reaching(name, peak_gbps, [REACHED * peak_gbps; 2])
}

/// A link with these rates of pinned memory.
const fn reaching(name: &'static str, peak_gbps: f64, pinned_gbps: [f64; 2]) -> HostLink {
    let [to_device, to_host] = pinned_gbps;
    HostLink {
        name,
        peak_gbps,
        pinned_gbps,
        pageable_gbps: [to_device / 2.0, to_host / 2.0],
        faults_gbps: to_device / 2.0,
        latency_us: 10.0,
        next_us: 2.0,
    }
}

/// NVLink, of which copies reach what they do of the fourth generation.
const fn nvlink(name: &'static str, peak_gbps: f64) -> Option<PeerLink> {
    Some(PeerLink { name, peak_gbps, gbps: peak_gbps * 393.0 / 450.0 })
}

const PCIE_1: HostLink = host("PCIe 1 x16", 4.0);
const PCIE_2: HostLink = host("PCIe 2 x16", 8.0);
const PCIE_3: HostLink = HostLink { pageable_gbps: [5.5; 2], ..reaching("PCIe 3 x16", 15.75, [12.0; 2]) };
const PCIE_4: HostLink = reaching("PCIe 4 x16", 31.5, [25.1; 2]);
const PCIE_4_ADA: HostLink = reaching("PCIe 4 x16", 31.5, [26.3, 26.8]);
const PCIE_4_X8: HostLink = reaching("PCIe 4 x8", 15.75, [13.1, 13.4]);
const PCIE_5: HostLink = reaching("PCIe 5 x16", 63.0, [52.8; 2]);
const PCIE_5_H200: HostLink = HostLink {
    pageable_gbps: [13.3, 11.1],
    faults_gbps: 7.5,
    latency_us: 8.5,
    ..reaching("PCIe 5 x16", 63.0, [55.0; 2])
};

/// The models' links, each with the names of those that have them.
static LINKS: [(&[&str], Links); 11] = [
    (&["g80"], Links { host: PCIE_1, peer: None }),
    (&["tesla", "fermi"], Links { host: PCIE_2, peer: None }),
    (&["kepler", "kepler8", "maxwell", "turing"], Links { host: PCIE_3, peer: None }),
    (&["pascal"], Links { host: PCIE_3, peer: nvlink("NVLink 1", 80.0) }),
    (&["volta"], Links { host: PCIE_3, peer: nvlink("NVLink 2", 150.0) }),
    (&["ampere"], Links { host: PCIE_4, peer: nvlink("NVLink 3", 300.0) }),
    (&["ada"], Links { host: PCIE_4_ADA, peer: None }),
    (&["rtx4060"], Links { host: PCIE_4_X8, peer: None }),
    (&["hopper", "h100"], Links { host: PCIE_5_H200, peer: nvlink("NVLink 4", 450.0) }),
    (&["b200"], Links { host: PCIE_5, peer: nvlink("NVLink 5", 900.0) }),
    (&["rtx5090"], Links { host: PCIE_5, peer: None }),
];

impl Model {
    /// Its links; `None` if nothing is known of them.
    pub fn links(&self) -> Option<&'static Links> {
        LINKS.iter().find(|(names, _)| names.contains(&self.name)).map(|(_, links)| links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_links_that_reach_less_than_their_peak() {
        for model in Model::all() {
            let Links { host, peer } = model.links().unwrap_or_else(|| panic!("{}", model.name));
            let rates = host.pinned_gbps.iter().zip(&host.pageable_gbps);
            assert!(rates.clone().all(|(pinned, pageable)| pageable < pinned && *pinned < host.peak_gbps), "{host:?}");
            assert!(peer.is_none_or(|peer| host.peak_gbps < peer.gbps && peer.gbps < peer.peak_gbps), "{peer:?}");
        }
    }
}
