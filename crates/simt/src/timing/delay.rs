//! Random delays of memory, from a fixed seed: exponential, of mean 1. No function of the platform
//! is called, so that every machine draws the same ones.

/// The exponential distribution in 64 parts of the same probability: the mean of each.
#[rustfmt::skip]
const EXPONENTIAL: [f64; 64] = [
    0.0079, 0.0237, 0.0399, 0.0563, 0.0729, 0.0899, 0.1071, 0.1247, 0.1425, 0.1607, 0.1792, 0.1981,
    0.2173, 0.2369, 0.2569, 0.2773, 0.2982, 0.3195, 0.3412, 0.3634, 0.3861, 0.4094, 0.4332, 0.4576,
    0.4826, 0.5083, 0.5346, 0.5616, 0.5894, 0.618, 0.6474, 0.6777, 0.7089, 0.7412, 0.7745, 0.809,
    0.8448, 0.8818, 0.9203, 0.9603, 1.002, 1.0455, 1.0909, 1.1386, 1.1886, 1.2412, 1.2968, 1.3557,
    1.4182, 1.4849, 1.5564, 1.6334, 1.7169, 1.8079, 1.9081, 2.0194, 2.1447, 2.2881, 2.4555, 2.6569,
    2.9095, 3.2493, 3.7726, 5.1589,
];

/// Draws delays.
#[derive(Default)]
pub(super) struct Delays {
    state: u64,
}

impl Delays {
    /// The largest of some delays, as when a warp waits for its last line.
    pub fn largest_of(&mut self, count: u32) -> f64 {
        let mut largest: f64 = 0.0;
        for _ in 0..count.clamp(1, 32) {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            largest = largest.max(EXPONENTIAL[(self.state >> 58) as usize]);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_a_mean_of_one_and_grow_with_their_number() {
        let mean = EXPONENTIAL.iter().sum::<f64>() / 64.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        let mut delays = Delays::default();
        let mut average = |count| (0..4096).map(|_| delays.largest_of(count)).sum::<f64>() / 4096.0;
        let (one, four, many) = (average(1), average(4), average(32));
        assert!((one - mean).abs() < 0.1 && one < four && four < many, "{one} {four} {many}");
    }
}
