//! Does what `cargo learn roster` asks for.

use std::path::Path;

use class::secret;
use class::settings::Settings;
use class::store::{Store, Student, Who};
use wording::several;

use super::{Action, Options, students};
use crate::account::Class;
use crate::cells::{row, text};
use crate::course::Course;
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::outputs::Target;
use crate::serve::class::{self as pages, Lessons};
use crate::terminal::{note, plain, show, show_line};

/// The most bytes of a file of students.
const LONGEST: u64 = 8 << 20;

/// Does what was asked for.
pub fn act(options: &Options, course: Option<&Path>) -> Result<bool> {
    let settings = Settings::read(&options.class)?;
    let clone = Course::here(course.or(settings.course.as_deref())).ok();
    let class = Class::new(&options.user, Some(&settings), clone.as_ref(), &settings.database);
    class.without_judges().settle(|| Ok(None))?;
    let failed = |error| Error::Usage(format!("the database cannot be used: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let open = || Store::open(&settings.database);
        match &options.action {
            Action::Add { file: of } => {
                // Before the database is made.
                let students = read(of)?;
                add(&open().await?, &students).await
            }
            Action::List => list(&open().await?).await,
            Action::Link { ids, teacher } => link(&open().await?, &settings, ids, *teacher).await,
            Action::Revoke { id, .. } => {
                revoke(&open().await?, id.as_deref()).await?;
                if settings.openid.is_some() && id.is_some() {
                    note!("note: with an account at the provider of [openid] the student can sign in again");
                }
                Ok(())
            }
            Action::Remove { ids, erase } => remove(&open().await?, ids, *erase).await,
            Action::Marks { format, out } => {
                let course = Course::here(course.or(settings.course.as_deref()))?;
                marks(&open().await?, &settings, &course, (*format, out.as_deref())).await
            }
        }
    })?;
    Ok(true)
}

/// The students of a file. Each wrong row is named.
fn read(file: &Path) -> Result<Vec<Student>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(Error::reading(file))?;
    opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(Error::reading(file))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Error::Usage(format!("{}: it has more than {LONGEST} bytes", file.display())));
    }
    let rows = students::read(&bytes).map_err(|wrong| {
        let (last, before) = wrong.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        for problem in before {
            note!("error: {}: {problem}", file.display());
        }
        Error::Usage(format!("{}: {last}; nothing was added", file.display()))
    })?;
    Ok(rows.into_iter().map(|students::Row { name, id, email }| Student { id, name, email }).collect())
}

async fn add(store: &Store, students: &[Student]) -> Result<()> {
    let new = store.add_students(students, pages::now()).await?;
    let all = several(students.len(), "student");
    show_line!("{all} of the file, {new} of them new. Next: cargo learn roster link")
}

async fn list(store: &Store) -> Result<()> {
    let linked = store.linked().await?;
    let students = store.students().await?;
    let removed = store.removed().await?;
    let cut = |text: &str, width: usize| plain(text).replace('\n', " ").chars().take(width).collect::<String>();
    let show = |Student { id, name, email }: &Student, state: &str| {
        show_line!("{:24}  {:32}  {:32}  {state}", cut(id, 64), cut(name, 32), cut(email, 64))
    };
    for student in &students {
        show(student, if linked.contains(&student.id) { "link" } else { "-" })?;
    }
    for student in &removed {
        show(student, "removed")?;
    }
    let removed = if removed.is_empty() { String::new() } else { format!(", {} removed", removed.len()) };
    show_line!("{}, {} with a link{removed}", several(students.len(), "student"), linked.len())
}

async fn remove(store: &Store, ids: &[String], erase: bool) -> Result<()> {
    let mut known = store.students().await?;
    if erase {
        known.extend(store.removed().await?);
    }
    // All or none.
    for id in ids.iter().filter(|id| !known.iter().any(|student| student.id == **id)) {
        // Students who were erased are known no more, but may be in the files.
        if !erase || !store.must_compact(id).await? {
            return Err(unknown_student(id));
        }
    }
    for id in ids {
        store.remove(id, pages::now()).await?;
        if erase {
            store.erase(id).await?;
        } else {
            show_line!(
                "{id} is removed and signed out. The work is kept: `roster add` brings it back, and --erase deletes it."
            )?;
        }
    }
    if !erase {
        return Ok(());
    }
    store.compact().await.map_err(|error| {
        Error::Usage(format!(
            "{} deleted, but the database's files may still have the work: {error}; run the same command again",
            if ids.len() == 1 { "the student is" } else { "the students are" }
        ))
    })?;
    ids.iter().try_for_each(|id| show_line!("Everything stored about {} is deleted.", plain(id)))
}

async fn link(store: &Store, settings: &Settings, ids: &[String], teacher: bool) -> Result<()> {
    let all = store.students().await?;
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|student| student.id == **id)) {
        return Err(unknown_student(unknown));
    }
    let linked = store.linked().await?;
    let wanted = |student: &&Student| match ids.is_empty() {
        true => !teacher && !linked.contains(&student.id),
        false => ids.contains(&student.id),
    };
    let chosen: Vec<&Student> = all.iter().filter(wanted).collect();
    if chosen.is_empty() && !teacher {
        return Err(Error::Usage(match all.is_empty() {
            true => "there are no students: add them with `cargo learn roster add FILE`".to_owned(),
            false => "every student has a link: name those who need a new one, which replaces it".to_owned(),
        }));
    }
    let mut table = row(["name", "id", "email", "link"].map(str::to_owned));
    let mut add = async |who: Who, [name, id, email]: [&str; 3]| -> Result<()> {
        let new = secret::new()?;
        store.put_link(&secret::hash(&new), &who, pages::now()).await?;
        table += &row([text(name), text(id), text(email), pages::link(settings, &new)]);
        Ok(())
    };
    for Student { id, name, email } in &chosen {
        add(Who::Student(id.clone()), [name, id, email]).await?;
    }
    if teacher {
        add(Who::Teacher, ["Teacher", "", ""]).await?;
    }
    show!("{table}")?;
    note!("These links are shown once: send each to its student alone.");
    Ok(())
}

fn unknown_student(id: &str) -> Error {
    Error::Usage(format!("there is no student '{}'; `cargo learn roster list` shows them all", plain(id)))
}

async fn revoke(store: &Store, id: Option<&str>) -> Result<()> {
    let (who, name) = match id {
        Some(id) => {
            if store.student(id).await?.is_none() {
                return Err(unknown_student(id));
            }
            (Who::Student(id.to_owned()), id)
        }
        None => (Who::Teacher, "the teacher"),
    };
    store.revoke(&who).await?;
    show_line!("The link and the sessions of {name} no longer work. `cargo learn roster link` makes a new one.")
}

async fn marks(store: &Store, settings: &Settings, course: &Course, to: (Format, Option<&Path>)) -> Result<()> {
    let lessons = Lessons::read(course, settings)?;
    let marks = pages::marks::of_class(store, &lessons, settings).await?;
    let (format, out) = to;
    Target::of(format, out, marks.students.len())?.write(format, &marks)
}
