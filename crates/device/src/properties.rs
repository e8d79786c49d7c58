//! A device's properties. A backend fills them in when the device is opened; nothing changes them
//! afterwards.

use serde::{Serialize, Serializer};
use simt::Model;

/// A version of the compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComputeCapability {
    /// The generation.
    pub major: u32,
    /// The version within the generation.
    pub minor: u32,
}

impl ComputeCapability {
    /// The compute capability of a PTX target such as `sm_75` or `sm_90a`.
    pub fn of_target(target: &str) -> Option<Self> {
        let digits = target.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let number: u32 = digits.parse().ok()?;
        Some(Self { major: number / 10, minor: number % 10 })
    }

    /// Fused multiply-adds of f32 that a multiprocessor starts in a cycle: the row "32-bit
    /// floating-point add, multiply, multiply-add" in the CUDA C++ Programming Guide's table of
    /// arithmetic throughput. `None` if the table lacks it.
    pub fn f32_lanes(self) -> Option<u32> {
        match (self.major, self.minor) {
            (3, _) => Some(192),
            (6, 0) | (7, _) | (8, 0) => Some(64),
            (5 | 6, _) | (8, 6 | 7 | 9) | (9 | 10 | 12, _) => Some(128),
            _ => None,
        }
    }
}

impl std::fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for ComputeCapability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whether a device is hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An NVIDIA GPU, which is timed.
    Gpu,
    /// The simulator, which counts.
    Simulator,
}

/// The properties of a device. `None` for those that the simulator does not have.
#[derive(Clone, Debug, Serialize)]
pub struct Properties {
    /// GPU or simulator.
    pub kind: Kind,
    /// The GPU's number, as [`DeviceChoice::Gpu`](crate::DeviceChoice::Gpu) takes it.
    pub index: Option<u32>,
    /// The device's name.
    pub name: String,
    /// What the device does in hardware; for the simulator, what it models.
    pub compute_capability: ComputeCapability,
    /// The PTX that was loaded: its target, such as `sm_75`.
    pub ptx_target: String,
    /// Streaming multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: Option<u32>,
    /// Clock of the multiprocessors in MHz, at most.
    pub clock_mhz: Option<f64>,
    /// Clock of the memory in MHz, at most; two transfers a cycle.
    pub memory_clock_mhz: Option<f64>,
    /// What the memory bus can carry at that clock, in GB/s (10^9 bytes).
    pub peak_gbps: Option<f64>,
    /// Fused multiply-adds of f32 that a multiprocessor starts in a cycle, if known.
    pub f32_lanes_per_multiprocessor: Option<u32>,
    /// Level-2 cache in bytes.
    pub l2_bytes: Option<u64>,
    /// Shared memory that a block can have without opting in, in bytes.
    pub shared_per_block: u64,
    /// Shared memory that a block can have when the kernel opts in, in bytes.
    pub shared_per_block_opt_in: u64,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: Option<u64>,
    /// Threads in a block, at most.
    pub max_threads_per_block: u32,
    /// Threads resident on a multiprocessor, at most.
    pub max_threads_per_multiprocessor: Option<u32>,
    /// Rows of a pitched allocation start on multiples of this many bytes.
    pub pitch_alignment: u64,
    /// A texture's memory starts on a multiple of this many bytes.
    pub texture_alignment: u64,
    /// Rows of a two-dimensional texture in linear memory start on multiples of this many bytes.
    pub texture_pitch_alignment: u64,
    /// The newest CUDA version that the driver supports, such as `13.0`.
    pub cuda_version: Option<String>,
    /// The driver's own version, such as `580.95.05`, where the system reports it.
    pub driver: Option<String>,
    /// The sizes that shared memory can have on a multiprocessor, in bytes. On compute capability
    /// 2.x, 3.x and from 7.0 on, the rest is L1 cache.
    pub shared_sizes: Vec<u32>,
    /// Blocks resident on a multiprocessor, at most.
    pub max_blocks_per_multiprocessor: Option<u32>,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: Option<u32>,
    /// Level-1 cache of a multiprocessor when shared memory is smallest, in bytes.
    pub l1_bytes: Option<u64>,
    /// For the simulator with a model: the model's name.
    pub simulates: Option<&'static str>,
    /// For the simulator: what it counts and how.
    pub model: Option<String>,
}

