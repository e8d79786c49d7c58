//! The libraries' transposes and copies of the same matrix. [`super`] calls it with `--peer`.

use std::rc::Rc;

use device::peers::Peers;
use device::{Device, OnDevice as _};

use super::{Data, Transpose};
use crate::labs::lab::Variant;
use crate::peers::{self};

impl Transpose {
    /// cuBLAS's row, if it is there, and the driver's.
    pub(super) fn library_rows<'a>(&'a self, device: &Device, peers: &Rc<Peers>) -> Vec<Variant<'a, Data>> {
        let mut rows = Vec::new();
        if let Some(library) = peers.cublas() {
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| peers.transpose(&data.input, &mut data.output);
            rows.push(peers::row("cublas-sgeam", library, launch, |data| self.outcome(false, data)));
        }
        // As one run of bytes, padding and all, and row by row, which the driver does more slowly.
        let (whole, peers) = (device.clone(), Rc::clone(peers));
        let copy = move |Data { input, copied, .. }: &mut Data| match copied {
            Some(copied) => whole.copy(input, copied, input.bytes()),
            None => Ok(()),
        };
        let copy_rows = move |Data { input, copied, .. }: &mut Data| match copied {
            Some(copied) => peers.copy_rows(input, copied),
            None => Ok(()),
        };
        let driver = peers::driver(device);
        rows.push(peers::row("driver-copy", &driver, copy, |data| self.outcome(true, data)));
        rows.push(peers::row("driver-copy-2d", &driver, copy_rows, |data| self.outcome(true, data)));
        rows.into_iter().map(|row| row.bytes(2 * self.bytes())).collect()
    }
}
