//! The parts of the lab: the variants of each.

use device::{LaunchConfig, Result};
use kernels::layout::{self as kernel, ROW};

use super::{BLOCK, COLUMNS, Data, Layout};
use crate::labs::Launcher;
use crate::labs::compare::Shape;
use crate::labs::lab::{Outcome, Variant};

/// A launch of a kernel that writes a float for each element.
type LaunchOf = fn(&mut Data, &mut Launcher<'_>, &LaunchConfig) -> Result<()>;

impl Layout {
    /// A variant that writes a float for each element.
    fn variant<'a>(
        &'a self,
        name: &str,
        layout: &str,
        group: &str,
        words: usize,
        launch: LaunchOf,
        expected: impl Fn(usize) -> f32 + Sync + Clone + 'a,
    ) -> Variant<'a, Data> {
        let size = self.size;
        let config = LaunchConfig::linear(size, BLOCK);
        Variant::new(
            format!("{group}-{name}"),
            move |data: &mut Data, launcher| launch(data, launcher, &config),
            move |data| {
                let expected = expected.clone();
                Ok(Outcome::exact(Shape::Vector(size), data.output.read()?, |_, i| expected(i)))
            },
        )
        .group(group)
        .axis("data", group)
        .axis("layout", layout)
        .fact("points_bytes", (group == "points").then_some(size_of_val(self.points.as_slice())))
        .bytes(((words + 1) * size * size_of::<f32>()) as u64)
        .computes(format!("the results of {group}"), (size * size_of::<f32>()) as u64)
    }

    pub(super) fn points(&self) -> Vec<Variant<'_, Data>> {
        let launches: [(&str, LaunchOf); 4] = [
            ("direct", |data, launcher, config| {
                let arguments = (&data.points, &mut data.output);
                // SAFETY: there is a point for each element of the output, and nothing writes
                // points.
                unsafe { launcher.launch_unchecked(&kernel::layout_points_direct, config, arguments) }
            }),
            ("read-only", |data, launcher, config| {
                launcher.launch(&kernel::layout_points_read_only, config, (&data.points, &mut data.output))
            }),
            ("staged", |data, launcher, config| {
                launcher.launch(&kernel::layout_points_staged, config, (&data.points, &mut data.output))
            }),
            ("arrays", |data, launcher, config| {
                let [x, y, z] = &data.coordinates;
                launcher.launch(&kernel::layout_points_arrays, config, (x, y, z, &mut data.output))
            }),
        ];
        let expected = |i: usize| self.points[i].square();
        launches.map(|(name, launch)| self.variant(name, name, "points", 3, launch, expected)).into()
    }

    pub(super) fn particles(&self) -> Vec<Variant<'_, Data>> {
        let size = self.size;
        let launch = LaunchConfig::linear(size, BLOCK);
        let variant = |name: &str, arrays: bool| {
            Variant::new(
                format!("particles-{name}"),
                move |data: &mut Data, launcher: &mut Launcher<'_>| match arrays {
                    false => launcher.launch(
                        &kernel::layout_particles_direct,
                        &launch,
                        (&data.particles, &mut data.positions),
                    ),
                    true => {
                        let [position, speed, acceleration, time] = &data.fields;
                        let arguments = (position, speed, acceleration, time, &mut data.positions);
                        launcher.launch(&kernel::layout_particles_arrays, &launch, arguments)
                    }
                },
                move |data| {
                    let found = data.positions.read()?;
                    Ok(Outcome::exact(Shape::Vector(size), found, |_, i| self.particles[i].moved()))
                },
            )
            .group("particles")
            .axis("data", "particles")
            .axis("layout", name)
            .bytes((5 * size * size_of::<f64>()) as u64)
            .computes("the results of particles", (size * size_of::<f64>()) as u64)
        };
        vec![variant("direct", false), variant("arrays", true)]
    }

    pub(super) fn sums(&self) -> Vec<Variant<'_, Data>> {
        let launches: [(&str, &str, LaunchOf); 2] = [
            ("rows", "row each", |data, launcher, config| {
                launcher.launch(&kernel::layout_rows, config, (&data.rows, &mut data.output))
            }),
            ("columns", "column each", |data, launcher, config| {
                launcher.launch(&kernel::layout_columns, config, (&data.columns, &mut data.output))
            }),
        ];
        let sums = self.columns.len() / ROW;
        // In the order of the kernels, so that the sum is the same to the bit.
        let expected = move |i: usize| (0..ROW).fold(0.0, |sum, k| sum + self.columns[k * sums + i]);
        launches.map(|(name, layout, launch)| self.variant(name, layout, "sums", ROW, launch, expected)).into()
    }

    pub(super) fn matrices(&self) -> Vec<Variant<'_, Data>> {
        let rows = self.matrix.len() / COLUMNS;
        let mut launch = LaunchConfig::linear(COLUMNS, BLOCK);
        launch.grid[1] = rows as u32;
        let elements = self.matrix.len();
        let variant = |name: &str, pointers: bool| {
            Variant::new(
                format!("matrix-{name}"),
                move |data: &mut Data, launcher: &mut Launcher<'_>| match pointers {
                    // SAFETY: the table has the address of each row of `data.matrix`, which lives
                    // as long.
                    true => unsafe {
                        launcher.launch_unchecked(&kernel::layout_pointers, &launch, (&data.pointers, &mut data.copy))
                    },
                    false => launcher.launch(&kernel::layout_pitched, &launch, (&data.matrix, &mut data.copy)),
                },
                move |data| {
                    let found = data.copy.read()?;
                    let shape = Shape::Matrix { rows, columns: COLUMNS };
                    Ok(Outcome::exact(shape, found, |row, column| self.matrix[row * COLUMNS + column]))
                },
            )
            .group("matrix")
            .axis("data", "matrix")
            .axis("layout", name)
            .bytes((2 * elements * size_of::<f32>()) as u64)
            .computes("the copy of the matrix", (elements * size_of::<f32>()) as u64)
        };
        vec![variant("pointers", true), variant("pitched", false)]
    }
}
