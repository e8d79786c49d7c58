//! The checked-in PTX of this crate.

/// The kernels of this crate as PTX for one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxImage {
    /// The architecture that the PTX was made for, as `sm_75`. It runs on this one and on all later ones.
    pub arch: &'static str,
    /// The PTX. Its first two lines are comments: the digest of the sources it was made of, and the compiler that made it.
    pub text: &'static str,
}

/// The kernels as PTX, ascending by architecture. The last one that a device can run is the one for that device.
///
/// From `sm_80` on, copies to shared memory are asynchronous (`cuda_std::pipeline`). From `sm_90` on, the best kernels wait by
/// themselves for the kernel before them (`cuda_std::dependent_launch`).
pub const PTX: &[PtxImage] = &[
    PtxImage { arch: "sm_75", text: include_str!("../ptx/kernels.sm_75.ptx") },
    PtxImage { arch: "sm_80", text: include_str!("../ptx/kernels.sm_80.ptx") },
    PtxImage { arch: "sm_90", text: include_str!("../ptx/kernels.sm_90.ptx") },
];

impl PtxImage {
    /// The digest of the sources that it was made of, 64 hexadecimal digits.
    pub fn sources(&self) -> &'static str {
        let header = self.text.lines().next().unwrap_or_default();
        header.rsplit(' ').next().unwrap_or_default()
    }

    /// The names of its kernels, in the order of the text.
    pub fn entry_points(&self) -> impl Iterator<Item = &'static str> {
        let names = self.text.split(".entry ").skip(1);
        names.map(|rest| rest.split(['(', '\n', ' ']).next().unwrap_or_default())
    }
}
