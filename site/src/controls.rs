//! A lab's flags as a form. Each control has its flag's name, help and default; what the page
//! begins with is the lab's [`Showcase`](host::labs::Showcase). `form.js` makes a command line of
//! it.

use clap::{Arg, Args, Command};
use device::Model;
use host::labs::{Entry, Settings, Slider, Steps};
use maud::{Markup, html};

/// Flags that launch for other GPUs, or need files or libraries.
const ELSEWHERE: [&str; 3] = ["multiprocessors", "peer", "peer_library"];

/// The form.
pub fn of(entry: &Entry) -> Markup {
    let common = Settings::augment_args(Command::new(""));
    let is_common = |flag: &Arg| common.get_arguments().any(|other| other.get_id() == flag.get_id());
    let command = (entry.command)();
    let needs_file =
        |flag: &Arg| flag.get_value_names().is_some_and(|names| names.iter().any(|name| name.ends_with(".npy")));
    let flags: Vec<&Arg> = command
        .get_arguments()
        .filter(|flag| !is_common(flag) && !needs_file(flag) && !ELSEWHERE.contains(&flag.get_id().as_str()))
        .collect();
    let slider = entry.showcase.slider;
    let slides = |flag: &&&Arg| slider.is_some_and(|slider| flag.get_long() == Some(slider.flag));
    let (switches, values): (Vec<&Arg>, Vec<&Arg>) =
        flags.iter().filter(|flag| !slides(flag)).partition(|flag| !flag.get_action().takes_values());
    html! {
        form #setting autocomplete="off" {
            @if let Some(slider) = slider { (range(slider)) }
            @if let Some(steps) = entry.showcase.steps { (stepped(steps, entry.showcase.row)) }
            // `lab.js` opens it where it does not push the picture off the screen.
            details #settings {
                summary { @if entry.showcase.slides() { "More settings" } @else { "Settings" } }
                div.fields {
                    (gpus(entry.showcase.start.iter().find(|(name, _)| *name == "device").map_or("sim", |(_, model)| model)))
                    @for flag in values { (value(flag, start(entry, flag))) }
                    @for heading in headings(&switches) { (group(entry, heading, &switches)) }
                }
            }
        }
    }
}

/// The switches below a heading. Those that run without any are ticked, unless the page begins with
/// others.
fn group(entry: &Entry, heading: &str, switches: &[&Arg]) -> Markup {
    let own = || switches.iter().filter(|flag| flag.get_help_heading().unwrap_or("Options") == heading);
    let chosen = own().any(|flag| start(entry, flag).is_some());
    html! {
        fieldset {
            legend { (heading.split(" (").next().unwrap_or(heading)) }
            @for flag in own() {
                @let name = flag.get_long().unwrap_or_default();
                @let usual = is_usual(heading, name);
                @let checked = start(entry, flag).is_some() || usual && !chosen;
                label.switch title=(help(flag)) {
                    input type="checkbox" name=(name) data-flag=(name) data-usual[usual] checked[checked];
                    " " (name.replace('-', " "))
                }
            }
        }
    }
}

/// Whether a variant runs where none of its heading is chosen: the heading says which do.
fn is_usual(heading: &str, name: &str) -> bool {
    let Some((_, usual)) = heading.split_once(" (default: ") else { return false };
    let usual = usual.trim_end_matches(')').split(';').next().unwrap_or_default();
    matches!(usual, "all" | "both") || usual.split(", ").any(|flag| flag.strip_prefix("--") == Some(name))
}

/// The choice of a GPU, of which `first` is chosen at first, and of another variant or GPU to draw
/// beside it.
fn gpus(first: &str) -> Markup {
    html! {
        label.field {
            span { "GPU" }
            select name="device" data-flag="device" {
                option value="sim" selected[first == "sim"] { "Volta to Hopper" }
                (models(first))
            }
        }
        label.field {
            span { "Compare with" }
            select name="beside" {
                option value="" { "nothing" }
                option value="row" { "another variant" }
                (models(""))
            }
        }
    }
}

/// The models, to choose from; `first` is the one that is chosen at first.
pub fn models(first: &str) -> Markup {
    let value = |model: &Model| format!("sim:{}", model.name);
    html! {
        @for model in Model::all() {
            option value=(value(model)) selected[value(model) == first] { (model.name) ": " (model.chip) }
        }
    }
}