impl Properties {
    /// The simulator without a model, with PTX for this target loaded.
    pub fn simulator(compute_capability: ComputeCapability, ptx_target: String, memory_bytes: u64) -> Self {
        Self {
            kind: Kind::Simulator,
            index: None,
            name: "simulator".to_owned(),
            compute_capability,
            ptx_target,
            multiprocessors: None,
            memory_bytes,
            memory_bus_bits: None,
            clock_mhz: None,
            memory_clock_mhz: None,
            peak_gbps: None,
            f32_lanes_per_multiprocessor: None,
            l2_bytes: None,
            shared_per_block: 48 << 10,
            shared_per_block_opt_in: 227 << 10,
            shared_per_multiprocessor: None,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: None,
            // As an H200's driver reports it.
            pitch_alignment: 512,
            texture_alignment: 512,
            texture_pitch_alignment: 32,
            cuda_version: None,
            driver: None,
            shared_sizes: vec![],
            max_blocks_per_multiprocessor: None,
            registers_per_multiprocessor: None,
            l1_bytes: None,
            simulates: None,
            model: Some(
                "counts as Volta to Hopper do: sectors of 32 bytes, 32 banks of 4 bytes; a MODEL adds \
                 multiprocessors, caches and a clock"
                    .to_owned(),
            ),
        }
    }

    /// The peak f32 arithmetic of the multiprocessors at a clock in MHz, in GFLOP/s (10^9
    /// operations). A multiply-add is two operations.
    pub fn peak_gflops(&self, clock_mhz: f64) -> Option<f64> {
        let lanes = f64::from(self.multiprocessors?) * f64::from(self.f32_lanes_per_multiprocessor?);
        Some(2.0 * lanes * clock_mhz / 1e3)
    }

    /// The simulator's model that is most like this device: the newest of no higher compute
    /// capability, and among those of one compute capability the one that this device's name has in
    /// it.
    pub fn nearest_model(&self) -> Option<&'static Model> {
        let ComputeCapability { major, minor } = self.compute_capability;
        let older = Model::all().iter().rev().filter(|model| model.compute_capability <= (major, minor));
        let named = |model: &Model| model.chip.split(" (").next().is_some_and(|chip| self.name.contains(chip));
        older.max_by_key(|model| (model.compute_capability, named(model)))
    }

    /// Whether this is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.kind == Kind::Gpu
    }

    /// Whether the driver's times are predicted: it is the one that runs on the simulator, whose
    /// devices have names of their own.
    pub fn has_predicted_times(&self) -> bool {
        self.is_gpu() && self.name.starts_with("Coalesce simulator of ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_compute_capability() {
        let of = |target| ComputeCapability::of_target(target).map(|cc| cc.to_string());
        assert_eq!(of("sm_75").as_deref(), Some("7.5"));
        assert_eq!(of("sm_90a").as_deref(), Some("9.0"));
        assert_eq!(of("sm_121").as_deref(), Some("12.1"));
        assert_eq!(of("compute_75"), None);
        assert_eq!(of("sm_x"), None);
    }

    #[test]
    fn the_peak_of_f32_follows_from_lanes_and_clock() {
        let hopper = ComputeCapability { major: 9, minor: 0 };
        let h200 = Properties {
            multiprocessors: Some(132),
            f32_lanes_per_multiprocessor: hopper.f32_lanes(),
            ..Properties::simulator(hopper, "sm_90".into(), 0)
        };
        let peak = h200.peak_gflops(1980.0).unwrap();
        assert!((peak - 66_908.0).abs() < 1.0, "{peak}");
        let lanes = |major, minor| ComputeCapability { major, minor }.f32_lanes();
        assert_eq!([lanes(7, 5), lanes(8, 0), lanes(8, 6), lanes(99, 0)], [Some(64), Some(64), Some(128), None]);
    }

    #[test]
    fn the_nearest_model_is_no_newer_than_the_gpu() {
        let nearest = |major, minor, name: &str| {
            let capability = ComputeCapability { major, minor };
            let gpu = Properties { name: name.into(), ..Properties::simulator(capability, String::new(), 0) };
            gpu.nearest_model().map(|model| model.name)
        };
        assert_eq!(nearest(9, 0, "NVIDIA H200"), Some("hopper"));
        assert_eq!([nearest(9, 0, "NVIDIA H100 80GB HBM3"), nearest(9, 0, "GH")], [Some("h100"), Some("hopper")]);
        assert_eq!([nearest(8, 6, "NVIDIA RTX A6000"), nearest(8, 9, "NVIDIA L4")], [Some("ampere"), Some("ada")]);
        let geforce = ["NVIDIA GeForce RTX 4060", "NVIDIA GeForce RTX 4090"].map(|name| nearest(8, 9, name));
        assert_eq!(geforce, [Some("rtx4060"), Some("ada")]);
        assert_eq!(
            [nearest(10, 3, "NVIDIA B300"), nearest(12, 0, "NVIDIA GeForce RTX 5080")],
            [Some("b200"), Some("rtx5090")]
        );
        assert_eq!([nearest(3, 7, "Tesla K80"), nearest(0, 9, "")], [Some("kepler"), None]);
    }

    #[test]
    fn later_is_greater() {
        let cc = |target| ComputeCapability::of_target(target).unwrap();
        assert!(cc("sm_75") < cc("sm_80") && cc("sm_90") < cc("sm_100"));
    }
}
