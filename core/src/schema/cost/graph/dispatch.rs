//! Unions of which the validator looks at one branch only: each branch requires one property to be a string of its own.
//!
//! Without this, honest recursion through alternatives would count as if every level tried them all. The rule is the
//! validator's own, read more narrowly: where it might see more than is seen here, the union counts in full.

use std::collections::BTreeMap;

use jsonschema::Draft;
use serde_json::Value;

use super::Reader;

impl<'v> Reader<'v> {
    pub(super) fn find_dispatches(&mut self) {
        let unions = self.reading.nodes.iter().flat_map(|node| &node.unions);
        let found: Vec<_> = unions.map(|union| self.dispatch(&union.branches)).collect();
        let unions = self.reading.nodes.iter_mut().flat_map(|node| &mut node.unions);
        unions.zip(found).for_each(|(union, dispatch)| union.dispatch = dispatch);
    }

    fn dispatch(&self, branches: &[u32]) -> Option<(String, BTreeMap<String, u32>)> {
        if branches.len() < 3 {
            return None;
        }
        let pinned: Vec<_> = branches.iter().map(|branch| self.pinned(*branch)).collect::<Option<_>>()?;
        pinned.first()?.keys().find_map(|key| {
            let values =
                pinned.iter().zip(branches).map(|(pins, branch)| Some(((*pins.get(key)?).to_owned(), *branch)));
            let values: BTreeMap<String, u32> = values.collect::<Option<_>>()?;
            (values.len() == branches.len()).then(|| ((*key).to_owned(), values))
        })
    }

    /// The required properties of a branch that must be one string; nothing if something unseen could add to them.
    fn pinned(&self, branch: u32) -> Option<BTreeMap<&'v str, &'v str>> {
        let branch = self.values.get(branch as usize)?;
        let mut map = branch.as_object()?;
        if map.contains_key("$ref") {
            map = self.only_target(branch)?.as_object().filter(|_| map.len() == 1)?;
        }
        if map.contains_key("$ref") || map.contains_key("allOf") {
            return None;
        }
        let required = map.get("required")?.as_array()?.iter().filter_map(Value::as_str);
        let pinned = |name| Some((name, self.pinned_value(map.get("properties")?.get(name)?).transpose()?));
        required.filter_map(pinned).map(|(name, value)| Ok((name, value?))).collect::<Result<_, Unseen>>().ok()
    }

    /// The one string that a subschema accepts, looked for as far as the validator does: the last in a chain of references.
    fn pinned_value(&self, mut subschema: &'v Value) -> Result<Option<&'v str>, Unseen> {
        let mut found = None;
        for _ in 0..=DISPATCH_DEPTH {
            let is_reference = subschema.get("$ref").is_some();
            // Up to draft 7 nothing beside a `$ref` counts.
            if !is_reference || self.draft > Draft::Draft7 {
                found = self.only_string(subschema).or(found);
            }
            if !is_reference {
                break;
            }
            subschema = self.only_target(subschema).ok_or(Unseen)?;
        }
        Ok(found)
    }

    fn only_string(&self, subschema: &'v Value) -> Option<&'v str> {
        let constant = subschema.get("const").filter(|_| self.draft != Draft::Draft4).and_then(Value::as_str);
        constant.or_else(|| match subschema.get("enum")?.as_array()?.as_slice() {
            [Value::String(value)] => Some(value),
            _ => None,
        })
    }

    fn only_target(&self, referring: &Value) -> Option<&'v Value> {
        let id = self.by_address.get(&std::ptr::from_ref(referring).addr())?;
        let mut targets = self.reading.nodes.get(*id as usize)?.references();
        let target = targets.next().filter(|_| targets.next().is_none())?;
        self.values.get(target as usize).copied()
    }
}

/// A reference that this reader does not follow but the validator might.
struct Unseen;

/// How many references the validator follows to find the value of a property.
const DISPATCH_DEPTH: u32 = 16;
