//! Secrets of links and cookies: random, and kept as a hash alone. A secret has 256 bits, so its
//! hash needs neither salt nor time.

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// A new secret: 64 hexadecimal digits.
///
/// # Errors
///
/// [`Error::Usage`] if the system has no random numbers.
pub fn new() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Error::Usage(format!("no random numbers: {error}")))?;
    Ok(hex(&bytes))
}

/// Whether a text has the form of a secret. Others need not be looked for.
pub fn is_secret(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What is kept of a secret, and of a text: its SHA-256, in hexadecimal.
pub fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_have_hashes() {
        let [one, other] = [(); 2].map(|()| new().unwrap());
        assert!(one != other && is_secret(&one) && is_secret(&other));
        assert!(!["", &one[1..], &format!("{one}0"), &"g".repeat(64)].into_iter().any(is_secret));
        assert_eq!(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_ne!(hash(&one), hash(&other));
    }
}
