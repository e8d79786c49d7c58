//! A roofline: how fast kernels compute, over their operations for each byte that a memory moves,
//! below what that memory and the arithmetic units allow. Plain data, with the arithmetic that both
//! drawings share.

use crate::Scale;
use crate::plot::{Axis, number};

/// Kernels below the roofs of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// What is shown: the GPU, and where the heights come from.
    pub title: String,
    /// What the arithmetic units reach, in TFLOP/s.
    pub arithmetic: Roof,
    /// What memories reach, in TB/s; the slowest first.
    pub memories: Vec<Roof>,
    /// The kernels.
    pub kernels: Vec<RooflineKernel>,
}

/// What a part of a GPU reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// The part's name.
    pub name: String,
    /// How much it does in a second.
    pub rate: f64,
}

/// A kernel: a point for each memory, all of one height.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflineKernel {
    /// Its name.
    pub name: String,
    /// Kernels of one group have one mark.
    pub group: usize,
    /// Its operations in a second, in TFLOP/s; `None` if no time is known: then it is drawn at its
    /// lowest roof.
    pub tflops: Option<f64>,
    /// Its operations for each byte, of each memory in turn.
    pub intensities: Vec<f64>,
}

impl Roofline {
    /// The lowest roof above a kernel: its name, and how high it is there.
    pub(crate) fn roof(&self, kernel: &RooflineKernel) -> (&str, f64) {
        let memories = self.memories.iter().zip(&kernel.intensities);
        let sloped = memories.map(|(memory, intensity)| (memory.name.as_str(), memory.rate * intensity));
        let flat = (self.arithmetic.name.as_str(), self.arithmetic.rate);
        sloped.fold(flat, |lowest, roof| if roof.1 < lowest.1 { roof } else { lowest })
    }

    /// How high a kernel is drawn.
    pub(crate) fn height(&self, kernel: &RooflineKernel) -> f64 {
        kernel.tflops.unwrap_or_else(|| self.roof(kernel).1)
    }

    /// The axes of intensities and of operations in a second.
    pub(crate) fn axes(&self) -> (Axis, Axis) {
        let ridges = self.memories.iter().map(|memory| self.arithmetic.rate / memory.rate);
        let points = || self.kernels.iter().flat_map(|kernel| self.points(kernel));
        let intensities = points().map(|(_, intensity, _)| intensity);
        let heights = points().map(|(_, _, height)| height);
        let x = Axis::of_powers_of_two(ridges.chain(intensities));
        (x, Axis::of(Scale::Log, heights.chain([self.arithmetic.rate])))
    }

    /// Where the roof of a memory begins and where it ends, in intensity and height.
    pub(crate) fn slope(&self, memory: &Roof, x: &Axis, y: &Axis) -> [(f64, f64); 2] {
        let first = x.low.max(y.low / memory.rate);
        let ridge = (self.arithmetic.rate / memory.rate).max(first);
        [(first, memory.rate * first), (ridge, memory.rate * ridge)]
    }

    /// Where a kernel is drawn: the index of a memory, the intensity, and the height, as far as they
    /// have logarithms.
    pub(crate) fn points(&self, kernel: &RooflineKernel) -> impl Iterator<Item = (usize, f64, f64)> {
        let height = self.height(kernel);
        let has_logarithm = |value: f64| value.is_finite() && value > 0.0;
        let points = kernel.intensities.clone().into_iter().enumerate();
        points
            .map(move |(memory, intensity)| (memory, intensity, height))
            .filter(move |&(_, intensity, height)| has_logarithm(intensity) && has_logarithm(height))
    }

    /// A kernel's numbers, in words.
    pub(crate) fn said(&self, kernel: &RooflineKernel) -> String {
        let (roof, most) = self.roof(kernel);
        let reached = match kernel.tflops {
            Some(tflops) if most > 0.0 => {
                format!("{} TFLOP/s, {:.0} % of what {roof} allows", number(tflops), 100.0 * tflops / most)
            }
            Some(tflops) => format!("{} TFLOP/s", number(tflops)),
            None => format!("at most {} TFLOP/s, by {roof}", number(most)),
        };
        let each = self.memories.iter().zip(&kernel.intensities);
        let each: Vec<_> =
            each.map(|(memory, intensity)| format!("{} of {}", number(*intensity), memory.name)).collect();
        format!("{} operations a byte: {reached}", each.join(", "))
    }

    /// The letter of the kernel with this index: one for each as far as there are letters.
    pub(crate) fn letter(index: usize) -> char {
        u8::try_from(index).ok().filter(|&index| index < 26).map_or('*', |index| char::from(b'a' + index))
    }

    /// The roofs in words.
    pub(crate) fn roofs(&self) -> Vec<String> {
        let memories = self.memories.iter().map(|memory| format!("{}: {} TB/s", memory.name, number(memory.rate)));
        memories.chain([format!("{}: {} TFLOP/s", self.arithmetic.name, number(self.arithmetic.rate))]).collect()
    }
}
