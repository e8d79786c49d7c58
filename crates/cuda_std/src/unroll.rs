//! Loops that are unrolled at compile time.

/// Calls `visit` with 0, 1, ..., `N - 1`, in a loop that is fully unrolled at compile time. `N` is
/// at most 32.
///
/// An array can stay in registers only if every index is known at compile time; a loop that is not
/// unrolled puts it into local memory, which is slow. CUDA has `#pragma unroll` for that.
///
/// ```
/// use cuda_std::unroll;
///
/// let mut sums = [0; 4];
/// unroll::<4>(|i| sums[i] += i);
/// assert_eq!(sums, [0, 1, 2, 3]);
/// ```
#[inline(always)]
pub fn unroll<const N: usize>(mut visit: impl FnMut(usize)) {
    const { assert!(N <= 32, "at most 32 rounds are written out") }
    macro_rules! rounds {
        ($($round:literal)*) => {
            $(if $round < N {
                visit($round);
            })*
        };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
