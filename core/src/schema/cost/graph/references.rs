//! What subschemas are called and how they refer to each other; nothing outside the document is referred to.

use serde_json::Value;

use super::{DIALECTS, Draft, Place, Reader, dialect};
use crate::text::quoted;
use crate::types::codes::Code;

impl<'v> Reader<'v> {
    pub(super) fn reference(&mut self, id: u32, keyword: &'v str, value: &'v Value) {
        if let Value::String(text) = value {
            self.references.push_back((id, keyword, text));
        }
    }

    pub(super) fn nested_dialect(&mut self, id: u32, value: &Value) {
        let Value::String(uri) = value else { return };
        match dialect(uri) {
            None => {
                let message = format!("the dialect {} is not one of the known drafts", quoted(uri));
                self.reading.problem(Code::SchemaRefForbidden, id, "$schema", &message);
            }
            Some(other) if other != self.dialect => {
                let message = "a subschema must follow the draft of its document";
                self.reading.problem(Code::SkillManifestInvalid, id, "$schema", message);
            }
            Some(_) => {}
        }
    }

    /// A second identifier would change what the references below it mean, so only the document has one.
    pub(super) fn identifier(&mut self, id: u32, keyword: &str, value: &'v Value) {
        let is_draft_4 = self.dialect.draft == Draft::Draft4;
        let Value::String(uri) = value else { return };
        if (keyword == "id") != is_draft_4 {
            return;
        }
        if let Some(name) = uri.strip_prefix('#').filter(|name| !name.is_empty()) {
            self.anchors.entry(name).or_insert(id);
        } else if uri.contains("//json-schema.org/") {
            // References to this document and to the metaschema could not be distinguished.
            let message = format!("the identifier {} belongs to a metaschema", quoted(uri));
            self.reading.problem(Code::SchemaRefForbidden, id, keyword, &message);
        } else if id != 0 {
            let message = format!("only the document may have an identifier, found {}", quoted(uri));
            self.reading.problem(Code::SchemaRefForbidden, id, keyword, &message);
        }
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
            if document.is_empty() || self.own_uri() == Some(document) {
                if let Some(target) = self.local_target(fragment) {
                    self.reading.targets.insert(target);
                    if let Some(node) = self.reading.nodes.get_mut(from as usize) {
                        node.refs.push(target);
                    }
                } else {
                    let message = format!("the reference {} leads to no schema in this document", quoted(reference));
                    self.reading.problem(Code::SkillManifestInvalid, from, keyword, &message);
                }
            } else if is_metaschema(document) && fragment.is_empty() {
                self.uses_metaschema = true;
                if let Some(node) = self.reading.nodes.get_mut(from as usize) {
                    node.metaschema = true;
                }
            } else {
                let message = format!("the reference {} leads out of this document", quoted(reference));
                self.reading.problem(Code::SchemaRefForbidden, from, keyword, &message);
            }
        }
    }

    pub(super) fn own_uri(&self) -> Option<&'v str> {
        let keyword = if self.dialect.draft == Draft::Draft4 { "id" } else { "$id" };
        let uri = self.root.get(keyword)?.as_str()?;
        Some(uri.split_once('#').map_or(uri, |(document, _)| document))
    }

    fn local_target(&mut self, fragment: &str) -> Option<u32> {
        let pointer = percent_decoded(fragment)?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return self.anchors.get(pointer.as_str()).copied();
        }
        let value = self.root.pointer(&pointer)?;
        matches!(value, Value::Object(_) | Value::Bool(_)).then(|| self.add(value, Place::Pointed(pointer)))
    }

    /// A metaschema asks the document that refers to it for anchors; one that answers is a graph we cannot see.
    pub(super) fn refuse_rebound_metaschema(&mut self) {
        if let Some(id) = self.rebinds.filter(|_| self.uses_metaschema) {
            let message = "a schema that refers to a metaschema cannot have dynamic or recursive anchors";
            self.reading.problem(Code::SchemaTooComplex, id, "", message);
        }
    }
}

/// Metaschemas that the validator carries.
fn is_metaschema(uri: &str) -> bool {
    DIALECTS.iter().any(|dialect| dialect.uri == uri)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
