//! Graphs: nodes with what they do and what they come after. `nodes` has the parameters of nodes,
//! `executable` what is instantiated, `capture` makes graphs of what streams are given.

use std::collections::{BTreeMap, HashSet};
use std::ffi::c_uint;

use crate::boundary::{Done, In, Out, Status, Text, driver};
use crate::objects::Handle;
use crate::state::{State, ready};
use crate::work::{Graph, Node, Plan, Step, Work};

impl Graph {
    /// The nodes, each behind those that it waits for. Fails if there is no such order.
    pub fn plan(&self, state: &State) -> Done<Plan> {
        let mut placed = HashSet::new();
        let mut steps = Vec::new();
        while steps.len() < self.nodes.len() {
            let before = steps.len();
            for (&node, found) in &self.nodes {
                if placed.contains(&node) || !found.after.iter().all(|other| placed.contains(other)) {
                    continue;
                }
                let work = match &found.work {
                    Work::Child(child) => {
                        Work::Graph(state.graphs.get(child).ok_or(Status::INVALID_VALUE)?.plan(state)?)
                    }
                    other => other.clone(),
                };
                steps.push(Step { node, work, after: found.after.clone(), enabled: true });
                placed.insert(node);
            }
            if steps.len() == before {
                return Err(Status::INVALID_VALUE);
            }
        }
        Ok(Plan { steps })
    }

    /// The edges: each node with what comes after it.
    fn edges(&self) -> Vec<(Handle, Handle)> {
        self.nodes.iter().flat_map(|(&node, found)| found.after.iter().map(move |&before| (before, node))).collect()
    }
}

impl State {
    /// A graph.
    pub fn graph_mut(&mut self, graph: Handle) -> Done<&mut Graph> {
        self.graphs.get_mut(&graph).ok_or(Status::INVALID_VALUE)
    }

    /// A node, and its graph.
    pub fn node_mut(&mut self, node: Handle) -> Done<&mut Node> {
        let graph = *self.node_graphs.get(&node).ok_or(Status::INVALID_VALUE)?;
        self.graph_mut(graph)?.nodes.get_mut(&node).ok_or(Status::INVALID_VALUE)
    }

    /// Adds a node to a graph, which has all that it comes after.
    pub fn add_node(&mut self, graph: Handle, work: Work, after: Vec<Handle>) -> Done<Handle> {
        let found = self.graph_mut(graph)?;
        let mut once = HashSet::new();
        if !after.iter().all(|other| found.nodes.contains_key(other) && once.insert(*other)) {
            return Err(Status::INVALID_VALUE);
        }
        let node = self.handle();
        self.graph_mut(graph)?.nodes.insert(node, Node { work, after, original: None, shown: Vec::new() });
        self.node_graphs.insert(node, graph);
        Ok(node)
    }

    /// A new graph.
    pub fn add_graph(&mut self) -> Handle {
        let graph = self.handle();
        self.graphs.insert(graph, Graph::default());
        graph
    }

    /// A copy of a graph, with copies of the graphs in its nodes.
    pub fn clone_graph(&mut self, graph: Handle) -> Done<Handle> {
        let original = self.graphs.get(&graph).ok_or(Status::INVALID_VALUE)?.clone();
        let copy = self.add_graph();
        self.graph_mut(copy)?.objects = self.retain_all(&original.objects)?;
        let copies: BTreeMap<Handle, Handle> = original.nodes.keys().map(|&node| (node, self.handle())).collect();
        for (node, found) in original.nodes {
            let work = match found.work {
                Work::Child(child) => Work::Child(self.clone_graph(child)?),
                other => other,
            };
            let after = found.after.iter().filter_map(|other| copies.get(other)).copied().collect();
            let node_copy = copies[&node];
            let node = Node { work, after, original: Some(node), shown: Vec::new() };
            self.graph_mut(copy)?.nodes.insert(node_copy, node);
            self.node_graphs.insert(node_copy, copy);
        }
        Ok(copy)
    }

