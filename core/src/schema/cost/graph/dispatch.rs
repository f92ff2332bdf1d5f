//! Unions of which the validator looks at one branch only: each branch requires one property to be a string of its own.
//!
//! Without this, honest recursion through alternatives would count as if every level tried them all. The rule is the
//! validator's own, read more narrowly: where it might see more than is seen here, the union counts in full.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Draft, Node, Reader};

impl<'v> Reader<'v> {
    /// Finds the unions of which the validator looks at one branch only (its own rule, read more narrowly).
    pub(super) fn find_dispatches(&mut self) {
        let mut nodes = std::mem::take(&mut self.reading.nodes);
        let found: Vec<Vec<_>> = nodes
            .iter()
            .map(|node| node.unions.iter().map(|union| self.dispatch(&nodes, &union.branches)).collect())
            .collect();
        for (node, dispatches) in nodes.iter_mut().zip(found) {
            for (union, dispatch) in node.unions.iter_mut().zip(dispatches) {
                union.dispatch = dispatch;
            }
        }
        self.reading.nodes = nodes;
    }

    fn dispatch(&self, nodes: &[Node], branches: &[u32]) -> Option<(String, BTreeMap<String, u32>)> {
        if branches.len() < 3 {
            return None;
        }
        let pinned: Vec<_> = branches.iter().map(|branch| self.pinned(nodes, *branch)).collect::<Option<Vec<_>>>()?;
        for key in pinned.first()?.keys() {
            let values: BTreeMap<String, u32> = pinned
                .iter()
                .zip(branches)
                .filter_map(|(pins, branch)| Some(((*pins.get(key)?).to_owned(), *branch)))
                .collect();
            if values.len() == branches.len() {
                return Some(((*key).to_owned(), values));
            }
        }
        None
    }

    /// The required properties of a branch that must be one string; nothing if something unseen could add to them.
    fn pinned(&self, nodes: &[Node], branch: u32) -> Option<BTreeMap<&'v str, &'v str>> {
        let branch = self.values.get(branch as usize)?;
        let mut map = branch.as_object()?;
        if map.contains_key("$ref") {
            map = self.only_target(nodes, branch)?.as_object().filter(|_| map.len() == 1)?;
        }
        if map.contains_key("$ref") || map.contains_key("allOf") {
            return None;
        }
        let mut pins = BTreeMap::new();
        for name in map.get("required")?.as_array()?.iter().filter_map(Value::as_str) {
            let subschema = map.get("properties").and_then(|properties| properties.get(name));
            if let Some(subschema) = subschema
                && let Some(value) = self.pinned_value(nodes, subschema, 0).ok()?
            {
                pins.insert(name, value);
            }
        }
        Some(pins)
    }

    /// The one string that a subschema accepts, looked for as far as the validator does.
    fn pinned_value(&self, nodes: &[Node], subschema: &'v Value, depth: u32) -> Result<Option<&'v str>, Unseen> {
        let Value::Object(map) = subschema else { return Ok(None) };
        if depth > DISPATCH_DEPTH {
            return Ok(None);
        }
        if map.contains_key("$ref") {
            let target = self.only_target(nodes, subschema).ok_or(Unseen)?;
            let value = self.pinned_value(nodes, target, depth + 1)?;
            if value.is_some() || self.ignores_siblings() {
                return Ok(value);
            }
        }
        let is_draft_4 = self.dialect.draft == Draft::Draft4;
        if let Some(Value::String(value)) = map.get("const").filter(|_| !is_draft_4) {
            return Ok(Some(value));
        }
        Ok(match map.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::String(value)]) => Some(value),
            _ => None,
        })
    }

    fn only_target(&self, nodes: &[Node], referring: &Value) -> Option<&'v Value> {
        let id = self.by_address.get(&std::ptr::from_ref(referring).addr())?;
        match nodes.get(*id as usize)?.refs.as_slice() {
            [target] => self.values.get(*target as usize).copied(),
            _ => None,
        }
    }

    /// Up to draft 7 nothing beside a `$ref` counts.
    fn ignores_siblings(&self) -> bool {
        matches!(self.dialect.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
    }
}

/// A reference that this reader does not follow but the validator might.
struct Unseen;

/// How many references the validator follows to find the value of a property.
const DISPATCH_DEPTH: u32 = 16;
