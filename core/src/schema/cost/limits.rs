//! What is refused before the validator compiles it: schemas whose unfolding explodes, and those that never arrive.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{MAX_NODES, Node, Reading};
use crate::types::codes::Code;

/// Adds the problems of a schema that would take unbounded work, and says in which order its nodes can be summed up.
///
/// The order has every subschema before what leads to it; there is none for a schema that leads back to itself.
pub(crate) fn check(reading: &mut Reading<'_>) -> Option<Vec<u32>> {
    if reading.overflow {
        too_complex(reading, 0, &format!("there are more than {MAX_NODES} subschemas"));
        return None;
    }
    let same: Vec<Vec<u32>> =
        reading.nodes.iter().map(|node| node.same_instance().map(|(_, id)| id).collect()).collect();
    let (order, loops) = ordered(&same);
    for node in &loops {
        too_complex(reading, *node, "a reference leads back here without going into the instance");
    }
    if loops.is_empty() {
        check_unfolding(reading, &same, &order);
    }
    let all: Vec<Vec<u32>> = reading.nodes.iter().map(|node| node.reachable().collect()).collect();
    let (order, loops) = ordered(&all);
    loops.is_empty().then_some(order)
}

/// Looks at what a node becomes when everything that sees the same instance is written out in its place.
fn check_unfolding(reading: &mut Reading<'_>, same: &[Vec<u32>], order: &[u32]) {
    // How many subschemas each becomes, and how many of them lie within each other.
    let mut unfolded: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut refused = Vec::new();
    for id in order {
        let (mut size, mut chain, mut is_new) = (1_u64, 1, true);
        for (size_below, chain_below) in
            same.get(*id as usize).into_iter().flatten().filter_map(|edge| unfolded.get(edge))
        {
            size = size.saturating_add(*size_below);
            chain = chain.max(1 + chain_below);
            // Only where it first becomes too much; what leads there is not another problem.
            is_new &= *size_below <= MAX_UNFOLDED && *chain_below <= MAX_CHAIN;
        }
        if is_new && size > MAX_UNFOLDED {
            refused.push((*id, format!("written out, this is more than {MAX_UNFOLDED} alternatives for one instance")));
        } else if is_new && chain > MAX_CHAIN {
            refused.push((*id, format!("more than {MAX_CHAIN} subschemas for one instance lie within each other")));
        }
        unfolded.insert(*id, (size, chain));
    }
    refused.sort_unstable();
    if refused.is_empty() {
        check_compilation(reading, &unfolded);
    }
    for (node, message) in refused {
        too_complex(reading, node, &message);
    }
}

/// Looks at what the validator does when it compiles: how often it takes up a node, and how deep it goes.
fn check_compilation(reading: &mut Reading<'_>, unfolded: &BTreeMap<u32, (u64, u64)>) {
    let targets: BTreeSet<u32> = reading.nodes.iter().flat_map(Node::references).collect();
    let targets = || targets.iter().filter_map(|target| reading.places.get(*target as usize));
    // It unfolds alternatives to find out which is meant, and the surroundings of each `unevaluated…`.
    let is_unfolded = |node: &Node| node.is_unevaluated() || node.unions.iter().any(|union| union.branches.len() >= 3);
    let copies = reading.nodes.iter().zip(unfolded.values()).map(|(node, (size, _))| {
        let size = if is_unfolded(node) { *size } else { 0 };
        size.saturating_add(node.not_size / COPIED_PER_WORK)
    });
    let work = targets().map(|target| target.size).chain(copies).fold(0, u64::saturating_add);

    let mut heights: Vec<u64> = targets().map(|target| target.height).collect();
    heights.sort_unstable_by(|a, b| b.cmp(a));
    // References within references are compiled on the stack up to a number; those around `unevaluated…` without end, but
    // in smaller steps. No path enters one target twice, so the sum of the heights bounds its length.
    let root = reading.places.first().map_or(0, |root| root.height);
    let sum = |heights: &[u64]| heights.iter().copied().fold(root, u64::saturating_add);
    let depth = sum(heights.get(..NESTED_REFERENCES).unwrap_or(&heights));
    let has_unevaluated = reading.nodes.iter().any(Node::is_unevaluated);
    let is_too_deep = depth > MAX_COMPILE_DEPTH || (has_unevaluated && sum(&heights) > MAX_UNEVALUATED_DEPTH);

    if work > MAX_COMPILE_WORK {
        too_complex(reading, 0, "the references and alternatives take too much work to prepare");
    } else if is_too_deep {
        too_complex(reading, 0, "the references lead too deep into each other");
    } else if reading.location_bytes > MAX_LOCATION_BYTES {
        too_complex(reading, 0, "the names on the way to the subschemas are too long");
    }
}

fn too_complex(reading: &mut Reading<'_>, node: u32, message: &str) {
    reading.problem(Code::SchemaTooComplex, node, "", message);
}

/// The nodes, each after all that it leads to, and those to which a path leads back.
///
/// Walks with a stack of its own: a chain of references can be as long as the document.
fn ordered(edges: &[Vec<u32>]) -> (Vec<u32>, BTreeSet<u32>) {
    let (mut order, mut loops) = (Vec::with_capacity(edges.len()), BTreeSet::new());
    // A node that the current path goes through is not done.
    let mut is_done = BTreeMap::new();
    for start in (0..).take(edges.len()) {
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.pop() {
            if next == 0 && is_done.contains_key(&node) {
                continue;
            }
            let edge = edges.get(node as usize).and_then(|edges| edges.get(next));
            is_done.insert(node, edge.is_none());
            let Some(edge) = edge else {
                order.push(node);
                continue;
            };
            path.push((node, next + 1));
            match is_done.get(edge) {
                None => path.push((*edge, 0)),
                Some(false) => drop(loops.insert(*edge)),
                Some(true) => {}
            }
        }
    }
    (order, loops)
}

const MAX_UNFOLDED: u64 = 10_000;
const MAX_CHAIN: u64 = 64;
const MAX_COMPILE_WORK: u64 = 100_000;
/// Each level takes the validator two kilobytes of stack.
const MAX_COMPILE_DEPTH: u64 = 250;
const MAX_UNEVALUATED_DEPTH: u64 = 800;
const COPIED_PER_WORK: u64 = 20;
const MAX_LOCATION_BYTES: u64 = 32 << 20;
const NESTED_REFERENCES: usize = 9;
