//! The copies to the device and back, by the driver.

use super::table::Layout;
use super::{Data, Pitch};
use crate::labs::compare::Shape;
use crate::labs::inputs::HostMatrix;
use crate::labs::lab::{Outcome, Variant};
use crate::labs::variants::VariantSpec;

impl Pitch {
    /// Copies the matrix to the device, and from it.
    pub(super) fn copies(
        &self,
        data: &Data,
        &VariantSpec { name: memory, of: Layout(index), .. }: &VariantSpec<Layout>,
    ) -> [Variant<'_, Data>; 2] {
        let HostMatrix { rows, columns, ref elements } = self.matrix;
        let shape = Shape::Matrix { rows, columns };
        let bytes = size_of_val(elements.as_slice()) as u64;
        let to = Variant::new(
            format!("to-device-{memory}"),
            move |data: &mut Data, _launcher| data.0[0].targets[index].write(elements),
            move |data| Ok(Outcome::exact(shape, data.0[0].targets[index].read()?, |r, c| elements[r * columns + c])),
        );
        let from = Variant::new(
            format!("from-device-{memory}"),
            move |data: &mut Data, _launcher| {
                data.0[0].received = data.0[0].matrices[index].read()?;
                Ok(())
            },
            move |data| {
                let received = std::mem::take(&mut data.0[0].received);
                Ok(Outcome::exact(shape, received, |r, c| elements[r * columns + c]))
            },
        );
        let matrix = &data.0[0].matrices[index];
        [(to, "to device"), (from, "from device")]
            .map(|(variant, way)| self.described(variant.group(way).bytes(bytes), [way, memory], None, matrix))
    }
}
