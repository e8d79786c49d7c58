//! `--report`: a run as one web page: of a lab, of `host run`, of the course, of a comparison.

use std::collections::BTreeSet;
use std::path::Path;

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

use crate::faults::{mistaken, racing};
use crate::{fails, files_in, host};

/// The largest page of a lab at its defaults, in bytes.
pub const MOST: usize = 300_000;

/// A page, parsed as a browser parses it.
pub struct Page {
    pub text: String,
    document: Html,
}

impl Page {
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("the page is text");
        let document = Html::parse_document(&text);
        assert!(document.errors.is_empty(), "{}: {:?}", file.display(), document.errors);
        Self { text, document }
    }

    pub fn all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.document.select(&Selector::parse(selector).expect("a selector")).collect()
    }

    /// The text of these elements, with single spaces.
    pub fn texts(&self, selector: &str) -> Vec<String> {
        let text = |element: ElementRef<'_>| element.text().collect::<String>();
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.all(selector).into_iter().map(text).map(words).collect()
    }

    /// Expects that it loads nothing, and that names and labels lead somewhere.
    pub fn check(&self) {
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
        // Levels of headings rise by one.
        let headings: Vec<u32> = self.all("h1, h2, h3, h4, h5").iter().map(|it| level(it)).collect();
        assert!(headings.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{headings:?}");
    }
}