    /// Removes a graph, with the graphs in its nodes.
    pub fn remove_graph(&mut self, graph: Handle) -> Done {
        let graph = self.graphs.remove(&graph).ok_or(Status::INVALID_VALUE)?;
        self.drop_all(graph.objects)?;
        for (node, found) in graph.nodes {
            self.node_graphs.remove(&node);
            if let Work::Child(child) = found.work {
                self.remove_graph(child)?;
            }
        }
        Ok(())
    }
}

/// Gives a list to a caller who says how much room there is; without a list, how long it would be.
fn give_list(to: Out<Handle>, count: Out<usize>, all: &[Handle]) -> Done {
    if to.is_null() {
        return count.put(all.len());
    }
    let room = count.held()?;
    to.put_all(all.iter().copied().chain(std::iter::repeat(0)).take(room))?;
    count.put(all.len().min(room))
}

fn give_edges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) -> Done {
    let mut state = ready()?;
    let (before, after): (Vec<_>, Vec<_>) = state.graph_mut(graph)?.edges().into_iter().unzip();
    if from.is_null() != to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    if !from.is_null() {
        let room = count.held()?;
        from.put_all(before.iter().copied().chain(std::iter::repeat(0)).take(room))?;
    }
    give_list(to, count, &after)
}

/// Edges that a caller gives, as pairs.
fn edges(from: In<Handle>, to: In<Handle>, count: usize) -> Done<Vec<(Handle, Handle)>> {
    (0..count).map(|index| Ok((from.at(index).get()?, to.at(index).get()?))).collect()
}

