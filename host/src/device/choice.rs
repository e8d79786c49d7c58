//! Which device a user asks for.

use std::fmt;
use std::str::FromStr;

/// The value of `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// `auto`: the first GPU that works, else the simulator.
    #[default]
    Auto,
    /// `gpu` or `gpu:N`: the GPU with this number, counted from 0 as the driver counts them.
    Gpu(u32),
    /// `sim`: the simulator.
    Simulator,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu(0)),
            "sim" => Ok(Self::Simulator),
            _ => text
                .strip_prefix("gpu:")
                .and_then(|number| number.parse().ok())
                .map(Self::Gpu)
                .ok_or_else(|| format!("there is no device '{text}'; give auto, gpu, gpu:N (N from 0) or sim")),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Gpu(index) => write!(f, "gpu:{index}"),
            Self::Simulator => f.write_str("sim"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_read_and_shown() {
        let cases = [
            ("auto", DeviceChoice::Auto, "auto"),
            ("gpu", DeviceChoice::Gpu(0), "gpu:0"),
            ("gpu:3", DeviceChoice::Gpu(3), "gpu:3"),
            ("sim", DeviceChoice::Simulator, "sim"),
        ];
        for (text, choice, shown) in cases {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_device_is_refused() {
        for text in ["", "GPU", "gpu:", "gpu:-1", "gpu:x", "cuda", "sim:", "gpu:99999999999"] {
            let error = text.parse::<DeviceChoice>().unwrap_err();
            assert!(error.starts_with("there is no device"), "{error}");
        }
    }
}
