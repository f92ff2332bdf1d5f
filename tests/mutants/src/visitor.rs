//! Finds the code that faults are about, and puts them there.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Pat, ReturnType, Signature};

use crate::edits::{Edits, Piece, Placed};
use crate::faults::{Fault, Genre, Place};

/// A file with its faults.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) placed: Vec<Placed>,
    /// The faults that cannot be switched, each with the reason.
    pub(crate) left: Vec<(u32, &'static str)>,
}

const IN_A_CONSTANT: &str = "in a constant, which is computed when it is built";
const HIDDEN_TYPE: &str = "its type is hidden, and would be another one";
const BINDS: &str = "the guard binds names";
const NOT_CAUGHT: &str = "no other arm catches everything";
const NOT_FOUND: &str = "not found in the source";
/// Not the fault of switching: nothing builds that has `||` beside a `let`.
pub(crate) const BESIDE_LET: &str = "does not build: `||` beside `let`";

/// Puts the faults of a file into its text.
pub(crate) fn write(text: &str, faults: Vec<Fault>) -> syn::Result<Written> {
    let mut of_place: BTreeMap<(Genre, Place), Vec<Fault>> = BTreeMap::new();
    for fault in faults {
        of_place.entry((fault.genre, fault.span)).or_default().push(fault);
    }
    let mut visitor =
        Visitor { source: text, faults: of_place, edits: Edits::default(), left: Vec::new(), in_constant: false };
    visitor.visit_file(&syn::parse_file(text)?);
    let mut left = visitor.left;
    left.extend(visitor.faults.into_values().flatten().map(|fault| (fault.id, NOT_FOUND)));
    let (text, placed) = visitor.edits.apply(text);
    Ok(Written { text, placed, left })
}

struct Visitor<'a> {
    source: &'a str,
    faults: BTreeMap<(Genre, Place), Vec<Fault>>,
    edits: Edits,
    left: Vec<(u32, &'static str)>,
    in_constant: bool,
}

