//! Tests of every lab: its kernels, and its sentences for every combination of its variants.

use super::*;
use crate::report::{Page, Row, VariantReport};
use device::DeviceChoice;

#[test]
fn every_lab_has_kernels_and_every_kernel_a_lab() {
    let mut of_labs: Vec<&str> = ALL.iter().flat_map(Entry::kernels).collect();
    let mut all: Vec<&str> = built_in::kernel_names().collect();
    of_labs.sort_unstable();
    all.sort_unstable();
    assert_eq!(of_labs, all);
    for lab in ALL {
        assert!(lab.kernels().next().is_some(), "{}", lab.name);
    }
}

/// A run of a lab with all of its variants, on few elements.
fn everything(lab: &Entry, device: &Device, small: bool) -> LabReport {
    let command = (lab.command)();
    let has = |flag: &str| command.get_arguments().any(|argument| argument.get_id() == flag);
    let mut flags = vec![lab.name];
    let sizes = [("all", "", ""), ("size", "64", "128"), ("rows", "33", "64"), ("m", "33", "64"), ("blocks", "1", "2")];
    // Fewer than two blocks exchange no message, and those of `pipeline` are rows.
    let fits = |flag: &str| has(flag) && (flag != "blocks" || !(lab.races || lab.name == "pipeline"));
    for (flag, least, more) in sizes.into_iter().filter(|(flag, ..)| fits(flag)) {
        flags.push(["--all", "--size", "--rows", "--m", "--blocks"][sizes.iter().position(|it| it.0 == flag).unwrap()]);
        flags.extend([if small { least } else { more }].into_iter().filter(|value| !value.is_empty()));
    }
    // Without `--all`, some rows run only where their flags are given.
    flags.extend(match lab.name {
        "launch" => ["--word", "f32,f32x2,f32x4"].as_slice(),
        "pitch" => &["--by-rows", "--by-columns", "--transposed"],
        "pipeline" => &["--blocks", "1,2,4,8"],
        "order" => &["--n", "128", "--k", "64", "--entries", "16384"],
        "stencil" => &["--volume", "8,32,64"],
        // A quarter of the threads that an H200 holds: enough that occupancy makes a difference.
        "spill" => &["--cols", "2048", "--lists", "67584", "--steps", "2"],
        _ => &[],
    });
    let matches = (lab.command)().try_get_matches_from(&flags).unwrap();
    let settings = Settings::from_arg_matches(&matches).unwrap();
    (lab.run)(device, &matches, settings).unwrap_or_else(|error| panic!("{flags:?}: {error}"))
}

/// The sentences that a report with only these variants has.
fn said(report: &mut LabReport, conclusions: &[Conclusion], variants: Vec<VariantReport>) -> Vec<Option<String>> {
    report.variants = variants;
    conclusions.iter().map(|conclusion| conclusion.sentence(report)).collect()
}

/// Whether a sentence looks for the greatest or the least row, which depends on the others.
fn compares_all(conclusion: &Conclusion) -> bool {
    let extreme = |row: &Row| matches!(row, Row::Most(..) | Row::Least(..) | Row::Either(_) | Row::LastAt(_));
    conclusion.gaps.iter().flat_map(|gap| gap.rows()).any(|row| extreme(&row))
}

#[test]
fn a_sentence_holds_for_every_combination_of_variants_or_is_absent() {
    let runs = [("sim", false), ("sim", true), ("sim:kepler", false), ("sim:g80", false)];
    for (choice, small) in runs {
        let choice: DeviceChoice = choice.parse().unwrap();
        let device = device::open(choice, &built_in::options()).unwrap();
        for lab in ALL {
            let mut report = everything(lab, &device, small);
            assert!(report.correct(), "{} on {choice}", lab.name);
            let all = report.variants.clone();
            let with_all = said(&mut report, lab.conclusions, all.clone());
            // All subsets of few variants; else all pairs, and all but one.
            let count = all.len();
            let subsets: Vec<Vec<usize>> = match count {
                ..=10 => {
                    (0..1_usize << count).map(|bits| (0..count).filter(|i| bits >> i & 1 == 1).collect()).collect()
                }
                _ => {
                    let pairs = (0..count).flat_map(|i| (0..i).map(move |j| vec![j, i]));
                    let others = (0..count).map(|i| (0..count).filter(|&j| j != i).collect());
                    pairs.chain(others).collect()
                }
            };
            for subset in subsets {
                let variants = subset.iter().map(|&index| all[index].clone()).collect();
                let sentences = said(&mut report, lab.conclusions, variants);
                for ((conclusion, sentence), with_all) in lab.conclusions.iter().zip(sentences).zip(&with_all) {
                    let Some(sentence) = sentence else { continue };
                    let wrong = ["{}", "NaN", "inf"].iter().any(|piece| sentence.contains(piece));
                    assert!(!wrong && sentence.ends_with('.'), "{}: {sentence}", lab.name);
                    for row in conclusion.gaps.iter().flat_map(|gap| gap.rows()) {
                        assert!(row.find(&report).is_some(), "{}: {sentence}: {row:?}", lab.name);
                    }
                    // What other rows ran changes nothing, unless the sentence is about all of
                    // them, or they are one of its cases.
                    let same = with_all.as_ref().is_none_or(|all| *all == sentence);
                    assert!(same || compares_all(conclusion), "{}: {sentence} {with_all:?}", lab.name);
                }
            }
        }
    }
}

#[test]
fn every_name_that_is_explained_is_one_of_a_row() {
    let device = device::open(DeviceChoice::Simulator, &built_in::options()).unwrap();
    for lab in ALL {
        let report = everything(lab, &device, false);
        let explained = Page::of(&report, true).meanings;
        let command = (lab.command)();
        for (name, meaning) in report.meanings.iter().filter(|it| !explained.contains(it)) {
            // Some rows run only where their flags are given.
            assert!(command.get_arguments().any(|flag| flag.get_id() == name), "{}: {name}: {meaning}", lab.name);
        }
    }
}

#[test]
fn every_row_that_a_sentence_names_is_a_variant() {
    let device = device::open(DeviceChoice::Simulator, &built_in::options()).unwrap();
    for lab in ALL {
        let report = everything(lab, &device, false);
        for row in lab.conclusions.iter().flat_map(|it| it.gaps).flat_map(|gap| gap.rows()) {
            // Of rows with equal times there is neither a slowest nor a fastest: the simulator has
            // none.
            let by_time = matches!(row, Row::Most(..) | Row::Least(..));
            // Some rows run on a GPU only, where patterns have their own names.
            let on_gpu = lab.name == "access" && matches!(row, Row::Named(_));
            // It runs only where its flag is given: this lab has no `--all`.
            let flagged = lab.name == "transpose" && matches!(row, Row::Named("diagonal"));
            assert!(by_time || on_gpu || flagged || row.find(&report).is_some(), "{}: {row:?}", lab.name);
        }
    }
}
