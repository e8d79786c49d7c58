//! A file to import into the gradebook of Canvas, by the columns that its importer reads:
//! <https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_importer.rb>; for teachers:
//! <https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807>.
//!
//! The importer finds a student by Canvas's own ID, else by the SIS User ID, else by the SIS Login ID,
//! else by the name (`First Last` or `Last, First`, as an export of Canvas has it). A student's folder,
//! or the id of a class's roster, is the SIS login, and stands for the name, too: of two students of
//! one name the importer would take either. Each exercise is an assignment. A file that was not
//! judged has no score, so that Canvas keeps what it has.

use crate::cells::{row, text};
use crate::marks::{Mark, Marks, Status};

/// What the importer expects before the assignments.
const STUDENT: [&str; 5] = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"];

/// Begins the row with each assignment's points. The importer takes any row with it for that one.
const POINTS: &str = "Points Possible";

/// The file.
pub fn of(marks: &Marks) -> String {
    let first = marks.students.first().map_or(&[][..], |student| &student.marks);
    let fixed = |cells: [&str; 5]| cells.map(str::to_owned);
    let mut file = row(fixed(STUDENT).into_iter().chain(first.iter().map(|mark| text(&mark.exercise))));
    file +=
        &row(fixed([POINTS, "", "", "", ""]).into_iter().chain(first.iter().map(|mark| mark.max_points.to_string())));
    for student in &marks.students {
        let name = text(&student.name).replace(POINTS, "Points_Possible");
        file += &row(fixed([&name, "", "", &name, ""]).into_iter().chain(student.marks.iter().map(score)));
    }
    file
}

fn score(mark: &Mark) -> String {
    match mark.status {
        Status::Failed => String::new(),
        _ => mark.points.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::samples;

    #[test]
    fn canvas_finds_students_assignments_and_scores() {
        let file = of(&samples::class());
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(
            rows[0],
            vec!["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "copy", "gram", "padding", "stride"]
        );
        assert_eq!(rows[1], vec!["Points Possible", "", "", "", "", "2", "1", "1", "1"]);
        assert_eq!(rows[2], vec!["anna", "", "", "anna", "", "2", "0", "0", "0.5"]);
        assert_eq!(rows.len(), 6);
        for row in &rows[2..] {
            assert!(!row[0].contains("Points Possible") && row[0] == row[3], "{row:?}");
            assert!(row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{row:?}");
            assert!(row.iter().skip(5).all(|score| score.parse::<f64>().is_ok()), "{row:?}");
        }
    }

    #[test]
    fn what_was_not_judged_has_no_score() {
        let class = Marks { seed: 1, shard: None, students: vec![samples::with(Status::Failed)] };
        assert!(of(&class).ends_with("\nanna,,,anna,,\n"), "{}", of(&class));
    }
}