/// The level of a heading.
fn level(heading: &ElementRef<'_>) -> u32 {
    heading.value().name().trim_start_matches('h').parse().expect("a level")
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn every_lab_writes_a_page_and_prints_what_it_prints_without() {
    let folder = tempfile::tempdir().expect("a folder");
    for lab in host::labs::ALL {
        let file = folder.path().join(format!("{}.html", lab.name));
        // At the sizes of its page in a browser; `first_screens` has the defaults.
        let start: String = lab.showcase.start.iter().map(|(flag, value)| format!(" --{flag} {value}")).collect();
        let device = if start.contains("--device") { "" } else { " --device sim" };
        let run = |flags: &str| {
            let mut command = host(&format!("{}{start}{device} {flags}", lab.name));
            command.current_dir(&folder).assert().success().get_output().clone()
        };
        let report = format!("--report {}.html", lab.name);
        let (with, without) = (run(&format!("--no-predict {report}")), run("--no-predict"));
        assert!(with.stdout == without.stdout && with.stderr == without.stderr, "{}", lab.name);
        let json = run(&format!("--format json {report}")).stdout;
        let page = Page::read(&file);
        page.check();
        assert!(lab.plots || page.all(".plots svg").is_empty(), "{}", lab.name);
        let unfolded = page.texts(".ptx pre");
        assert!(unfolded.iter().any(|ptx| ptx.contains("ld.")), "{}: {unfolded:?}", lab.name);
        let report: Value = serde_json::from_slice(&json).expect("JSON");
        let said: Vec<&str> =
            report["conclusions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // What a terminal says first stands above; the rest unfolds. A page says also of times that there is
        // nothing to see in them.
        let of_times =
            |it: &&String| it.starts_with("The predicted times, ") || it.starts_with("All rows are predicted ");
        let above = page.texts(".says p").into_iter().find(|it| !of_times(&it));
        assert_eq!(above.as_deref(), said.first().copied(), "{}", lab.name);
        let paragraphs = page.texts("p");
        assert!(said.iter().all(|said| paragraphs.iter().any(|it| it == said)), "{}: {said:?}", lab.name);
        let body = page.texts("body").concat();
        for variant in report["variants"].as_array().expect("a list") {
            let name = variant["name"].as_str().expect("a name");
            assert!(body.contains(name), "{}: {name} is missing", lab.name);
        }
    }
    assert_eq!(files_in(folder.path()).len(), host::labs::ALL.len());
}

#[test]
fn a_page_draws_the_active_lanes_of_reductions_and_plays_wavefronts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("r.html");
    let reduce = "reduce --reduce1 --reduce2 --reduce3 --size 2048 --device sim";
    let page = |flags: &str| {
        host(&format!("{reduce} {flags} --report")).arg(&file).assert().success();
        std::fs::read_to_string(&file).expect("a page")
    };
    let (still, playing) = (page(""), page("--play"));
    // 128, 64, ... 1 lanes of 8 warps, which reduce1 keeps for five of the additions.
    assert!(still.contains("255 of 1504 in reduce1; 255 of 384 in reduce2, reduce3."), "{still}");
    // Of reduce2's additions the costliest is drawn, the third: conflicts of eight ways.
    assert!(playing.contains("@keyframes plays8-1") && !still.contains("@keyframes"), "{playing}");
    fails(host(&format!("{reduce} --play")), 2, &["--report"]);
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
    let (all, at_lines) = (page.texts(".fault .finding"), page.texts(".source .finding"));
    assert_eq!(all.len(), 1);
    assert!(all[0].contains("race in a block"), "{all:?}");
    assert_eq!(all, at_lines);
    let parts = page.texts(".fault dt");
    assert_eq!(parts, ["kind", "line", "thread", "address", "instruction", "before it", "kernel", "how often"]);
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

/// A kernel that reads beyond its buffer, or not, and stores every second word.
const PTX: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
    .reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";

#[test]
fn any_kernel_has_a_page_with_what_checks_found() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), PTX).expect("the folder is there");
    let run = |flags: &str| {
        let mut command = host(&format!("run k.ptx k {flags} --device sim"));
        command.current_dir(&folder);
        command
    };
    let launch = "u32[64] --grid 1 --block 32";
    let (with, without) = (run(&format!("{launch} --report k.html")).assert(), run(launch).assert());
    assert_eq!(with.success().get_output().stdout, without.success().get_output().stdout);
    let page = Page::read(&folder.path().join("k.html"));
    page.check();
    assert_eq!(page.texts("h1"), ["k"]);
    let figures = page.texts("figure");
    assert_eq!(figures.len(), 2);
    assert!(figures[0].contains("stores: 1 request, 256 B, of which 50.0 % are waste"), "{figures:?}");
    assert!(figures[1].contains("8 sectors, 256 bytes, move: 50 % used."), "{figures:?}");
    assert!(
        page.texts("tr.hot")[0].starts_with("12132.08st.global.u32 [%rd3], %r1;1 global stores: 8.00"),
        "{:?}",
        page.texts("tr.hot")
    );
    // The source is the PTX itself.
    assert!(page.all(".ptx").is_empty());
    assert!(
        page.texts("details th").iter().any(|name| name == "ptx__inst_executed.sum"),
        "{:?}",
        page.texts("details th")
    );

    // Several launches share a page. The last one's race stands at its line.
    let racing = PTX.replace("mul.wide.u32 %rd2, %r1, 8;", "mul.wide.u32 %rd2, %r1, 0;");
    std::fs::write(folder.path().join("k.ptx"), racing).expect("the folder is there");
    let twice = format!("{launch} --then k arg:0 --grid 2 --block 32 --report twice.html");
    run(&twice).assert().code(1);
    let page = Page::read(&folder.path().join("twice.html"));
    page.check();
    assert_eq!(page.texts("summary").iter().filter(|text| text.starts_with("launch 1: k")).count(), 1);
    let found = page.texts(".source .finding");
    assert!(found.iter().any(|finding| finding.contains("race")), "{found:?}");

    // A launch that a fault stops has no page, nor has one that is refused.
    std::fs::write(folder.path().join("k.ptx"), PTX.replace("ret;", "trap;")).expect("the folder is there");
    run(&format!("{launch} --report stopped.html")).assert().code(1);
    fails(run(&format!("{launch} --report k.ptx")), 2, &["--report", "k.ptx is the PTX file"]);
    fails(run(&format!("{launch} --save 0=x.npy --report ./x.npy")), 2, &["--report", "--save writes the same file"]);
    fails(run(&format!("{launch} --report no/k.html")), 2, &["no/k.html", "there is no folder"]);
    assert_eq!(files_in(folder.path()).len(), 3);
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_course_is_right_and_one_page_of_some_megabytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("course.html");
    let run = host("course --device sim --check all --report").arg(&file).assert().success();
    let table = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let results = table.lines().skip(1).take_while(|line| !line.is_empty());
    let results: Vec<_> = results.map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert!(results.len() == 28 && results.iter().all(|cells| cells[2] == "right"), "{table}");
    assert_eq!(table.lines().last(), Some("28 of 28 labs are right on the simulator."));
    let page = Page::read(&file);
    page.check();
    // 90 KB for each lab.
    assert!(page.text.len() < 28 * 90_000, "{} bytes", page.text.len());
    assert_eq!(page.texts(".says p")[0], "28 of 28 labs are right on the simulator.");
    let labs: Vec<String> =
        page.texts(".lab > summary").iter().map(|it| it.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(labs, host::labs::ALL.iter().map(|lab| lab.name).collect::<Vec<_>>());
    assert_eq!(
        page.all("section[aria-label=\"Table of labs\"] tbody tr, [aria-label=\"Table of labs\"] tbody tr").len(),
        28
    );
    for selector in [".lab figure", ".lab tr.hot", ".lab .says"] {
        assert!(page.all(selector).len() >= 17, "{selector}: {}", page.all(selector).len());
    }
    fails(host("course --device sim --report nowhere/c.html"), 2, &["nowhere/c.html", "there is no folder"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_gpu_s_page_has_times_and_says_that_nothing_was_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.html");
    let page = |flags: &str| {
        let lab = "transpose --padded --rows 64 --cols 64 --device gpu --time-limit 0.01";
        let mut command = crate::gpu::on_measured_gpu(&format!("{lab} {flags}"), "");
        command.arg("--report").arg(&file).assert().success();
        let page = Page::read(&file);
        page.check();
        page
    };
    let timed = page("");
    assert!(timed.all("figure").is_empty() && timed.all(".source").is_empty());
    assert!(timed.texts("main").concat().contains("This run has times only."));
    assert!(timed.texts("thead th").iter().any(|title| title == "time, cold"), "{:?}", timed.texts("thead th"));
    let counted = page("--counters");
    assert!(!counted.all("figure").is_empty() && !counted.texts("main").concat().contains("times only"));
}
