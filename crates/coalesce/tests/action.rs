//! The GitHub Action, by its script: a repository whose change adds bank conflicts is refused, with
//! the line, a picture and the predicted loss; one whose change adds nothing passes. The program
//! that the repository "builds" is this test itself, which loads the repository's PTX.
#![cfg(target_os = "linux")]

mod launch;

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use launch::launch;
use serde_json::Value;

/// A transposition of a tile of 32 x 32 floats by a block of 32 x 32 threads, whose rows of shared
/// memory are PITCH bytes long.
const PTX: &str = "\
.version 7.8
.target sm_75
.address_size 64
.file 1 \"transpose.cu\"
.visible .entry transpose(.param .u64 from, .param .u64 to) {
    .reg .b32 %r<10>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 tile[4224];
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r2, 32, %r1;
    mul.wide.u32 %rd3, %r4, 4;
    .loc 1 5 5
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r5, [%rd4];
    mad.lo.u32 %r6, %r2, PITCH, %r3;
    mad.lo.u32 %r6, %r1, 4, %r6;
    st.shared.u32 [%r6], %r5;
    .loc 1 6 5
    bar.sync 0;
    .loc 1 7 5
    mad.lo.u32 %r7, %r1, PITCH, %r3;
    mad.lo.u32 %r7, %r2, 4, %r7;
    ld.shared.u32 %r8, [%r7];
    add.s64 %rd5, %rd2, %rd3;
    st.global.u32 [%rd5], %r8;
    ret;
}
";

const SOURCE: &str = "\
__global__ void transpose(const float *from, float *to)
{
    __shared__ float tile[32][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = from[y * 32 + x];
    __syncthreads();
    to[y * 32 + x] = tile[x][y];
}
";

/// Set for the program that is run.
const ROLE: &str = "COALESCE_ACTION_TEST";

/// Not a test, unless the action runs it.
#[test]
fn the_program_that_is_run() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    // Unwrapped: a failure here shows as another exit code.
    let ptx = CString::new(std::fs::read("transpose.ptx").expect("the repository has it")).expect("a text");
    // The kernel has no number: what is behind its arguments is ignored.
    assert_eq!(launch(&ptx, c"transpose", [32, 32], &[4096, 4096], 0), Ok(()));
}

/// A repository, and the folder for the action's results.
struct Repository {
    folder: tempfile::TempDir,
    base: String,
}

