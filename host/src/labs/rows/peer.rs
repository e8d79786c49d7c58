//! The libraries' sums of the same rows. [`super`] calls it with `--peer`.

use std::rc::Rc;

use device::peers::Peers;
use device::{Device, Error, Result};

use super::table::{Layout, Task};
use super::{Data, Rows};
use crate::labs::lab::Variant;
use crate::labs::variants::VariantSpec;
use crate::peers::{self};

impl Rows {
    /// A row for each library and layout.
    pub(super) fn library_rows<'a>(
        &'a self,
        device: &Device,
        peers: &Rc<Peers>,
        data: &Data,
    ) -> Result<Vec<Variant<'a, Data>>> {
        if !self.statistics().iter().any(|statistic| statistic.of.task == Task::Sum) {
            return Err(Error::request("--peer", "the libraries only compute sums of rows; add --sum"));
        }
        let columns = self.matrix.columns;
        let mut rows = Vec::new();
        for &VariantSpec { name: layout, of: Layout(index), .. } in self.layouts() {
            if let Some(library) = peers.cublas() {
                let peers = Rc::clone(peers);
                let mut ones = device.buffer(columns)?;
                ones.write(&vec![1.0; columns])?;
                let launch = move |Data { matrices, of_rows, .. }: &mut Data| {
                    peers.row_products(&matrices[index], &ones, of_rows)
                };
                rows.push((peers::row(format!("cublas-sgemv-{layout}"), library, launch, self.judge_sums()), layout));
            }
            if let Some(library) = peers.cub() {
                let peers = Rc::clone(peers);
                let scratch = peers.scratch_for_row_sums(&data.matrices[index])?;
                let launch = move |Data { matrices, of_rows, .. }: &mut Data| {
                    peers.sum_rows(&matrices[index], of_rows, &scratch)
                };
                rows.push((peers::row(format!("cub-sum-{layout}"), library, launch, self.judge_sums()), layout));
            }
        }
        let finished = |(row, layout): (Variant<'a, Data>, &str)| {
            let row = row.group("sum").axis("method", "library").axis("layout", layout);
            row.bytes(self.bytes(Task::Sum))
        };
        Ok(rows.into_iter().map(finished).collect())
    }
}
