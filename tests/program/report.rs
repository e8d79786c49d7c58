//! `--report`: a lab's run as one web page.

use std::collections::BTreeSet;
use std::path::Path;

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

use crate::faults::{mistaken, racing};
use crate::{fails, files_in, host};

/// The largest page of a lab at its defaults, in bytes.
const MOST: usize = 300_000;

/// A page, parsed as a browser parses it.
struct Page {
    text: String,
    document: Html,
}

impl Page {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("the page is text");
        let document = Html::parse_document(&text);
        assert!(document.errors.is_empty(), "{}: {:?}", file.display(), document.errors);
        Self { text, document }
    }

    fn all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.document.select(&Selector::parse(selector).expect("a selector")).collect()
    }

    /// The text of these elements, with single spaces.
    fn texts(&self, selector: &str) -> Vec<String> {
        let text = |element: ElementRef<'_>| element.text().collect::<String>();
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.all(selector).into_iter().map(text).map(words).collect()
    }

    /// Expects that it loads nothing, and that names and labels lead somewhere.
    fn check(&self) {
        assert!(self.text.starts_with("<!DOCTYPE html>"), "{}", &self.text[..100]);
        assert!(self.all("link, img, iframe, object, embed, base, [src], [href], [srcset]").is_empty());
        assert!(!self.text.contains("url(") && !self.text.contains("@import"));
        assert_eq!(self.all("meta[http-equiv=Content-Security-Policy]").len(), 1);
        let ids: Vec<&str> = self.all("[id]").iter().filter_map(|it| it.attr("id")).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{ids:?}");
        assert!(self.all("[aria-labelledby]").iter().all(|it| unique.contains(it.attr("aria-labelledby").unwrap())));
        assert_eq!((self.all("h1").len(), self.all("main").len()), (1, 1));
        // Regions and sections have different names.
        let labels = self.all("[role=region]").into_iter().filter_map(|it| it.attr("aria-label").map(str::to_owned));
        let names: Vec<String> = labels.chain(self.texts("h2")).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        for (row, columns) in self.all(".sortable").iter().map(|table| (table, "thead th")) {
            let count = |selector: &str| row.select(&Selector::parse(selector).expect("a selector")).count();
            let (heads, rows) = (count(columns), count("tbody tr"));
            assert_eq!((heads, heads * rows), (count("thead th button"), count("tbody td, tbody th")));
        }
        for drawing in self.all("svg") {
            assert_eq!(
                (drawing.attr("role"), drawing.attr("aria-label").map(str::is_empty)),
                (Some("img"), Some(false))
            );
        }
        let captions = self.texts("figure figcaption");
        assert_eq!(captions.len(), self.all("figure svg").len());
        assert!(captions.iter().all(|caption| !caption.is_empty()), "{captions:?}");
        assert_eq!(self.all("figure svg .sentence.wide").is_empty(), captions.is_empty());
    }
}

