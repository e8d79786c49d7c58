//! How much memory the host has. Callers check it before they allocate anything large. Only reads:
//! `/proc`, the control group and the process's limits.

use crate::error::{Error, Result};

/// Bytes of memory that programs can still allocate on this machine, as Linux estimates it
/// (`MemAvailable`). `None` if unknown.
pub fn available_on_host() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let machine = parse_available(&text)?;
    let limits = [control_group_limit(), address_space_limit()];
    Some(limits.into_iter().flatten().fold(machine, u64::min))
}

fn parse_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The bytes that a container's control group still allows, which may be fewer than the machine
/// has.
fn control_group_limit() -> Option<u64> {
    let number = |path| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    let limit = number("/sys/fs/cgroup/memory.max")?;
    let used = number("/sys/fs/cgroup/memory.current")?;
    Some(limit.saturating_sub(used))
}

/// Address space to reserve for the program itself under `ulimit -v`: its threads' stacks and the
/// allocator's arenas.
const PROGRAM: u64 = 192 << 20;

/// The bytes of address space that `ulimit -v` leaves for data; `None` without such a limit.
fn address_space_limit() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit = parse_address_space(&limits)?;
    // The first number of `statm` is the address space in use, in pages.
    let used = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = used.split(' ').next()?.parse().ok()?;
    Some(limit.saturating_sub(pages.saturating_mul(4096).saturating_add(PROGRAM)))
}

fn parse_address_space(limits: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?.parse().ok()
}

/// Fails unless the host has `needed` more bytes for `what`.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub fn check_host(what: &str, needed: u64) -> Result<()> {
    match available_on_host() {
        Some(available) if available < needed => {
            let (what, place) = (what.to_owned(), "the host".to_owned());
            Err(Error::OutOfMemory { what, place, needed, available, limit: String::new() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read() {
        let text = "MemTotal:       16000 kB\nMemAvailable:    8000 kB\nBuffers: 1 kB\n";
        assert_eq!(parse_available(text), Some(8_192_000));
        assert_eq!(parse_available("nothing"), None);
    }

    #[test]
    fn limits_are_read() {
        let text = "Max cpu time              unlimited            unlimited            seconds\n\
                    Max address space         307200000            unlimited            bytes\n";
        assert_eq!(parse_address_space(text), Some(307_200_000));
        assert_eq!(
            parse_address_space("Max address space         unlimited            unlimited            bytes"),
            None
        );
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        if available_on_host().is_some() {
            let error = check_host("a test", u64::MAX).unwrap_err();
            assert!(error.to_string().starts_with("a test needs 16.0 EiB of memory"));
        }
        check_host("a test", 1).unwrap();
    }
}
