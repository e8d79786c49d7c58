//! Markdown as HTML: the kernels' module documents, and pages of `docs`.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// The text of a Rust file's own document: its `//!` lines.
pub fn document(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// A text as HTML. Its headings stand `deeper` levels below where they are; `link` changes an
/// address, or takes the link away; that of a Rust item, ``[`name`]``, is ``item:`name` ``.
pub fn markup(text: &str, deeper: usize, link: &dyn Fn(&str) -> Option<String>) -> Markup {
    let item = |broken: BrokenLink<'_>| Some((format!("item:{}", broken.reference).into(), CowStr::from("")));
    let parser = Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(item));
    let mut kept = Vec::new();
    let events = parser.filter_map(|event| match event {
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Some(Event::Start(Tag::Heading { level: lower(level, deeper), id, classes, attrs }))
        }
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lower(level, deeper)))),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let target = link(&dest_url);
            kept.push(target.is_some());
            target.map(|target| Event::Start(Tag::Link { link_type, dest_url: target.into(), title, id }))
        }
        Event::End(TagEnd::Link) => kept.pop().unwrap_or(false).then_some(Event::End(TagEnd::Link)),
        // Shown as it is written: nobody's HTML becomes a part of a page.
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        other => Some(other),
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    // Tables scroll where they are too wide. The corner above the names of rows heads nothing.
    let out = out.replace("<th></th>", "<td></td>");
    PreEscaped(
        out.replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>").replace("</table>", "</table></div>"),
    )
}

fn lower(level: HeadingLevel, deeper: usize) -> HeadingLevel {
    HeadingLevel::try_from((level as usize + deeper).min(6)).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_the_lines_at_the_top() {
        assert_eq!(document("//! A.\n//!\n//!  b\n\n//! not\nuse x;\n"), "A.\n\n b\n");
    }

    #[test]
    fn html_is_text() {
        let text = markup("a <b>x</b>\n\n<script>alert(1)</script>\n", 0, &|_| None).into_string();
        assert!(!text.contains("<b>") && !text.contains("<script"), "{text}");
        assert!(text.contains("&lt;script&gt;"), "{text}");
    }

    #[test]
    fn items_are_code_and_links_are_changed() {
        let link = |to: &str| (to == "a.md").then(|| "a.html".to_owned());
        let text = markup("# H\n\n[`f`] and [x](a.md) and [y](b.rs)\n", 1, &link).into_string();
        assert_eq!(text, "<h2>H</h2>\n<p><code>f</code> and <a href=\"a.html\">x</a> and y</p>\n");
    }
}
