//! Collections in brackets and braces. Each function ends directly behind its node.

use super::scalars::Context;
use super::{Reader, deeper};
use crate::json::{Map, Value};

impl Reader<'_> {
    pub(super) fn flow(&mut self, least: usize, depth: usize) -> Option<Value> {
        let depth = deeper(depth)?;
        let (mut items, mut members) = (Vec::new(), Map::new());
        let end = if self.peek()? == b'{' { b'}' } else { b']' };
        loop {
            self.at += 1;
            self.skip_in_flow(least)?;
            if self.peek()? != end {
                let (start, line) = (self.at, self.line);
                let is_quoted = self.is_at_quote();
                let node = self.flow_node(least, depth)?;
                let is_adjacent = is_quoted && self.peek()? == b':';
                let is_empty = |reader: &Self| matches!(reader.byte(1), Some(b',' | b']' | b'}'));
                let is_pair = is_adjacent || self.is_at_colon() || self.peek() == Some(b':') && is_empty(self);
                if end == b'}' || is_pair {
                    let key = self.key(node, start, line)?;
                    let value = if is_pair { self.flow_value(least, depth)? } else { Value::Null };
                    if end == b']' {
                        deeper(depth)?;
                        let mut pair = Map::new();
                        pair.insert(key, value);
                        items.push(Value::Object(pair));
                    } else if members.insert(key, value).is_some() {
                        return None;
                    }
                } else {
                    items.push(node);
                }
                self.skip_in_flow(least)?;
            }
            match self.peek()? {
                b',' => {}
                closing if closing == end => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(if end == b'}' { Value::Object(members) } else { Value::Array(items) })
    }

    /// What stands behind a key's colon.
    fn flow_value(&mut self, least: usize, depth: usize) -> Option<Value> {
        self.at += 1;
        self.skip_in_flow(least)?;
        if matches!(self.peek()?, b',' | b']' | b'}') { Some(Value::Null) } else { self.flow_node(least, depth) }
    }

    fn flow_node(&mut self, least: usize, depth: usize) -> Option<Value> {
        self.properties()?;
        match self.peek()? {
            b'[' | b'{' => self.flow(least, depth),
            _ => self.scalar(least, Context::Flow),
        }
    }
}
