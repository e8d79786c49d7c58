//! CUB's prefix sums and compaction of the same values. [`super`] calls it with `--peer`.

use std::rc::Rc;

use device::Result;
use device::peers::Peers;

use super::table::Makes;
use super::{Data, Scan};
use crate::labs::lab::Variant;
use crate::peers;

impl Scan {
    /// CUB's rows, if CUB is there.
    pub(super) fn rows_of<'a>(&'a self, peers: &Rc<Peers>) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cub() else { return Ok(Vec::new()) };
        let size = self.values.len();
        let makes = self.options.methods.chosen().into_iter().map(|method| method.of.makes());
        let [mut sums, mut kept] = [false; 2];
        makes.for_each(|makes| *(if makes == Makes::Sums { &mut sums } else { &mut kept }) = true);
        let mut rows = Vec::new();
        if sums {
            let (handle, scratch) = (Rc::clone(peers), peers.scratch_for_sums(size)?);
            let launch = move |data: &mut Data| handle.prefix_sums(&data.values, &mut data.sums, size, &scratch);
            let row = peers::row("cub-sums", library, launch, |data| self.outcome(Makes::Sums, data));
            rows.push(self.described(Makes::Sums, row));
        }
        if kept {
            let (handle, scratch) = (Rc::clone(peers), peers.scratch_for_compaction(size)?);
            let launch = move |data: &mut Data| {
                let Data { values, kept, count, .. } = data;
                handle.compact(values, kept, count, size, &scratch)
            };
            let row = peers::row("cub-compact", library, launch, |data| self.outcome(Makes::Kept, data));
            rows.push(self.described(Makes::Kept, row));
        }
        Ok(rows)
    }
}
