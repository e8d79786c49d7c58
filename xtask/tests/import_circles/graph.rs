//! Strongly connected components.

use std::collections::BTreeSet;

use crate::modules::Import;

/// The components of more than one file, each in rising order.
pub fn circles(files: usize, imports: &BTreeSet<Import>) -> Vec<Vec<usize>> {
    let mut imported = vec![BTreeSet::new(); files];
    for import in imports {
        imported[import.from].insert(import.to);
    }
    let reaches: Vec<BTreeSet<usize>> = (0..files).map(|file| reachable(file, &imported)).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for file in 0..files {
        let circle: Vec<usize> =
            reaches[file].iter().copied().filter(|&other| reaches[other].contains(&file)).collect();
        if circle.len() > 1 && circle[0] == file {
            circles.push(circle);
        }
    }
    circles
}

/// The files that a file imports, directly or through others.
fn reachable(file: usize, imported: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        next.extend(imported[file].iter().filter(|&&other| seen.insert(other)));
    }
    seen
}

#[cfg(test)]
use crate::modules::How;

#[test]
fn finds_the_circles_of_a_graph() {
    let import = |(from, to)| Import { from, to, how: How::Definition, item: String::new() };
    let imports = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0)].map(import).into();
    assert_eq!(circles(6, &imports), [vec![0, 1, 2], vec![3, 4]]);
}