/// A slider that moves through rows, beginning with one of them.
fn stepped(Steps { title, rows }: Steps, first: &str) -> Markup {
    let start = rows.iter().position(|(row, _)| *row == first).unwrap_or(0);
    let names: Vec<&str> = rows.iter().map(|(_, name)| *name).collect();
    let values: Vec<&str> = rows.iter().map(|(row, _)| *row).collect();
    html! {
        div.field {
            label for="slider" { (title) }
            output for="slider" { (names[start]) }
            div.slide {
                button type="button" data-slide="-1" aria-label={ "before: " (title) } { "−" }
                input #slider type="range" name="slide" data-names=(names.join("|")) data-rows=(values.join("|"))
                    min="0" max=(rows.len() - 1) value=(start) aria-valuetext=(names[start]);
                button type="button" data-slide="1" aria-label={ "after: " (title) } { "+" }
            }
        }
    }
}

/// A slider that moves a flag.
pub fn range(Slider { flag, title, range: (first, last, start), with, .. }: Slider) -> Markup {
    html! {
        div.field {
            label for="slider" { (title) }
            output for="slider" { (start) }
            // A finger hardly moves a slider by one.
            div.slide {
                button type="button" data-slide="-1" aria-label={ "less: " (title) } { "−" }
                input #slider type="range" name=(flag) data-flag=(flag) data-with=(with) min=(first) max=(last) value=(start);
                button type="button" data-slide="1" aria-label={ "more: " (title) } { "+" }
            }
        }
    }
}

fn value(flag: &Arg, start: Option<&str>) -> Markup {
    let name = flag.get_long().unwrap_or_default();
    let default = default(flag);
    let one_number = flag.get_value_delimiter().is_none()
        && flag.get_value_names().is_some_and(|names| names.iter().all(|name| name == "NUMBER"));
    html! {
        label.field title=(help(flag)) {
            span { (name.replace('-', " ")) }
            input type="text" name=(name) data-flag=(name) value=[start] placeholder=[default]
                inputmode=[one_number.then_some("numeric")] spellcheck="false";
        }
    }
}

/// The value of a flag at first: of a switch, an empty one.
fn start(entry: &Entry, flag: &Arg) -> Option<&'static str> {
    let of_flag = |(name, _): &&(&str, &str)| flag.get_long() == Some(name);
    entry.showcase.start.iter().find(of_flag).map(|(_, value)| *value)
}

fn help(flag: &Arg) -> String {
    flag.get_help().map(ToString::to_string).unwrap_or_default()
}

/// The default on the simulator, from the flag or from its help.
fn default(flag: &Arg) -> Option<String> {
    let values: Vec<_> = flag.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !values.is_empty() {
        return Some(values.join(","));
    }
    let help = help(flag);
    let (_, default) = help.split_once("[default: ")?;
    let default = default.split(']').next()?;
    match default.split_once(" on a GPU, ") {
        Some((_, simulator)) => Some(simulator.split(" on the simulator").next()?.to_owned()),
        None => Some(default.to_owned()),
    }
}

/// The headings of these flags, each once.
fn headings<'f>(flags: &[&'f Arg]) -> Vec<&'f str> {
    let mut headings = Vec::new();
    for heading in flags.iter().map(|flag| flag.get_help_heading().unwrap_or("Options")) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_showcase_sets_is_a_flag_of_its_lab() {
        for entry in host::labs::ALL {
            let form = of(entry).into_string();
            let showcase = entry.showcase;
            let slider = showcase.slider.map(|slider| slider.flag);
            for name in showcase.start.iter().map(|(name, _)| *name).chain(slider) {
                assert!(form.contains(&format!("data-flag=\"{name}\"")), "{}: {name}", entry.name);
            }
        }
    }

    #[test]
    fn what_runs_is_ticked() {
        let ticked = |lab: &str| {
            let form = of(Entry::named(lab).unwrap()).into_string();
            let boxes = form.split("<input type=\"checkbox\" name=\"").skip(1);
            let checked = boxes.filter(|it| it.split('>').next().unwrap().contains(" checked"));
            checked.map(|it| it.split('"').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        // All of a kind; all but the timed ones; what the page begins with instead.
        assert_eq!(ticked("constant"), "polynomial gamma lookup constant global");
        assert_eq!(ticked("pitch"), "by-rows linear pitched");
        assert_eq!(ticked("matmul"), "naive tiled16 tiled32");
        assert!(is_usual("Kinds (default: --one, --two; with times also --more)", "two"));
        assert!(
            !is_usual("Kinds (default: --one, --two; with times also --more)", "more") && !is_usual("Options", "all")
        );
    }

    #[test]
    fn flags_of_files_libraries_and_times_have_no_control() {
        let form = of(Entry::named("transpose").unwrap()).into_string();
        assert!(form.contains("data-flag=\"padded\"") && form.contains("placeholder=\"1024\""), "{form}");
        for name in ["input", "peer", "seed", "time-limit", "report"] {
            assert!(!form.contains(&format!("data-flag=\"{name}\"")), "{name}");
        }
    }
}
