//! The compiler's messages, as the author of the kernels should read them.

use std::borrow::Cow;

/// The beginning of the names by which `#[kernel]` and `#[address_space]` import `cuda_std`. rustc
/// shows paths through them.
const LIBRARY: &str = "__cuda_std_of_";

/// The messages with the library's own name in place of these.
pub(crate) fn with_library_name(messages: &str) -> Cow<'_, str> {
    let mut parts = messages.split(LIBRARY);
    let first = parts.next().unwrap_or_default();
    let mut shown = Cow::from(first);
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        shown.to_mut().push_str("cuda_std");
        shown.to_mut().push_str(rest);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::with_library_name;

    #[test]
    fn the_library_has_its_own_name() {
        let message = "call to unsafe function `__cuda_std_of_add::DisjointSlice::<'_, T>::element_mut` is unsafe";
        assert_eq!(
            with_library_name(message),
            "call to unsafe function `cuda_std::DisjointSlice::<'_, T>::element_mut` is unsafe"
        );
        assert_eq!(
            with_library_name("a `__cuda_std_of_k::A` and a `__cuda_std_of_k::B`"),
            "a `cuda_std::A` and a `cuda_std::B`"
        );
        assert_eq!(with_library_name("expected `u32`"), "expected `u32`");
    }
}
