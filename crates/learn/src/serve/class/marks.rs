//! The marks of the class in the formats of other programs: what counts of each student's
//! submissions, with the points of the class.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use class::settings::Settings;
use class::store::Store;

use super::guard::Teacher;
use super::lessons::Lessons;
use super::refusal::{Answered, said};
use super::{Server, map, status};
use crate::formats::{Format, Writer};
use crate::marks::{Mark, Marks, Status, Student};

/// What the teacher's page offers: the name in the address, and the text.
pub const DOWNLOADS: [(&str, &str); 4] =
    [("marks.csv", "CSV"), ("grades.csv", "Canvas"), ("marks.json", "JSON with reports"), ("marks.xml", "JUnit")];

/// The marks of all students, who are named by their ids.
///
/// # Errors
///
/// Those of the database.
pub async fn of_class(store: &Store, lessons: &Lessons, settings: &Settings) -> class::Result<Marks> {
    let (submissions, all) = (store.submissions().await?, store.students().await?);
    let counted: Vec<Vec<_>> = all
        .iter()
        .map(|student| {
            let own: Vec<_> = submissions.iter().filter(|one| one.student == student.id).collect();
            lessons.all.iter().map(|lesson| map::mark_of(own.iter().copied(), lesson, lessons, settings)).collect()
        })
        .collect();
    let runs: Vec<i64> = counted.iter().flatten().flatten().map(|mark| mark.of.run).collect();
    let mut reports = store.reports(&runs).await?;
    let mut students = Vec::new();
    for (student, counted) in all.into_iter().zip(counted) {
        let marks = lessons.all.iter().zip(counted).map(|(lesson, counted)| {
            let verdict = counted.and_then(|mark| Some((reports.remove(&mark.of.run)?, mark)));
            let mark = match verdict {
                Some(((report, milliseconds), mark)) => {
                    let status = status::of(mark.of.status.as_deref().unwrap_or_default());
                    let of = Mark::of(&lesson.exercise, status, report);
                    Mark { seconds: milliseconds as f64 / 1000.0, points: mark.points, ..of }
                }
                None => Mark::of(&lesson.exercise, Status::Missing, "nothing was submitted that counts".to_owned()),
            };
            Mark { max_points: lesson.points, ..mark }
        });
        students.push(Student { name: student.id, marks: marks.collect() });
    }
    Ok(Marks { seed: 0, shard: None, students })
}

/// A file with all marks.
pub(super) async fn download(State(server): State<Arc<Server>>, _: Teacher, Path(name): Path<String>) -> Answered {
    let marks = || async { of_class(&server.store, &server.lessons(), &server.settings).await };
    let of_class = |format: Format, marks: &Marks| match format.writer() {
        Writer::Class(write) => write(marks),
        Writer::Student(write) => marks.students.iter().map(write).collect(),
    };
    let (kind, text) = match name.as_str() {
        "marks.csv" => ("text/csv; charset=utf-8", with_points(&marks().await?)),
        "grades.csv" => ("text/csv; charset=utf-8", of_class(Format::CanvasCsv, &marks().await?)),
        "marks.json" => ("application/json", marks().await?.json()),
        "marks.xml" => ("application/xml", of_class(Format::Junit, &marks().await?)),
        _ => return Err(said(StatusCode::NOT_FOUND, "No such file", "There are no marks in this format here.")),
    };
    let as_file = format!("attachment; filename=\"{name}\"");
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, as_file)], text).into_response())
}

/// A table with the points and the status of each exercise.
fn with_points(marks: &Marks) -> String {
    use crate::cells::{row, text};
    let first = marks.students.first().map_or(&[][..], |student| &student.marks);
    let names = first.iter().flat_map(|mark| [text(&mark.exercise), text(&format!("{} status", mark.exercise))]);
    let mut file = row(["student", "points", "of"].map(str::to_owned).into_iter().chain(names));
    for student in &marks.students {
        let sums = [student.points(), student.max_points()].map(|points| points.to_string());
        let cells = student.marks.iter().flat_map(|mark| [mark.points.to_string(), mark.status.words().to_owned()]);
        file += &row(std::iter::once(text(&student.name)).chain(sums).chain(cells));
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::samples;

    #[test]
    fn no_cell_of_the_table_is_a_formula() {
        let file = with_points(&samples::class());
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows[1].iter().take(6).collect::<Vec<_>>(), ["anna", "2.5", "5", "2", "solved", "0"]);
        assert_eq!(rows.len(), 5);
        for cell in rows.iter().flatten() {
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
        }
    }
}
