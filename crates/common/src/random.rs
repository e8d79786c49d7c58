//! Seeded random data for the labs' inputs. Labs and `host run` fill inputs with it. Pure.
//!
//! The same seed gives the same data on every machine, so a wrong result can be reproduced. The
//! generator is SplitMix64 (Steele, Lea, Flood 2014): one 64-bit counter and a mixing function,
//! fast enough to fill a gibibyte in a second.

use bytemuck::Pod;
use rayon::prelude::*;

/// The increment of the counter.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many numbers make it worthwhile to use all cores.
const MANY: usize = 1 << 18;

/// A seeded generator of random numbers. Not for secrets.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A uniformly distributed number from -1 up to, but not including, 1: one of 2^24 equally
    /// spaced ones.
    pub fn next_f32(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// `count` numbers as [`Random::next_f32`] gives them.
    pub fn vector(&mut self, count: usize) -> Vec<f32> {
        self.samples(count)
    }

    /// `count` numbers of any type: the same as drawn one by one, but on all cores if there are
    /// many.
    pub fn samples<T: Sample>(&mut self, count: usize) -> Vec<T> {
        let mut samples = vec![T::zeroed(); count];
        if count < MANY {
            T::fill(&mut samples, self);
            return samples;
        }
        let begin = self.clone();
        *self = begin.after(count);
        let parts = samples.par_chunks_mut(MANY).enumerate();
        parts.for_each(|(index, part)| T::fill(part, &mut begin.after(index * MANY)));
        samples
    }

    /// The lowest `each` bytes, at most 8, of `count` draws of 64 bits.
    pub fn low_bytes(&mut self, count: usize, each: usize) -> Vec<u8> {
        let mut bytes = vec![0; count * each];
        bytes.chunks_exact_mut(each).for_each(|bytes| bytes.copy_from_slice(&self.next_u64().to_le_bytes()[..each]));
        bytes
    }

    /// The state of the generator after `count` more draws.
    fn after(&self, count: usize) -> Self {
        Self { state: self.state.wrapping_add(STEP.wrapping_mul(count as u64)) }
    }
}

/// A type of number that labs draw at random, from one draw of 64 bits.
pub trait Sample: Pod + Send {
    /// The next one.
    fn sample(random: &mut Random) -> Self;

    /// The next ones. Each type has its own, so that this crate compiles and optimises the loop.
    fn fill(samples: &mut [Self], random: &mut Random);
}

macro_rules! sample {
    ($($(#[$what:meta])* $Type:ty: $sample:expr;)+) => {$(
        impl Sample for $Type {
            $(#[$what])*
            fn sample(random: &mut Random) -> Self {
                $sample(random)
            }

            fn fill(samples: &mut [Self], random: &mut Random) {
                samples.fill_with(|| $sample(random));
            }
        }
    )+};
}

sample! {
    /// As [`Random::next_f32`].
    f32: |random: &mut Random| random.next_f32();
    /// A number from -1 up to, but not including, 1: one of 2^53 equally spaced ones.
    f64: |random: &mut Random| (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    /// Any value, all equally likely.
    i32: |random: &mut Random| (random.next_u64() >> 32) as i32;
    /// Any value, all equally likely.
    u32: |random: &mut Random| (random.next_u64() >> 32) as u32;
    /// Any value, all equally likely.
    u8: |random: &mut Random| (random.next_u64() >> 56) as u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        assert_eq!(Random::new(7).vector(100), Random::new(7).vector(100));
        assert_ne!(Random::new(7).vector(100), Random::new(8).vector(100));
    }

    #[test]
    fn many_are_the_same_as_one_by_one() {
        let (mut at_once, mut one_by_one) = (Random::new(7), Random::new(7));
        let many: Vec<u32> = at_once.samples(MANY + 5);
        assert!(many.iter().all(|&number| number == u32::sample(&mut one_by_one)));
        assert_eq!(at_once.next_u64(), one_by_one.next_u64());
    }

    #[test]
    fn low_bytes_are_those_of_each_draw() {
        let (mut at_once, mut one_by_one) = (Random::new(7), Random::new(7));
        let bytes = at_once.low_bytes(5, 4);
        assert!(bytes.chunks(4).all(|bytes| bytes == (one_by_one.next_u64() as u32).to_le_bytes()));
        assert_eq!((bytes.len(), at_once.next_u64()), (20, one_by_one.next_u64()));
    }

    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        // The first numbers of SplitMix64 for the seed 1234567, as its authors' reference code
        // prints them.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_are_spread_over_their_range() {
        let data = Random::new(1).vector(100_000);
        assert!(data.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = data.iter().map(|&x| f64::from(x)).sum::<f64>() / data.len() as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!(data.iter().any(|&x| x < -0.999) && data.iter().any(|&x| x > 0.999));
    }
}
