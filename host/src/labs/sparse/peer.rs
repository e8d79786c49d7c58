//! cuSPARSE's product of the same matrices. [`super`] calls it with `--peer`.

use std::rc::Rc;

use device::Result;
use device::peers::{Peers, SparseMatrix};

use super::Sparse;
use super::input::Input;
use super::on_device::{Data, Table};
use crate::labs::lab::Variant;
use crate::peers;

impl Sparse {
    /// cuSPARSE's rows, if cuSPARSE is there: one for each matrix.
    pub(super) fn rows_of<'a>(&'a self, peers: &Rc<Peers>, data: &Data) -> Result<Vec<Variant<'a, Data>>> {
        let Some(library) = peers.cusparse() else { return Ok(Vec::new()) };
        let row = |(index, input): (usize, &Input)| {
            let (rows, columns) = (input.matrix.rows, input.matrix.columns);
            let Data { matrices, x, y } = data;
            let scratch = peers.scratch_for_sparse(&described(rows, columns, &matrices[index].csr), x, y)?;
            let peers = Rc::clone(peers);
            let launch = move |data: &mut Data| {
                let Data { matrices, x, y } = data;
                peers.multiply_sparse(&described(rows, columns, &matrices[index].csr), x, y, &scratch)
            };
            let outcome = move |data: &mut Data| self.outcome(index, data);
            let row = peers::row(format!("cusparse-csr-{}", input.name), library, launch, outcome);
            Ok(self.described(index, row.axis("format", "cusparse-csr")))
        };
        self.inputs.iter().enumerate().map(row).collect()
    }
}

fn described(rows: usize, columns: usize, table: &Table) -> SparseMatrix<'_> {
    let Table { starts, columns: indices, values } = table;
    SparseMatrix { rows, columns, starts, indices, values }
}