impl Repository {
    /// With a commit of the padded transposition.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("repository")).expect("a folder");
        let mut repository = Self { folder, base: String::new() };
        repository.git(&["init", "--quiet"]);
        repository.commit(132, "");
        repository.base = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
        repository
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    fn result(&self, name: &str) -> String {
        let path = self.results().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn git(&self, arguments: &[&str]) -> String {
        let names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git")
            .args(names)
            .args(arguments)
            .current_dir(self.root())
            .output()
            .expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Commits a transposition with rows of so many bytes, below a comment.
    fn commit(&self, pitch: u32, comment: &str) {
        let ptx = PTX.replace("PITCH", &pitch.to_string());
        let moved = comment.lines().count();
        let ptx = [5, 6, 7]
            .into_iter()
            .fold(ptx, |ptx, line| ptx.replace(&format!(".loc 1 {line} 5"), &format!(".loc 1 {} 5", line + moved)));
        std::fs::write(self.root().join("transpose.ptx"), ptx).expect("it is written");
        let source = comment.to_owned() + &SOURCE.replace("PITCH", &(pitch / 4).to_string());
        std::fs::write(self.root().join("transpose.cu"), source).expect("it is written");
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", "a change"]);
    }

    /// The action's script, with these variables beyond the usual ones.
    fn count(&self, variables: &[(&str, &str)]) -> Output {
        let test = std::env::current_exe().expect("a path");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action/count.sh");
        let mut command = Command::new("bash");
        command.arg(script).current_dir(self.root());
        command.env("COALESCE", env!("CARGO_BIN_EXE_coalesce")).env(ROLE, "1");
        command.env("RUN", format!("'{}' the_program_that_is_run --exact", test.display()));
        command.env("FLAGS", "--check all --predict").env("BASE", &self.base).env("FOLDER", self.results());
        command.env("GITHUB_WORKSPACE", self.root());
        command.envs(variables.iter().copied()).output().expect("bash is installed")
    }
}

#[test]
fn a_change_that_adds_bank_conflicts_is_refused_with_its_line() {
    let repository = Repository::new();
    repository.commit(128, "");
    let output = repository.count(&[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let comment = repository.result("comment.md");
    let row = |counter: &str| {
        comment.lines().find(|line| line.contains(&format!("| {counter} "))).unwrap_or_else(|| panic!("{comment}"))
    };
    let conflicts = row("shared.bank_conflicts");
    assert!(
        conflicts.contains("| 992 ") && conflicts.contains("`transpose.cu:7 +992`") && conflicts.ends_with("| worse |"),
        "{conflicts}"
    );
    assert!(row("hopper: predicted.us").ends_with("| worse |"), "{comment}");
    assert!(comment.contains("transpose, transpose.cu:7: A warp's load from shared memory"), "{comment}");
    let sarif: Value = serde_json::from_str(&repository.result("coalesce.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (place["artifactLocation"]["uri"].as_str(), place["region"]["startLine"].as_u64()),
        (Some("transpose.cu"), Some(7))
    );
    assert!(repository.result("junit.xml").contains("classname=\"baseline\""));
    assert!(repository.result("report.html").contains("transpose"));
}

#[test]
fn a_change_that_adds_nothing_passes() {
    let repository = Repository::new();
    repository.commit(132, "// Two lines\n// above.\n");
    let output = repository.count(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let comment = repository.result("comment.md");
    assert!(comment.starts_with("### Kernels: nothing is worse\n\n1 kernel compared with "), "{comment}");
    // A change that is worse may be allowed.
    repository.commit(128, "");
    let allowed = [("ALLOW", "shared.bank_conflicts=0% 1000%"), ("FLAGS", "")];
    assert_eq!(repository.count(&allowed).status.code(), Some(1));
}

#[test]
fn without_a_base_only_faults_and_goals_count() {
    let repository = Repository::new();
    let output = repository.count(&[("BASE", "")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let comment = repository.result("comment.md");
    let title = "### Kernels: no faults, nothing compared\n\nThere is no base to compare with.\n";
    assert!(comment.starts_with(title), "{comment}");
    let output = repository.count(&[("BASE", ""), ("FLAGS", "--require 'launches == 2' --check none")]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    for (variables, says) in [
        ([("RUN", ""), ("BASE", "")], "error: name a command in RUN"),
        ([("SETUP", "exit 7"), ("BASE", "")], "error: SETUP fails"),
        ([("FLAGS", "--require 'a"), ("BASE", "")], "error: FLAGS: a quote has no end: --require 'a"),
        ([("ALLOW", "7x"), ("FLAGS", "")], "invalid value '7x' for '--allow"),
        ([("COALESCE", "no-such-program"), ("BASE", "")], "error: COALESCE: no-such-program is no program"),
        ([("BASE", "0123456789012345678901234567890123456789"), ("FLAGS", "")], "cannot be fetched"),
    ] {
        let output = repository.count(&variables);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{said}");
    }
}

#[test]
fn a_base_or_a_head_that_fails_is_said() {
    let repository = Repository::new();
    // What the base lacks.
    std::fs::write(repository.root().join("new"), "").expect("it is written");
    repository.commit(132, "");
    let output = repository.count(&[("SETUP", "test -f new")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let comment = repository.result("comment.md");
    assert!(
        comment.starts_with("### Kernels: no faults, nothing compared\n\nThe base could not be counted"),
        "{comment}"
    );
    let output = repository.count(&[("RUN", "exit 7")]);
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let comment = repository.result("comment.md");
    assert!(comment.starts_with("### Kernels: the command fails\n"), "{comment}");
}
