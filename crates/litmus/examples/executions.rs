//! Prints each candidate execution of these files, or else of the library, and whether the model
//! allows it, one JSON object a line: `tests/check.py` compares them with NVIDIA's own definition
//! of the model.

use litmus::{Action, Events, Kind, LIBRARY, Relation, Scope, each_order, members, read};

fn pairs(relation: &Relation) -> String {
    let pairs: Vec<String> = relation.pairs().map(|(a, b)| format!("[{a},{b}]")).collect();
    format!("[{}]", pairs.join(","))
}

/// The loads that a step of a thread depends on, as their numbers in the thread.
fn loads(step: &litmus::Step) -> Vec<usize> {
    let mut all = Vec::new();
    if let Some((condition, _)) = &step.condition {
        condition.loads(&mut all);
    }
    match &step.action {
        Action::Store { value, .. } => value.loads(&mut all),
        Action::Atomic { update: litmus::Update::Operation(_, value), .. } => value.loads(&mut all),
        Action::Atomic { update: litmus::Update::Swap(a, b), .. } => {
            a.loads(&mut all);
            b.loads(&mut all);
        }
        _ => {}
    }
    all
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let library = LIBRARY.iter().map(|(name, text)| Ok(((*name).to_owned(), (*text).to_owned())));
    let named = files.iter().map(|file| Ok((file.clone(), std::fs::read_to_string(file)?)));
    let all: std::io::Result<Vec<(String, String)>> =
        if files.is_empty() { library.collect() } else { named.collect() };
    for (name, text) in all? {
        let program = read(&name, &text)?;
        let events = Events::of(&program)?;
        let described: Vec<String> = (0..events.all.len())
            .map(|number| {
                let event = &events.all[number];
                let place = program.threads[event.thread].place;
                let scope = match event.scope {
                    None => "thread",
                    Some(Scope::Block) => "block",
                    Some(Scope::Cluster) => "cluster",
                    Some(Scope::Gpu) => "gpu",
                    Some(Scope::System) => "system",
                };
                let depends: Vec<usize> = match event.kind {
                    Kind::Write => loads(&program.threads[event.thread].steps[event.step])
                        .iter()
                        .map(|&load| {
                            let own = (0..events.all.len()).filter(|&other| {
                                let other = &events.all[other];
                                other.thread == event.thread && other.kind == Kind::Read
                            });
                            own.into_iter().nth(load).expect("a load")
                        })
                        .collect(),
                    _ => Vec::new(),
                };
                let is_atomic = event.kind == Kind::Write
                    && number > 0
                    && events.all[number - 1].kind == Kind::Read
                    && (events.all[number - 1].thread, events.all[number - 1].step) == (event.thread, event.step);
                format!(
                    "{{\"thread\":{},\"kind\":\"{:?}\",\"variable\":{},\"scope\":\"{scope}\",\"acquires\":{},\"releases\":{},\
                     \"block\":{},\"cluster\":{},\"gpu\":{},\"depends\":{depends:?},\"atomic\":{is_atomic}}}",
                    event.thread,
                    event.kind,
                    event.variable.map_or(-1, |variable| variable as i64),
                    event.acquires,
                    event.releases,
                    place.block,
                    place.cluster,
                    place.gpu,
                )
            })
            .collect();
        events.each_reading(|reading| {
            each_order(&events, &reading, |execution, broken| {
                let sources: Vec<String> = members(execution.present)
                    .filter_map(|read| execution.sources[read].map(|source| format!("[{source},{read}]")))
                    .collect();
                let present: Vec<usize> = members(execution.present).collect();
                println!(
                    "{{\"name\":\"{name}\",\"events\":[{}],\"present\":{present:?},\"rf\":[{}],\"co\":{},\"sc\":{},\"allowed\":{}}}",
                    described.join(","),
                    sources.join(","),
                    pairs(&execution.stores),
                    pairs(&execution.fences),
                    broken.is_empty()
                );
                Ok(())
            })
        })?;
    }
    Ok(())
}
