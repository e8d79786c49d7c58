//! Calls that fail because `COALESCE_FAIL` says so, for tests of what a program does then.

use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::status::{STATUSES, Status};

/// The calls that are to fail: `FUNCTION:STATUS`, or `FUNCTION:STATUS:N` for the N-th alone.
#[derive(Debug)]
struct Failing {
    /// The name of a function, with its version or without.
    function: String,
    status: Status,
    /// The only call that fails, counted from 1.
    call: Option<u64>,
    /// Calls so far.
    calls: AtomicU64,
}

impl FromStr for Failing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let (function, status, call) = match parts[..] {
            [function, status] => (function, status, None),
            [function, status, call] => (function, status, Some(call)),
            _ => return Err(format!("'{text}' is not FUNCTION:STATUS or FUNCTION:STATUS:N, as in cuMemAlloc:2:3")),
        };
        let named =
            STATUSES.iter().find(|(_, name, _)| name.trim_end_matches('\0') == status).map(|(number, ..)| *number);
        let number = named.or_else(|| status.parse().ok()).filter(|&number| number != 0);
        let number = number.ok_or_else(|| format!("'{status}' is not the number or the name of an error"))?;
        let positive = |call: &str| call.parse().ok().filter(|&call| call > 0);
        let call = match call {
            None => None,
            Some(call) => {
                Some(positive(call).ok_or_else(|| format!("'{call}' is not the number of a call, from 1 on"))?)
            }
        };
        Ok(Self { function: function.to_owned(), status: Status(number), call, calls: AtomicU64::new(0) })
    }
}

impl Failing {
    /// Whether this is the function that was named.
    fn is(&self, name: &str) -> bool {
        self.function == name || self.function == without_version(name)
    }

    /// The status of this call, if it is to fail.
    fn status_of(&self, name: &str) -> Option<Status> {
        if !self.is(name) {
            return None;
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        self.call.is_none_or(|only| only == call).then_some(self.status)
    }
}

/// `cuMemAlloc` for `cuMemAlloc_v2`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((plain, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => plain,
        _ => name,
    }
}

static FAILING: LazyLock<Option<Result<Failing, String>>> = LazyLock::new(|| {
    let text = std::env::var("COALESCE_FAIL").ok().filter(|text| !text.is_empty())?;
    Some(text.parse())
});

/// The status of a call that is to fail.
pub fn status_of(name: &str) -> Option<Status> {
    FAILING.as_ref()?.as_ref().ok()?.status_of(name)
}

/// What is wrong with the setting, if something is.
pub fn problem(mut functions: impl Iterator<Item = &'static str>) -> Option<String> {
    match FAILING.as_ref()? {
        Err(problem) => Some(problem.clone()),
        Ok(failing) if functions.any(|name| failing.is(name)) => None,
        Ok(failing) => Some(format!("the driver's API has no function '{}'", failing.function)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_fail_by_name_and_number() {
        let each: Failing = "cuMemAlloc:2".parse().unwrap();
        assert_eq!(each.status_of("cuMemAlloc_v2"), Some(Status::OUT_OF_MEMORY));
        assert_eq!(each.status_of("cuMemAlloc_v2"), Some(Status::OUT_OF_MEMORY));
        assert_eq!(each.status_of("cuMemAllocHost_v2"), None);
        let second: Failing = "cuStreamSynchronize:CUDA_ERROR_ILLEGAL_ADDRESS:2".parse().unwrap();
        let statuses = [(); 3].map(|()| second.status_of("cuStreamSynchronize"));
        assert_eq!(statuses, [None, Some(Status::ILLEGAL_ADDRESS), None]);
    }

    #[test]
    fn what_is_no_such_setting_is_refused() {
        for text in ["cuInit", "cuInit:", "cuInit:0", "cuInit:CUDA_SUCCESS", "cuInit:-1", "cuInit:1:0", "cuInit:1:2:3"]
        {
            assert!(text.parse::<Failing>().is_err(), "{text}");
        }
    }
}
