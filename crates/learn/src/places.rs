//! The places of a student's file that a verdict is about, for an editor that marks them: compiler's
//! errors, faults, and lines that miss a goal. [`crate::events`] tells them. Pure.

use exercise::fault::Fault;

use crate::diagnostics::{self, Place};
use crate::report::{AVOIDED, named, said};
use crate::verdict::{Failure, Verdict};

/// The places, in the order of a report.
pub fn of(verdict: &Verdict) -> Vec<Place> {
    let mut places = verdict.failure.as_ref().map(of_failure).unwrap_or_default();
    for result in verdict.goals.iter().filter(|result| !result.met) {
        if let Some(blamed) = &result.blamed {
            let why = if result.avoided.is_some() { AVOIDED } else { result.why.trim() };
            places.push(Place { line: blamed.line, column: None, message: format!("{}. {why}", said(result)) });
        }
    }
    if let Some(rating) = verdict.rating.as_ref().filter(|_| !verdict.passed())
        && let Some(waits) = &rating.waits
    {
        places.push(Place { line: waits.line, column: None, message: rating.said() });
    }
    places
}

fn of_failure(failure: &Failure) -> Vec<Place> {
    match failure {
        Failure::DoesNotCompile(messages) => diagnostics::places(messages),
        Failure::Refused(why) | Failure::Signature(why) => refused(why).into_iter().collect(),
        Failure::Faults(_, faults, _) | Failure::OutOfTime(_, faults) => faults.iter().flat_map(of_fault).collect(),
        Failure::OtherOrders(others) => of_failure(&others.failure),
        _ => Vec::new(),
    }
}

fn of_fault(fault: &Fault) -> impl Iterator<Item = Place> {
    let place = |line, who: &str| {
        let who = if who.is_empty() { String::new() } else { format!(": {who}") };
        Place { line, column: None, message: format!("{}{who}", named(fault)) }
    };
    fault.sites.iter().filter_map(move |(line, who)| Some(place((*line)?, who)))
}

/// The place of an objection or of a wrong launch, which begins with its line.
fn refused(why: &str) -> Option<Place> {
    let (line, message) = why.strip_prefix("line ")?.split_once(": ")?;
    Some(Place { line: line.parse().ok()?, column: None, message: message.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objection_is_at_its_line() {
        let place = refused("line 12: `include!`: it reads another file").unwrap();
        assert_eq!((place.line, place.message.as_str()), (12, "`include!`: it reads another file"));
        assert_eq!(refused("brackets are nested more than 9 deep"), None);
    }

    #[test]
    fn a_fault_is_at_each_of_its_sites() {
        let sites = vec![(Some(3), "thread 1".to_owned()), (None, "elsewhere".to_owned()), (Some(5), String::new())];
        let fault = Fault { kind: "race".into(), message: "two threads".into(), sites, ..Fault::default() };
        let places: Vec<_> = of_fault(&fault).map(|place| (place.line, place.message)).collect();
        assert_eq!(places, [(3, "race: two threads: thread 1".to_owned()), (5, "race: two threads".to_owned())]);
    }
}
