//! The limit: no run, no transition.

use serde_json::{Value, json};
use turnlatch_bench_limit::{Limit, Verdict};

use crate::Case;
use crate::core::output_schema;
use crate::timing::{Prepared, at_once, timed};

pub(crate) fn prepare(case: &Case) -> Option<Prepared> {
    if case.what != "turn" {
        return None;
    }
    let limit = Limit::new(&output_schema());
    let judge = if case.is_stream { Limit::judge_stream } else { Limit::judge_text };
    let decision = decision(judge(&limit, &case.text));
    let text = case.text.clone();
    // The core is given a text of its own for each turn, so the limit is too.
    let batch = move |calls| timed(calls, at_once(text.len()), || text.clone(), |own| judge(&limit, own));
    Some(Prepared { decision, batch: Box::new(batch) })
}

fn decision(verdict: Verdict) -> Value {
    match verdict {
        Verdict::Succeeded(items) => json!({ "status": "succeeded", "items": items }),
        Verdict::Failed => json!({ "status": "failed" }),
        Verdict::WaitingUser => json!({ "status": "waiting_user" }),
    }
}
