//! What is refused before the validator compiles it: schemas whose unfolding explodes, and those that never arrive.

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
    let same: Vec<Vec<u32>> = reading.nodes.iter().map(Node::same_instance).collect();
    let (order, loops) = ordered(&same);
    for node in &loops {
        too_complex(reading, *node, "a reference leads back here without going into the instance");
    }
    if loops.is_empty() {
        check_unfolding(reading, &same, &order);
    }
    let all: Vec<Vec<u32>> = reading.nodes.iter().map(Node::reachable).collect();
    let (order, loops) = ordered(&all);
    loops.is_empty().then_some(order)
}

/// Looks at what a node becomes when everything that sees the same instance is written out in its place.
fn check_unfolding(reading: &mut Reading<'_>, same: &[Vec<u32>], order: &[u32]) {
    let mut sizes = vec![0_u64; same.len()];
    let mut chains = vec![0_u64; same.len()];
    let mut refused = Vec::new();
    for id in order {
        let edges = same.get(*id as usize).map_or(&[] as &[u32], Vec::as_slice);
        let below = |known: &[u64]| -> Vec<u64> { edges.iter().map(|edge| at(known, *edge)).collect() };
        let size = below(&sizes).into_iter().fold(1, u64::saturating_add);
        let chain = 1 + below(&chains).into_iter().max().unwrap_or(0);
        // Only where it first becomes too much; what leads there is not another problem.
        let is_new = below(&sizes).into_iter().all(|size| size <= MAX_UNFOLDED)
            && below(&chains).into_iter().all(|chain| chain <= MAX_CHAIN);
        if is_new && size > MAX_UNFOLDED {
            refused.push((*id, format!("written out, this is more than {MAX_UNFOLDED} alternatives for one instance")));
        } else if is_new && chain > MAX_CHAIN {
            refused.push((*id, format!("more than {MAX_CHAIN} subschemas for one instance lie within each other")));
        }
        set(&mut sizes, *id, size);
        set(&mut chains, *id, chain);
    }
    refused.sort_unstable();
    if refused.is_empty() {
        check_compilation(reading, &sizes);
    }
    for (node, message) in refused {
        too_complex(reading, node, &message);
    }
}

/// Looks at what the validator does when it compiles: how often it takes up a node, and how deep it goes.
fn check_compilation(reading: &mut Reading<'_>, sizes: &[u64]) {
    let shape = |id: u32| reading.shapes.get(id as usize).copied().unwrap_or_default();
    let targets = reading.targets.iter().map(|target| shape(*target).size);
    // It unfolds alternatives to find out which is meant, and the surroundings of each `unevaluated…`.
    let unfolded = reading
        .nodes
        .iter()
        .zip(sizes)
        .filter(|(node, _)| node.is_unevaluated() || node.unions.iter().any(|union| union.branches.len() >= 3));
    let copied = reading.nodes.iter().map(|node| node.not_size / COPIED_PER_WORK);
    let work = targets.chain(unfolded.map(|(_, size)| *size)).chain(copied).fold(0, u64::saturating_add);

    let mut heights: Vec<u64> = reading.targets.iter().map(|target| shape(*target).height).collect();
    heights.sort_unstable_by(|a, b| b.cmp(a));
    // References within references are compiled on the stack up to a number; those around `unevaluated…` without end, but
    // in smaller steps. No path enters one target twice, so the sum of the heights bounds its length.
    let sum = |heights: &[u64]| heights.iter().copied().fold(shape(0).height, u64::saturating_add);
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
fn ordered(edges: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let mut marks = vec![Mark::New; edges.len()];
    let (mut order, mut loops) = (Vec::with_capacity(edges.len()), Vec::new());
    for start in 0..u32::try_from(edges.len()).unwrap_or(u32::MAX) {
        let mut path = vec![(start, 0_usize)];
        while let Some((node, next)) = path.pop() {
            if next == 0 {
                if at(&marks, node) != Mark::New {
                    continue;
                }
                set(&mut marks, node, Mark::Open);
            }
            match edges.get(node as usize).and_then(|edges| edges.get(next)) {
                None => {
                    set(&mut marks, node, Mark::Done);
                    order.push(node);
                }
                Some(edge) => {
                    path.push((node, next + 1));
                    match at(&marks, *edge) {
                        Mark::New => path.push((*edge, 0)),
                        Mark::Open => loops.push(*edge),
                        Mark::Done => {}
                    }
                }
            }
        }
    }
    loops.sort_unstable();
    loops.dedup();
    (order, loops)
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    New,
    Open,
    Done,
}

fn at<T: Copy + Default>(known: &[T], id: u32) -> T {
    known.get(id as usize).copied().unwrap_or_default()
}

fn set<T>(known: &mut [T], id: u32, value: T) {
    if let Some(slot) = known.get_mut(id as usize) {
        *slot = value;
    }
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
