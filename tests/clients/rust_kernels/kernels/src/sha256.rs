//! SHA-256 of messages that fit into one block, after FIPS 180-4.

/// The fractional parts of the cube roots of the first 64 primes.
const K: [u32; 64] = constants();

/// The first 32 bits of the fractional part of a prime's root: the largest number whose square or
/// cube, beside so many bits, is not beyond the prime.
const fn fraction(prime: u128, cube: bool) -> u32 {
    let (mut low, mut high) = (0u128, 1u128 << 40);
    while high - low > 1 {
        let middle = (low + high) / 2;
        // A root is below 32, so its cube has at most 3 * (32 + 8) bits.
        let fits = if cube { middle * middle * middle <= prime << 96 } else { middle * middle <= prime << 64 };
        if fits { low = middle } else { high = middle }
    }
    low as u32
}

const fn constants() -> [u32; 64] {
    let (mut all, mut count, mut number) = ([0; 64], 0, 2u128);
    while count < 64 {
        if is_prime(number) {
            all[count] = fraction(number, true);
            count += 1;
        }
        number += 1;
    }
    all
}

const fn start() -> [u32; 8] {
    let (mut all, mut count, mut number) = ([0; 8], 0, 2u128);
    while count < 8 {
        if is_prime(number) {
            all[count] = fraction(number, false);
            count += 1;
        }
        number += 1;
    }
    all
}

const fn is_prime(number: u128) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The digest of a message of at most 55 bytes.
pub fn digest(message: &[u8]) -> [u32; 8] {
    let mut block = [0u8; 64];
    for (to, from) in block[..55].iter_mut().zip(message) {
        *to = *from;
    }
    let length = message.len().min(55);
    block[length] = 0x80;
    block[62] = (length >> 5) as u8;
    block[63] = (length << 3) as u8;
    let mut w = [0u32; 64];
    for i in 0..16 {
        w[i] = u32::from_be_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]);
    }
    for i in 16..64 {
        let (a, b) = (w[i - 15], w[i - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
    }
    const START: [u32; 8] = start();
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = START;
    for i in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h.wrapping_add(s1).wrapping_add(e & f ^ !e & g).wrapping_add(K[i]).wrapping_add(w[i]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
    }
    let mut end = START;
    for (to, from) in end.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *to = to.wrapping_add(from);
    }
    end
}
