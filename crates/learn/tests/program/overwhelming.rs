//! Submissions that overwhelm the compiler or the simulator: those that are rejected, which
//! [`crate::grading`] marks among others, and those that may run until a limit ends them.

use serde_json::Value;

use super::*;
use crate::grading::Submission;

/// The body of a kernel that prints numbers or texts before it does what it should.
fn printing(items: &str, body: &str) -> String {
    let vprintf = "unsafe extern \"C\" { fn vprintf(format: *const u8, arguments: *const u8) -> i32; }";
    with(&format!("{vprintf}\n{items}")).replace(RIGHT, &format!("{body}\n{RIGHT}"))
}

/// A right kernel with statements before it.
fn before(text: &str) -> String {
    kernel(&format!("{text}\n{RIGHT}"))
}

/// Writes the variable of a kernel.
const WRITTEN: &str = "(&raw mut BIG).cast::<u8>().add(n as usize).write_volatile(1);";

/// What is too large or too deep, and rejected for it whatever the machine.
pub fn rejected() -> Vec<Submission> {
    let nested = format!("const X: u32 = {}1{};", "{/*}*/".repeat(20_000), "/*{*/}".repeat(20_000));
    let operators = format!("const X: bool = {}true;", "!".repeat(50_000));
    let variable = format!("    static mut BIG: [u8; 1 << 33] = [0; 1 << 33];\n    {WRITTEN}");
    let several = format!("    static mut BIG: [u8; 3 << 27] = [0; 3 << 27];\n    {WRITTEN}");
    let local = "    let mut big = [0u32; 1 << 26];
    (&raw mut big).cast::<u32>().add(n as usize).write_volatile(1);";
    let allocates = with("unsafe extern \"C\" { fn malloc(size: usize) -> *mut u64; }").replace(
        RIGHT,
        "    loop {
        let new = malloc(1 << 20);
        if !new.is_null() { *new = 1; }
    }",
    );
    // It prints a mark of its own.
    let prints = with("unsafe extern \"C\" { fn vprintf(format: *const u8, arguments: *const u8) -> i32; }").replace(
        RIGHT,
        r#"    let mark = c"{\"exercise\":\"copy\",\"status\":\"solved\",\"report\":\"\"}\n";
    for _ in 0..1000 { vprintf(mark.as_ptr().cast(), core::ptr::null()); }"#,
    );
    let wide = printing(
        "",
        "    let numbers = [1u64, 2];
    let forms = [c\"%2000000000d %.2000000000f\", c\"%.65536g %.65535e\"];
    for form in forms.iter().filter(|_| thread::index_1d() == 0) { vprintf(form.as_ptr().cast(), (&raw const numbers).cast()); }",
    );
    vec![
        ("prints_wide", wide, "solved", ""),
        ("nested", with(&nested), "refused", "nested more than 200 deep"),
        ("operators", with(&operators), "does_not_compile", "nested or repeated too deeply"),
        (
            "large",
            with(&"// A line of no use.\n".repeat(500_000)),
            "refused",
            "copy/kernel.rs has more than the 262144 bytes that are allowed",
        ),
        ("variable_8g", before(&variable), "does_not_compile", "more memory than available"),
        ("variable_400m", before(&several), "does_not_compile", "its statics have 402653184 bytes"),
        ("local", before(local), "wrong", "bytes of local memory per thread"),
        ("allocates", allocates, "wrong", "a loop that never ends"),
        ("prints", prints, "wrong", "never written"),
    ]
}

/// What takes until a limit ends it. "broken" stands for any kind of failure: which comes first
/// depends on the machine.
fn endless() -> Vec<Submission> {
    let used = |items: &str, ty: &str, value: &str| {
        with(&format!("{items}\n#[kernel]\npub unsafe fn other(o: *mut {ty}, i: u64) {{\n    *o = {value};\n}}"))
    };
    let constant = "#[allow(long_running_const_eval)]
const X: u64 = { let mut i = 0u64; while i < 1 << 60 { i += 1; } i };";
    let types = "struct P<A, B>(A, B);
fn grow<X>(n: u64) -> u64 { if n == 0 { size_of::<X>() as u64 } else { grow::<P<X, X>>(n - 1) } }";
    let macros = "macro_rules! twice { ($($x:tt)*) => { twice!($($x)* $($x)*); } }\ntwice!(a a a a);";
    let zeros = format!("    static mut BIG: [u8; 3 << 29] = [0; 3 << 29];\n    {WRITTEN}");
    let ones = format!("    static mut BIG: [u8; 1 << 27] = [1; 1 << 27];\n    {WRITTEN}");
    let floods = printing(
        "static BIG: [u8; 1 << 20] = { let mut all = [65u8; 1 << 20]; all[(1 << 20) - 1] = 0; all };",
        "    let text = [&raw const BIG as u64];
    for _ in 0..100_000 { vprintf(c\"%s\".as_ptr().cast(), (&raw const text).cast()); }",
    );
    // A hundred thousand errors, each with a line of a quarter of a megabyte.
    let wordy = with(&format!("fn f() {{ {} }}", "a;".repeat(100_000)));
    vec![
        ("prints_long", floods, "timed_out", "took more than 5 seconds"),
        ("endless_constant", used(constant, "u64", "X"), "timed_out", "took more than 5 seconds"),
        ("wordy", wordy, "broken", ""),
        ("endless_types", used(types, "u64", "grow::<u8>(i)"), "broken", ""),
        ("macros", with(macros), "broken", ""),
        ("constants", used("static BIG: [u32; 1 << 30] = [7; 1 << 30];", "u32", "BIG[i as usize]"), "broken", ""),
        ("variable_zero", before(&zeros), "broken", ""),
        ("variable_one", before(&ones), "broken", ""),
    ]
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn what_does_not_end_is_ended_and_costs_its_own_mark_only() {
    /// The time limit for a file in seconds. It is reached however fast the machine is.
    const SECONDS: &str = "5";
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let class = endless();
    for (student, text, ..) in &class {
        course.write(&format!("class/{student}/copy/kernel.rs"), text);
    }
    let json = course.path("marks.json");
    let mut command = course.command(&["grade", "--jobs", "2", "--seed", "7", "--step-limit", "2000000"]);
    command.args(["--memory-limit", "3072", "--time-limit", SECONDS, "--json"]).arg(&json).arg(course.path("class"));
    // Numbers of jobs that no other test has.
    let outcome = Outcome::of(command.env("LEARN_JOB", "28"));
    let marks: Value =
        serde_json::from_str(&course.read("marks.json")).unwrap_or_else(|_| panic!("{}", outcome.text()));
    for (name, _, wanted, words) in &class {
        let student = marks["students"].as_array().unwrap().iter().find(|student| student["name"] == *name).unwrap();
        let mark = &student["marks"][0];
        let (status, report) = (mark["status"].as_str().unwrap(), mark["report"].as_str().unwrap());
        let as_wanted = match *wanted {
            "broken" => ["wrong", "does_not_compile", "timed_out", "failed"].contains(&status),
            _ => status == *wanted,
        };
        assert!(as_wanted && report.contains(words), "{name}: {mark:#}\nexpected {wanted}, with: {words}");
    }
    #[cfg(target_os = "linux")]
    assert_eq!(crate::interrupted::processes("learn/2600"), [""; 0], "processes are left behind");
}
