//! What subschemas are called and how they refer to each other; nothing outside the document is referred to.

use serde_json::Value;

use super::{DRAFTS, Place, Reader, Role, count, draft};
use crate::text::quoted;
use crate::types::codes::Code;

impl<'v> Reader<'v> {
    pub(super) fn nested_draft(&mut self, id: u32, uri: &str) {
        let (code, message) = match draft(uri) {
            Ok(other) if other == self.draft => return,
            Ok(_) => (Code::SkillManifestInvalid, "a subschema must follow the draft of its document".to_owned()),
            Err(message) => (Code::SchemaRefForbidden, message),
        };
        self.reading.problem(code, id, "$schema", &message);
    }

    /// A second identifier would change what the references below it mean, so only the document has one.
    pub(super) fn identifier(&mut self, id: u32, keyword: &str, uri: &'v str) {
        if let Some(name) = uri.strip_prefix('#').filter(|name| !name.is_empty()) {
            self.anchors.entry(name).or_insert(id);
            return;
        }
        let message = if uri.contains("//json-schema.org/") {
            // References to this document and to the metaschema could not be distinguished.
            format!("the identifier {} belongs to a metaschema", quoted(uri))
        } else if id != 0 {
            format!("only the document may have an identifier, found {}", quoted(uri))
        } else {
            return;
        };
        self.reading.problem(Code::SchemaRefForbidden, id, keyword, &message);
    }

    pub(super) fn anchor(&mut self, id: u32, keyword: &str, value: &'v Value) {
        if let Value::String(name) = value {
            self.anchors.entry(name).or_insert(id);
        }
        if keyword == "$dynamicAnchor" {
            self.rebinds = Some(id);
        }
    }

    pub(super) fn resolve_references(&mut self) {
        while let Some((from, keyword, reference)) = self.references.pop_front() {
            let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            let is_local = document.is_empty() || self.own_uri() == Some(document);
            let target = if is_local { self.local_target(fragment) } else { None };
            let is_metaschema = !is_local && fragment.is_empty() && DRAFTS.iter().any(|(uri, _)| *uri == document);
            if let Some(node) = self.reading.nodes.get_mut(from as usize) {
                node.apply(Role::Reference, target);
                node.metaschema |= is_metaschema;
            }
            let (code, what) = match (is_local, target) {
                (true, None) => (Code::SkillManifestInvalid, "leads to no schema in this document"),
                (false, _) if !is_metaschema => (Code::SchemaRefForbidden, "leads out of this document"),
                _ => continue,
            };
            self.reading.problem(code, from, keyword, &format!("the reference {} {what}", quoted(reference)));
        }
        // A metaschema asks the document that refers to it for anchors; one that answers is a graph we cannot see.
        if let Some(id) = self.rebinds.filter(|_| self.reading.nodes.iter().any(|node| node.metaschema)) {
            let message = "a schema that refers to a metaschema cannot have dynamic or recursive anchors";
            self.reading.problem(Code::SchemaTooComplex, id, "", message);
        }
    }

    pub(super) fn own_uri(&self) -> Option<&'v str> {
        let uri = self.values.first()?.get(self.draft.id_keyword())?.as_str()?;
        Some(uri.split_once('#').map_or(uri, |(document, _)| document))
    }

    fn local_target(&mut self, fragment: &str) -> Option<u32> {
        let pointer = percent_decoded(fragment)?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return self.anchors.get(pointer.as_str()).copied();
        }
        let value = self.values.first()?.pointer(&pointer)?;
        // No keyword makes this a schema, but the reference does.
        let place = Place { parent: 0, location: count(pointer.len()), step: pointer, height: 1, size: 1 };
        matches!(value, Value::Object(_) | Value::Bool(_)).then(|| self.add(value, place))
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, plain) = part.split_at_checked(2).filter(|(digits, _)| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
