//! A drawing that plays, without a script: its passes, which elements name by `data-pass`, are
//! shown one after the other, then all of them, again and again. Where the reader wants less
//! motion, it stands still.

use std::fmt::Write as _;

/// A pass stays this long, in milliseconds; many of them shorter, so that all take a few seconds.
fn stay(passes: u32) -> u32 {
    (6000 / passes).clamp(120, 700)
}

/// The same drawing, playing; unchanged if it has no passes. What is around it may be more of a
/// page: drawings of equally many passes share their animation.
pub fn playing(drawing: &str) -> String {
    let numbers = drawing.split("data-pass=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<u32>().ok());
    let (Some(last @ 1..), Some((before, svg))) = (numbers.max(), drawing.split_once("class=\"picture ")) else {
        return drawing.to_owned();
    };
    let Some((classes, rest)) = svg.split_once('>') else { return drawing.to_owned() };
    let passes = last + 1;
    format!("{before}class=\"picture plays{passes} {classes}><style>{}</style>{rest}", style(passes))
}

/// The animation of so many passes.
fn style(passes: u32) -> String {
    // All are shown as long as three.
    let (stay, length) = (stay(passes), passes + 3);
    let percent = |pass: u32| f64::from(pass) * 100.0 / f64::from(length);
    let class = format!("plays{passes}");
    let mut style = format!(
        "@media (prefers-reduced-motion:no-preference){{.{class} [data-pass]{{animation:{}ms step-end infinite}}",
        stay * length
    );
    for pass in 0..passes {
        let before = if pass == 0 { "" } else { "0%{opacity:.12}" };
        // Writing to a string cannot fail.
        let _ = write!(
            style,
            ".{class} [data-pass=\"{pass}\"]{{animation-name:{class}-{pass}}}@keyframes {class}-{pass}{{{before}\
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
        let drawing = |passes: &str| format!("<figure><svg class=\"picture access\"><title>a</title>{passes}</svg>");
        let two = playing(&drawing("<g data-pass=\"0\"/><g data-pass=\"1\"/>"));
        let expected = "<figure><svg class=\"picture plays2 access\"><style>@media (prefers-reduced-motion:no-preference){\
            .plays2 [data-pass]{animation:3500ms step-end infinite}\
            .plays2 [data-pass=\"0\"]{animation-name:plays2-0}\
            @keyframes plays2-0{0.00%{opacity:1}20.00%{opacity:.12}40.00%{opacity:1}}\
            .plays2 [data-pass=\"1\"]{animation-name:plays2-1}\
            @keyframes plays2-1{0%{opacity:.12}20.00%{opacity:1}40.00%{opacity:.12}40.00%{opacity:1}}}</style>";
        assert!(two.starts_with(expected), "{two}");
        assert_eq!(playing(&drawing("")), drawing(""), "nothing plays");
        assert_eq!((stay(2), stay(32), stay(1000)), (700, 187, 120));
    }
}