fn connect(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Done {
    let mut state = ready()?;
    let found = state.graph_mut(graph)?;
    let edges = edges(from, to, count)?;
    let mut changed = found.clone();
    for (before, node) in edges {
        if before == node || !changed.nodes.contains_key(&before) {
            return Err(Status::INVALID_VALUE);
        }
        let after = &mut changed.nodes.get_mut(&node).ok_or(Status::INVALID_VALUE)?.after;
        if after.contains(&before) {
            return Err(Status::INVALID_VALUE);
        }
        after.push(before);
    }
    *found = changed;
    Ok(())
}

fn disconnect(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Done {
    let mut state = ready()?;
    let found = state.graph_mut(graph)?;
    let edges = edges(from, to, count)?;
    let has = |&(before, node): &(Handle, Handle)| found.nodes.get(&node).is_some_and(|it| it.after.contains(&before));
    if !edges.iter().all(has) {
        return Err(Status::INVALID_VALUE);
    }
    for (before, node) in edges {
        if let Some(node) = found.nodes.get_mut(&node) {
            node.after.retain(|&other| other != before);
        }
    }
    Ok(())
}

/// The nodes that come after one.
fn dependents(state: &State, node: Handle) -> Done<Vec<Handle>> {
    let graph = state.node_graphs.get(&node).and_then(|graph| state.graphs.get(graph)).ok_or(Status::INVALID_VALUE)?;
    Ok(graph.nodes.iter().filter(|(_, other)| other.after.contains(&node)).map(|(&other, _)| other).collect())
}

driver! {
    fn cuGraphCreate(to: Out<Handle>, flags: c_uint) {
        to.check()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        to.put(ready()?.add_graph())
    }

    fn cuGraphDestroy(graph: Handle) {
        let mut state = ready()?;
        state.remove_graph(graph)?;
        state.trim_graphs()
    }

    fn cuGraphClone(to: Out<Handle>, graph: Handle) {
        to.check()?;
        to.put(ready()?.clone_graph(graph)?)
    }

    fn cuGraphNodeFindInClone(to: Out<Handle>, node: Handle, graph: Handle) {
        let mut state = ready()?;
        let nodes = &state.graph_mut(graph)?.nodes;
        let copy = nodes.iter().find(|(_, copy)| copy.original == Some(node)).map(|(&copy, _)| copy);
        to.put(copy.ok_or(Status::INVALID_VALUE)?)
    }

    fn cuGraphNodeGetType(node: Handle, to: Out<c_uint>) {
        to.put(ready()?.node_mut(node)?.work.kind())
    }

    fn cuGraphGetNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) {
        let all: Vec<Handle> = ready()?.graph_mut(graph)?.nodes.keys().copied().collect();
        give_list(to, count, &all)
    }

    fn cuGraphGetRootNodes(graph: Handle, to: Out<Handle>, count: Out<usize>) {
        let mut state = ready()?;
        let nodes = state.graph_mut(graph)?.nodes.iter();
        let roots: Vec<Handle> = nodes.filter(|(_, node)| node.after.is_empty()).map(|(&node, _)| node).collect();
        give_list(to, count, &roots)
    }

    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        give_edges(graph, from, to, count)
    }

    fn cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
        give_edges(graph, from, to, count)?;
        if !data.is_null() {
            // Edges of the ordinary kind: all of a node before the next.
            data.put_all(std::iter::repeat_n(0, count.held()?))?;
        }
        Ok(())
    }

    fn cuGraphNodeGetDependencies(node: Handle, to: Out<Handle>, count: Out<usize>) {
        let after = ready()?.node_mut(node)?.after.clone();
        give_list(to, count, &after)
    }

    fn cuGraphNodeGetDependencies_v2(node: Handle, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
        let after = ready()?.node_mut(node)?.after.clone();
        give_list(to, count, &after)?;
        if !data.is_null() { data.put_all(std::iter::repeat_n(0, count.held()?)) } else { Ok(()) }
    }

    fn cuGraphNodeGetDependentNodes(node: Handle, to: Out<Handle>, count: Out<usize>) {
        let all = dependents(&*ready()?, node)?;
        give_list(to, count, &all)
    }

    fn cuGraphNodeGetDependentNodes_v2(node: Handle, to: Out<Handle>, data: Out<u64>, count: Out<usize>) {
        let all = dependents(&*ready()?, node)?;
        give_list(to, count, &all)?;
        if !data.is_null() { data.put_all(std::iter::repeat_n(0, count.held()?)) } else { Ok(()) }
    }

    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        connect(graph, from, to, count)
    }

    fn cuGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<u64>, count: usize) {
        connect(graph, from, to, count)
    }

    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        disconnect(graph, from, to, count)
    }

    fn cuGraphRemoveDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<u64>, count: usize) {
        disconnect(graph, from, to, count)
    }

    fn cuGraphDestroyNode(node: Handle) {
        let mut state = ready()?;
        let graph = state.node_graphs.remove(&node).ok_or(Status::INVALID_VALUE)?;
        let graph = state.graph_mut(graph)?;
        let removed = graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.after.retain(|&before| before != node);
        }
        if let Some(Work::Child(child)) = removed.map(|node| node.work) {
            state.remove_graph(child)?;
        }
        state.trim_graphs()
    }

    fn cuGraphDebugDotPrint(graph: Handle, path: Text, flags: c_uint) {
        let mut state = ready()?;
        let graph = state.graph_mut(graph)?;
        let label = |node: &Node| match &node.work {
            Work::Launch(kernel) => kernel.function.name.to_string(),
            other => ["kernel", "copy", "fill", "host", "graph", "empty", "wait", "record", "", "", "allocate", "free", "write"]
                [other.kind() as usize].to_owned(),
        };
        let nodes = graph.nodes.iter().map(|(handle, node)| format!("  n{handle} [label=\"{}\"];\n", label(node)));
        let edges = graph.edges().into_iter().map(|(from, to)| format!("  n{from} -> n{to};\n"));
        let text: String = ["digraph {\n".to_owned()].into_iter().chain(nodes).chain(edges).chain(["}\n".to_owned()]).collect();
        std::fs::write(path.get()?, text).map_err(|_| Status(304))
    }
}
