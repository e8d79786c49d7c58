//! Every lab on every device of this machine: at its defaults, at the lab sheet's 1000 and at
//! ragged sizes, with all checks, in every format, with files in and out; and its counters against
//! closed forms.
//!
//! [`table`] has a row for each lab. A lab without a row, or without closed forms, fails.

mod alignment;
mod checks;
mod closed_forms;
mod files;
mod formats;
mod shares;
mod sizes;
mod table;
mod twins;
mod waits;

use clap::{ArgMatches, FromArgMatches};
use coalesce_tests::devices;
use device::{Device, DeviceChoice};
use host::labs::{Entry, Settings};
use host::report::{LabReport, VariantReport};
use simt::Counters;

/// The lab of this name.
fn lab(name: &str) -> &'static Entry {
    Entry::named(name).unwrap_or_else(|| panic!("there is no lab {name}"))
}

/// The flags of a lab, as the program reads them.
fn matches(lab: &Entry, flags: &str) -> ArgMatches {
    let words = std::iter::once(lab.name).chain(flags.split_whitespace());
    (lab.command)().try_get_matches_from(words).unwrap_or_else(|error| panic!("{} {flags}: {error}", lab.name))
}

/// Runs a lab with these flags, without the times, which cost more.
fn run_on(device: &Device, name: &str, flags: &str) -> LabReport {
    let lab = lab(name);
    let matches = matches(lab, &format!("{flags} --no-predict"));
    let settings = Settings::from_arg_matches(&matches).expect("the flags of every lab");
    (lab.run)(device, &matches, settings).unwrap_or_else(|error| panic!("{name} {flags}: {error}"))
}

/// The simulator, as this model or as none.
fn simulator(choice: &str) -> Device {
    let choice: DeviceChoice = choice.parse().expect("a device");
    device::open(choice, &host::built_in::options()).expect("the simulator")
}

/// Runs a lab on the simulator, where every result must be right.
fn run(name: &str, flags: &str) -> LabReport {
    right(run_on(&simulator("sim"), name, flags), flags)
}

/// The report, which must be right.
fn right(report: LabReport, flags: &str) -> LabReport {
    for variant in &report.variants {
        assert!(variant.stopped.is_none(), "{} {flags}: {}: {:?}", report.lab, variant.name, variant.stopped);
        let comparison = variant
            .comparison
            .as_ref()
            .unwrap_or_else(|| panic!("{} {flags}: {}: no comparison", report.lab, variant.name));
        assert!(
            comparison.correct(),
            "{} {flags} on {}: {}: {comparison:?}",
            report.lab,
            report.device.name,
            variant.name
        );
        assert!(comparison.elements > 0, "{} {flags}: {}: nothing was compared", report.lab, variant.name);
    }
    assert!(!report.variants.is_empty(), "{} {flags}: nothing ran", report.lab);
    let findings = report.findings();
    assert!(findings.list.is_empty(), "{} {flags}: {:?}", report.lab, findings);
    report
}

/// A variant of a report, by its name.
fn variant<'r>(report: &'r LabReport, name: &str) -> &'r VariantReport {
    let names = || report.variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>();
    report.variant(name).unwrap_or_else(|| panic!("{} has no variant {name}: {:?}", report.lab, names()))
}

/// The counters of a variant.
fn counters<'r>(report: &'r LabReport, name: &str) -> &'r Counters {
    variant(report, name).counters.as_ref().unwrap_or_else(|| panic!("{} {name} was not counted", report.lab))
}
