//! Tensor maps. `cust_raw` calls the driver, whose functions are newer than the bindings. `tensor` calls it. The call
//! encodes a description and touches no device memory.

use cust::sys::{self, Columns, LoadError, TensorDescription, TensorMap};

use super::{DriverError, Result, number_to_result};

/// The map of a tensor that is copied in boxes of these extents.
pub fn encode_tiled(tensor: &TensorDescription, box_dimensions: &[u32]) -> Result<TensorMap> {
    encoded(sys::encode_tiled(tensor, box_dimensions))
}

/// The map of images that are copied as columns of pixels.
pub fn encode_columns(tensor: &TensorDescription, columns: Columns) -> Result<TensorMap> {
    encoded(sys::encode_columns(tensor, columns))
}

fn encoded(answer: std::result::Result<(TensorMap, u32), LoadError>) -> Result<TensorMap> {
    let (map, status) = answer.map_err(DriverError::Missing)?;
    number_to_result(status)?;
    Ok(map)
}
