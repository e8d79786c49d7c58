//! A counter with its name in Nsight Compute: what counters, occupancy and models return for
//! reports.

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
    /// A ratio or percentage; `None` if its denominator is zero.
    Ratio(Option<f64>),
}

/// Implements `+=` for counters, field by field. A field that is left out does not compile.
macro_rules! add_each_field {
    ($($Counters:ident { $($field:ident),+ $(,)? })+) => {
        $(impl std::ops::AddAssign for $Counters {
            fn add_assign(&mut self, Self { $($field),+ }: Self) {
                $(self.$field += $field;)+
            }
        })+
    };
}
pub(crate) use add_each_field;
