//! Strongly connected components.

use std::collections::BTreeSet;

use crate::modules::Import;

/// The components of more than one file, each in rising order.
pub fn circles(files: usize, imports: &BTreeSet<Import>) -> Vec<Vec<usize>> {
    let reaches: Vec<BTreeSet<usize>> = (0..files).map(|file| reachable(file, imports)).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for file in 0..files {
        let circle: Vec<usize> = reaches[file].iter().copied().filter(|&other| reaches[other].contains(&file)).collect();
        if circle.len() > 1 && circle[0] == file {
            circles.push(circle);
        }
    }
    circles
}

fn reachable(file: usize, imports: &BTreeSet<Import>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        for import in imports.iter().filter(|import| import.from == file) {
            if seen.insert(import.to) {
                next.push(import.to);
            }
        }
    }
    seen
}

#[test]
fn finds_the_circles_of_a_graph() {
    let import = |(from, to)| Import { from, to, item: String::new() };
    let imports = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0)].map(import).into();
    assert_eq!(circles(6, &imports), [vec![0, 1, 2], vec![3, 4]]);
}
