//! Text in XML 1.0. Markup is escaped, and characters that XML does not allow are left out, so that
//! any text makes a well-formed file.

/// Text between tags.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            // A reader would take it for a line break.
            '\r' => escaped += "&#13;",
            '\t' | '\n' => escaped.push(c),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

/// The value of an attribute, where a reader would take a tab or line break for a space.
pub fn attribute(text: &str) -> String {
    escaped(text).replace('\t', "&#9;").replace('\n', "&#10;")
}
