//! The checked-in PTX of a crate of kernels.

/// The kernels of a crate as PTX for one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxImage {
    /// The architecture that the PTX was made for, as `sm_75`. It runs on this one and on all later
    /// ones.
    pub arch: &'static str,
    /// The PTX. Its first two lines are comments: the digest of the sources it was made of, and the
    /// compiler that made it.
    pub text: &'static str,
}

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
