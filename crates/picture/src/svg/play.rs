//! A drawing that plays, without a script: its passes, which elements name by `data-pass`, are
//! shown one after the other, then all of them, again and again. Where the reader wants less
//! motion, it stands still.

use std::fmt::Write as _;

/// A pass stays this long, in milliseconds; many of them shorter, so that all take a few seconds.
fn stay(passes: u32) -> u32 {
    (6000 / passes).clamp(120, 700)
}

/// The same drawing, playing; unchanged if it has no passes.
pub fn playing(drawing: &str) -> String {
    let numbers = drawing.split("data-pass=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<u32>().ok());
    let class = drawing.split_once("class=\"picture ").and_then(|(_, rest)| rest.split('"').next());
    match (numbers.max(), class, drawing.split_once('>')) {
        (Some(last @ 1..), Some(class), Some((svg, rest))) => {
            format!("{svg}><style>{}</style>{rest}", style(last + 1, class))
        }
        _ => drawing.to_owned(),
    }
}

/// The animation of so many passes in a drawing of this class.
fn style(passes: u32, class: &str) -> String {
    // All are shown as long as three.
    let (stay, length) = (stay(passes), passes + 3);
    let percent = |pass: u32| f64::from(pass) * 100.0 / f64::from(length);
    let mut style = format!(
        "@media (prefers-reduced-motion:no-preference){{.{class} [data-pass]{{animation:{}ms step-end infinite}}",
        stay * length
    );
    for pass in 0..passes {
        let before = if pass == 0 { "" } else { "0%{opacity:.12}" };
        // Writing to a string cannot fail.
        let _ = write!(
            style,
            ".{class} [data-pass=\"{pass}\"]{{animation-name:{class}{pass}}}@keyframes {class}{pass}{{{before}\
             {:.2}%{{opacity:1}}{:.2}%{{opacity:.12}}{:.2}%{{opacity:1}}}}",
            percent(pass),
            percent(pass + 1),
            percent(passes),
        );
    }
    style + "}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_come_one_after_the_other_and_then_all() {
        let drawing = |passes: &str| format!("<svg class=\"picture access\"><title>a</title>{passes}</svg>");
        let two = playing(&drawing("<g data-pass=\"0\"/><g data-pass=\"1\"/>"));
        let expected = "<svg class=\"picture access\"><style>@media (prefers-reduced-motion:no-preference){\
            .access [data-pass]{animation:3500ms step-end infinite}\
            .access [data-pass=\"0\"]{animation-name:access0}\
            @keyframes access0{0.00%{opacity:1}20.00%{opacity:.12}40.00%{opacity:1}}\
            .access [data-pass=\"1\"]{animation-name:access1}\
            @keyframes access1{0%{opacity:.12}20.00%{opacity:1}40.00%{opacity:.12}40.00%{opacity:1}}}</style>";
        assert!(two.starts_with(expected), "{two}");
        assert_eq!(playing(&drawing("")), drawing(""), "nothing plays");
        assert_eq!((stay(2), stay(32), stay(1000)), (700, 187, 120));
    }
}
