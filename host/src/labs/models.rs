//! Models that stand in for the simulator without one, which has no caches, no occupancy and no
//! older GPU's transactions. The labs about these run on models then. Opens devices; they launch
//! nothing by themselves.

use device::{Device, LoadCaching, Model, Result};

/// Whether it is the simulator without a model.
pub(super) fn is_plain(device: &Device) -> bool {
    !device.properties().is_gpu() && device.properties().simulates.is_none()
}

/// The model of this name instead of the simulator without one.
///
/// # Errors
///
/// Those of [`Device::as_model`].
pub(super) fn stand_in(device: &Device, name: &str) -> Result<Option<Device>> {
    let model = Model::named(name).filter(|_| is_plain(device));
    model.map(|model| device.as_model(model, LoadCaching::Default)).transpose()
}
