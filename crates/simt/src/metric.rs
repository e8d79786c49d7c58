//! A counter under the name that Nsight Compute has for it.

/// A counter under its name in Nsight Compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: MetricValue,
}

/// The value of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A sum over the launch.
    Count(u64),
    /// A ratio or percentage; `None` where nothing was counted that it could be of.
    Ratio(Option<f64>),
}