impl Visitor<'_> {
    /// The faults that begin and end with these spans.
    fn take(&mut self, genre: Genre, first: Span, last: Span) -> Vec<Fault> {
        let found = self.faults.remove(&(genre, Place::between(first.start(), last.end()))).unwrap_or_default();
        if self.in_constant { self.leave(found, IN_A_CONSTANT) } else { found }
    }

    /// None of them is switched.
    fn leave(&mut self, faults: Vec<Fault>, reason: &'static str) -> Vec<Fault> {
        self.left.extend(faults.into_iter().map(|fault| (fault.id, reason)));
        Vec::new()
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.source.get(range).unwrap_or_default()
    }

    /// An expression that is another one if a fault is switched on. The other one has none of the faults inside: one alone is
    /// switched on at a time.
    fn choose(&mut self, whole: Range<usize>, others: Vec<(u32, String)>) {
        if others.is_empty() {
            return;
        }
        let mut pieces: Vec<Piece> = vec![("(".to_owned(), None)];
        for (id, other) in others {
            pieces.push((format!("if crate::mutant({id}) {{ {other} }} else "), Some(id)));
        }
        pieces.push(("{ ".to_owned(), None));
        self.edits.wrap(whole, pieces, " })");
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) {
            let mut faults = self.take(Genre::FnValue, first.span(), last.span());
            if hides_its_type(&signature.output) {
                faults = self.leave(faults, HIDDEN_TYPE);
            }
            let pieces = faults.into_iter().map(|fault| {
                (format!(" if crate::mutant({}) {{ return {}; }}", fault.id, fault.replacement), Some(fault.id))
            });
            self.edits.insert(block.brace_token.span.open().byte_range().end, pieces.collect());
        }
        // What is chosen when it runs cannot be constant. Nothing in the core needs these functions in constants, or the copy
        // would not build.
        if let Some(constness) = &signature.constness {
            self.edits.remove(&constness.span.byte_range());
        }
    }

    fn constant(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_constant, true);
        visit(self);
        self.in_constant = before;
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let faults = self.take(Genre::BinaryOperator, node.op.span(), node.op.span());
        if matches!(node.op, BinOp::And(_)) && (has_let(&node.left) || has_let(&node.right)) {
            self.leave(faults, BESIDE_LET);
        } else {
            let [left, right] = [&node.left, &node.right].map(|side| self.text(side.span().byte_range()).to_owned());
            let others = faults.into_iter().map(|fault| {
                let operator = &fault.replacement;
                (fault.id, format!("({left}) {operator} ({right})"))
            });
            self.choose(node.span().byte_range(), others.collect());
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        let faults = self.take(Genre::UnaryOperator, node.op.span(), node.op.span());
        let operand = self.text(node.expr.span().byte_range()).to_owned();
        let others = faults.into_iter().map(|fault| (fault.id, operand.clone()));
        self.choose(node.span().byte_range(), others.collect());
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_match(&mut self, node: &'ast syn::ExprMatch) {
        let caught = node.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &node.arms {
            let mut faults = self.take(Genre::MatchArm, arm.span(), arm.span());
            if !caught {
                faults = self.leave(faults, NOT_CAUGHT);
            }
            let pieces = faults.into_iter().map(|fault| (format!(" if !crate::mutant({})", fault.id), Some(fault.id)));
            self.edits.insert(arm.pat.span().byte_range().end, pieces.collect());
        }
        visit::visit_expr_match(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let Some((_, guard)) = &node.guard {
            let faults = self.take(Genre::MatchArmGuard, guard.span(), guard.span());
            if has_let(guard) {
                let (never, always): (Vec<_>, Vec<_>) =
                    faults.into_iter().partition(|fault| fault.replacement == "false");
                self.leave(always, BINDS);
                let pieces =
                    never.into_iter().map(|fault| (format!("!crate::mutant({}) && ", fault.id), Some(fault.id)));
                self.edits.insert(guard.span().byte_range().start, pieces.collect());
            } else {
                let others = faults.into_iter().map(|fault| (fault.id, fault.replacement));
                self.choose(guard.span().byte_range(), others.collect());
            }
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        let whole = node.span().byte_range();
        let mut others = Vec::new();
        for pair in node.fields.pairs() {
            let field = pair.value().span();
            let end = pair.punct().map_or(field, Spanned::span);
            for fault in self.take(Genre::StructField, field, end) {
                let before = self.text(whole.start..field.byte_range().start);
                others.push((fault.id, format!("{before}{}", self.text(end.byte_range().end..whole.end))));
            }
        }
        self.choose(whole, others);
        visit::visit_expr_struct(self, node);
    }

    // What follows is computed when it is built, and nothing can be switched there.

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.constant(|this| visit::visit_item_const(this, node));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        self.constant(|this| visit::visit_impl_item_const(this, node));
    }

    fn visit_trait_item_const(&mut self, node: &'ast syn::TraitItemConst) {
        self.constant(|this| visit::visit_trait_item_const(this, node));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.constant(|this| visit::visit_item_static(this, node));
    }

    fn visit_expr_const(&mut self, node: &'ast syn::ExprConst) {
        self.constant(|this| visit::visit_expr_const(this, node));
    }

    fn visit_variant(&mut self, node: &'ast syn::Variant) {
        self.constant(|this| visit::visit_variant(this, node));
    }

    fn visit_type(&mut self, node: &'ast syn::Type) {
        self.constant(|this| visit::visit_type(this, node));
    }

    fn visit_pat(&mut self, node: &'ast Pat) {
        self.constant(|this| visit::visit_pat(this, node));
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
        self.constant(|this| this.visit_expr(&node.len));
    }

    /// A closure in a constant runs later.
    fn visit_expr_closure(&mut self, node: &'ast syn::ExprClosure) {
        let before = std::mem::replace(&mut self.in_constant, false);
        visit::visit_expr_closure(self, node);
        self.in_constant = before;
    }
}

fn hides_its_type(output: &ReturnType) -> bool {
    struct Hidden(bool);
    impl Visit<'_> for Hidden {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut hidden = Hidden(false);
    hidden.visit_return_type(output);
    hidden.0
}

/// Whether a condition binds names: only `&&` can stand beside that, and no parentheses around it.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_)) && (has_let(&binary.left) || has_let(&binary.right)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn fault(id: u32, genre: &str, [from, to]: [usize; 2], replacement: &str) -> Value {
        let span = json!({ "start": { "line": 1, "column": from + 1 }, "end": { "line": 1, "column": to + 1 } });
        json!({ "id": id, "file": "", "genre": genre, "span": span, "replacement": replacement })
    }

    fn check(text: &str, faults: Value, expected: &str, left: &[(u32, &str)]) {
        let written = write(text, serde_json::from_value(faults).expect("faults")).expect("code");
        assert_eq!(written.text, expected);
        assert_eq!(written.left, left);
        syn::parse_file(&written.text).expect("code");
    }

    #[test]
    fn operators_keep_their_operands() {
        check(
            "fn f() { a + b * !c }",
            json!([
                fault(1, "BinaryOperator", [11, 12], "-"),
                fault(2, "BinaryOperator", [15, 16], "+"),
                fault(3, "UnaryOperator", [17, 18], ""),
            ]),
            "fn f() { (if crate::mutant(1) { (a) - (b * !c) } else { a + \
             (if crate::mutant(2) { (b) + (!c) } else { b * (if crate::mutant(3) { c } else { !c }) }) }) }",
            &[],
        );
    }

    #[test]
    fn functions_answer_before_they_begin() {
        check(
            "const fn f() -> u8 { 3 }",
            json!([fault(1, "FnValue", [21, 22], "0"), fault(2, "FnValue", [21, 22], "1")]),
            " fn f() -> u8 { if crate::mutant(1) { return 0; } if crate::mutant(2) { return 1; } 3 }",
            &[],
        );
    }

    #[test]
    fn arms_and_guards_are_switched_by_guards() {
        check(
            "fn f() { match a { 1 => b, 2 if c => d, _ => e } }",
            json!([
                fault(1, "MatchArm", [19, 26], ""),
                fault(2, "MatchArmGuard", [32, 33], "true"),
                fault(3, "MatchArmGuard", [32, 33], "false"),
            ]),
            "fn f() { match a { 1 if !crate::mutant(1) => b, \
             2 if (if crate::mutant(2) { true } else if crate::mutant(3) { false } else { c }) => d, _ => e } }",
            &[],
        );
    }

    #[test]
    fn members_are_taken_from_the_base() {
        check(
            "fn f() { A { b: 1, ..c } }",
            json!([fault(1, "StructField", [13, 18], "")]),
            "fn f() { (if crate::mutant(1) { A {  ..c } } else { A { b: 1, ..c } }) }",
            &[],
        );
    }

    #[test]
    fn what_cannot_be_switched_is_told() {
        let text = "const A: u8 = 1 + 2; fn f() { if let B = b && c {} }";
        check(
            text,
            json!([
                fault(1, "BinaryOperator", [16, 17], "-"),
                fault(2, "BinaryOperator", [43, 45], "||"),
                fault(3, "FnValue", [0, 1], "()"),
            ]),
            text,
            &[(1, IN_A_CONSTANT), (2, BESIDE_LET), (3, NOT_FOUND)],
        );
    }
}