#[test]
fn every_lab_writes_a_page_and_prints_what_it_prints_without() {
    let folder = tempfile::tempdir().expect("a folder");
    for lab in host::labs::ALL {
        let file = folder.path().join(format!("{}.html", lab.name));
        let run = |flags: &str| {
            let mut command = host(&format!("{} --device sim {flags}", lab.name));
            command.current_dir(&folder).assert().success().get_output().clone()
        };
        let (with, without) = (run(&format!("--report {}.html", lab.name)), run(""));
        assert!(with.stdout == without.stdout && with.stderr == without.stderr, "{}", lab.name);
        let page = Page::read(&file);
        page.check();
        assert!(page.text.len() < MOST, "{}: {} bytes", lab.name, page.text.len());
        assert!(!page.all("figure").is_empty() && !page.all("tr.hot").is_empty(), "{}", lab.name);
        let report: Value = serde_json::from_slice(&run("--format json").stdout).expect("JSON");
        let said: Vec<&str> =
            report["conclusions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(page.texts(".says p"), said, "{}", lab.name);
        let body = page.texts("body").concat();
        for variant in report["variants"].as_array().expect("a list") {
            let name = variant["name"].as_str().expect("a name");
            assert!(body.contains(name), "{}: {name} is missing", lab.name);
        }
    }
    assert_eq!(files_in(folder.path()).len(), host::labs::ALL.len());
}

#[test]
fn the_33rd_column_pays_on_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.html");
    let before = host("transpose --rows 64 --cols 64 --device sim").assert().success();
    let after = host("transpose --rows 64 --cols 64 --device sim --report").arg(&file).assert().success();
    assert_eq!(before.get_output().stdout, after.get_output().stdout);
    let page = Page::read(&file);
    let figures = page.texts("figure");
    let of = |variant: &str, sentence: &str| {
        figures.iter().any(|figure| figure.contains(sentence) && figure.contains(&format!("{variant} (transpose.rs:")))
    };
    assert!(of("tiled", "32 lanes, 32 wavefronts, 31 for bank conflicts"), "{figures:?}");
    assert!(of("padded", "32 lanes, 1 wavefront: no bank has two of the words."), "{figures:?}");
    let hot = page.texts("tr.hot");
    assert!(hot.iter().any(|row| row.contains("shared loads: 32.0 wavefronts per request")), "{hot:?}");
}

#[test]
fn findings_stand_at_their_lines() {
    let (folder, ptx) = racing();
    let file = folder.path().join("t.html");
    let mut command = host("transpose --padded --rows 64 --cols 40 --check race --device sim");
    command.arg("--report").arg(&file).arg("--ptx").arg(&ptx).assert().code(1);
    let page = Page::read(&file);
    page.check();
    let (all, at_lines) = (page.texts("li.finding"), page.texts(".source .finding"));
    assert_eq!(all.len(), 1);
    assert!(all[0].contains("race in a block"), "{all:?}");
    assert_eq!(all, at_lines);
    assert!(page.texts("p.cost")[0].starts_with("padded is wrong: "), "{:?}", page.texts("p.cost"));
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |flags: &str| {
        let mut command = host(&format!("offset --size 4096 --device sim {flags}"));
        command.current_dir(&folder);
        command
    };
    fails(run("--report nowhere/t.html"), 2, &["nowhere/t.html", "cannot be written", "there is no folder nowhere"]);
    fails(run("--report ."), 2, &["cannot be written", "it is a folder"]);
    fails(run("--read --output t --report ./t"), 2, &["--report", "--output writes the same file"]);
    fails(run("--report"), 2, &["--report <FILE.html>"]);
    assert!(files_in(folder.path()).is_empty());
}

#[test]
fn a_run_that_a_fault_stops_leaves_the_old_page() {
    let (folder, ptx) = mistaken("transpose_padded", "bar.sync \t0;", "trap;");
    let file = folder.path().join("t.html");
    std::fs::write(&file, "old").expect("the folder is there");
    let mut command = host("transpose --padded --rows 32 --cols 32 --device sim");
    command.arg("--report").arg(&file).arg("--ptx").arg(&ptx);
    fails(command, 1, &["transpose_padded", "trap"]);
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "old");
    assert_eq!(files_in(folder.path()).len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_gpu_s_page_has_times_and_says_that_nothing_was_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.html");
    let page = |flags: &str| {
        let lab = "transpose --padded --rows 64 --cols 64 --device gpu --time-limit 0.01";
        let mut command = crate::gpu::on_fake_gpu(&format!("{lab} {flags}"), "");
        // The fake GPU computes nothing, so the result is wrong.
        command.arg("--report").arg(&file).assert().code(1);
        let page = Page::read(&file);
        page.check();
        page
    };
    let timed = page("");
    assert!(timed.all("figure").is_empty() && timed.all(".source").is_empty());
    assert!(timed.texts("main").concat().contains("This run has times only."));
    assert!(timed.texts("thead th").iter().any(|title| title.ends_with("(ms)")), "{:?}", timed.texts("thead th"));
    let counted = page("--counters");
    assert!(!counted.all("figure").is_empty() && !counted.texts("main").concat().contains("times only"));
}
