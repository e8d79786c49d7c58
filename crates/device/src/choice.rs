//! Which device to open, with its form as text for flags. [`super::open`] opens what it names.

use std::fmt;
use std::str::FromStr;

use simt::{LoadCaching, Model};

/// Which device to open. As text it is the value of a flag: `auto`, `gpu:1`, `sim:hopper`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// `auto`: the first GPU that works, else the simulator.
    #[default]
    Auto,
    /// `gpu` or `gpu:N`: the GPU with this number, counted from 0 as the driver counts them.
    Gpu(u32),
    /// `sim`: the simulator.
    Simulator,
    /// `sim:MODEL`: the simulator with a model of that GPU and its caches. With `:ca` or `:cg`,
    /// loads without a cache operator go through L1 or bypass it, as with nvcc's `-dlcm`.
    Model(&'static Model, LoadCaching),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu(0)),
            "sim" => Ok(Self::Simulator),
            _ => match (text.strip_prefix("gpu:"), text.strip_prefix("sim:")) {
                (Some(number), _) => number.parse().ok().map(Self::Gpu),
                (_, Some(model)) => modelled(model),
                _ => None,
            }
            .ok_or_else(|| {
                format!(
                    "unknown device '{text}'; give auto, gpu, gpu:N (N from 0), sim or sim:MODEL, where MODEL is one of {}",
                    models()
                )
            }),
        }
    }
}

/// What `sim:` accepts.
pub fn models() -> String {
    let names: Vec<_> = Model::all().iter().map(|model| model.name).collect();
    format!("{}, optionally followed by :ca (cache loads in L1) or :cg (bypass L1)", names.join(", "))
}

/// What comes after `sim:`.
fn modelled(text: &str) -> Option<DeviceChoice> {
    let (name, caching) = text.split_once(':').unwrap_or((text, ""));
    let caching = match caching {
        "ca" => LoadCaching::AllLevels,
        "cg" => LoadCaching::GlobalLevel,
        "" if name == text => LoadCaching::Default,
        _ => return None,
    };
    Some(DeviceChoice::Model(Model::named(name)?, caching))
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Gpu(index) => write!(f, "gpu:{index}"),
            Self::Simulator => f.write_str("sim"),
            Self::Model(model, LoadCaching::Default) => write!(f, "sim:{}", model.name),
            Self::Model(model, LoadCaching::AllLevels) => write!(f, "sim:{}:ca", model.name),
            Self::Model(model, LoadCaching::GlobalLevel) => write!(f, "sim:{}:cg", model.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_read_and_shown() {
        let fermi = Model::named("fermi").unwrap();
        let cases = [
            ("auto", DeviceChoice::Auto, "auto"),
            ("gpu", DeviceChoice::Gpu(0), "gpu:0"),
            ("gpu:3", DeviceChoice::Gpu(3), "gpu:3"),
            ("sim", DeviceChoice::Simulator, "sim"),
            ("sim:fermi", DeviceChoice::Model(fermi, LoadCaching::Default), "sim:fermi"),
            ("sim:fermi:ca", DeviceChoice::Model(fermi, LoadCaching::AllLevels), "sim:fermi:ca"),
            ("sim:fermi:cg", DeviceChoice::Model(fermi, LoadCaching::GlobalLevel), "sim:fermi:cg"),
        ];
        for (text, choice, shown) in cases {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_device_is_refused() {
        for text in [
            "",
            "GPU",
            "gpu:",
            "gpu:-1",
            "gpu:x",
            "cuda",
            "sim:",
            "sim:x",
            "sim:fermi:",
            "sim:fermi:cv",
            "gpu:99999999999",
        ] {
            let error = text.parse::<DeviceChoice>().unwrap_err();
            assert!(error.starts_with("unknown device"), "{error}");
        }
    }
}
