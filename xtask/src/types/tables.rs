//! What JSON Schemas of Rust types do not say: names that fit other languages, and which members go together.

use super::model::Type;

/// The types that are generated, by their names in Rust, in the order of the files.
pub(super) const ORDER: &[&str] = &[
    "Code",
    "OpenCode",
    "CodeKind",
    "CodeInfo",
    "Note",
    "Status",
    "Mode",
    "Profile",
    "SoftCompletion",
    "InterruptedTurn",
    "InteractiveProfile",
    "RunnerManifest",
    "RuntimeOptions",
    "RunRequest",
    "Limits",
    "Problem",
    "SkillView",
    "NewJob",
    "ReplyBody",
    "CancelBody",
    "Job",
    "Role",
    "Message",
    "StreamFormat",
    "Stream",
    "Usage",
    "Decoded",
    "Piece",
    "Progress",
    "Said",
    "TurnReport",
    "Event",
    "EventName",
    "Origin",
    "ResumeFrom",
    "Effect",
    "ResolutionMode",
    "Resolved",
    "Receipt",
    "Violation",
    "Evidence",
    "Gate",
    "ExplainedCheck",
    "Reason",
    "Explained",
    "Evaluation",
    "RunError",
    "StatusView",
    "InteractionKind",
    "OptionView",
    "QuestionView",
    "InteractionView",
    "PendingView",
    "InteractionRecord",
    "OwnedResources",
    "PendingEffects",
    "EffectStatus",
    "RetriesExhausted",
    "RecoveryFacts",
    "Attach",
    "RecoveryPlan",
    "AllowedRequest",
    "Allowed",
    "TimelineEntry",
    "DecisionSummary",
    "Observation",
    "Explanation",
    "WhyNot",
];

/// What hosts and users write; the core reads it, and it may be written in more ways than it is read.
pub(super) const INPUTS: &[&str] = &[
    "InteractiveProfile",
    "RunnerManifest",
    "RuntimeOptions",
    "RunRequest",
    "Limits",
    "NewJob",
    "ReplyBody",
    "CancelBody",
    "Message",
    "Stream",
    "Usage",
    "TurnReport",
    "Event",
    "RecoveryFacts",
];

/// The name of a type in other languages. Those that the DOM or Python's `typing` have are not taken a second time, and
/// what the core explains for users has the name of what is explained.
pub(super) fn public_name(rust: &str) -> &str {
    match rust {
        "Event" => "RunEvent",
        "Explained" => "Decision",
        "ExplainedCheck" => "Check",
        "InteractionView" => "Interaction",
        "Message" => "TurnMessage",
        "Mode" => "ExecutionMode",
        "OptionView" => "QuestionOption",
        "QuestionView" => "Question",
        "ResumeFrom" => "Resume",
        "Stream" => "TurnStream",
        same => same,
    }
}

/// The name of a variant of a union, by the word that selects it.
pub(super) fn variant_name<'n>(union: &str, word: &str) -> Option<&'n str> {
    Some(match (union, word) {
        ("Check", "process_failed") => "ProcessFailedCheck",
        ("Check", "attempts_left" | "attempts_exhausted") => "AttemptsCheck",
        ("Check", "artifacts_missing") => "ArtifactsMissingCheck",
        ("Check", "interaction_limit_reached") => "InteractionLimitCheck",
        ("Check", _) => "PlainCheck",
        ("RetriesExhausted", "tell") => "TurnGivenUp",
        ("RetriesExhausted", _) => "EffectKept",
        _ => return None,
    })
}

/// What is said of a variant or member for which Rust has no sentence.
pub(super) fn doc(owner: &str, member: &str) -> Option<&'static str> {
    Some(match (owner, member) {
        ("PlainCheck", "") => "A check whose reason has no parameters.",
        ("ProcessFailedCheck", "") => "The agent's process, or its host, failed the turn.",
        ("AttemptsCheck", "") => "A check of how many attempts are left.",
        ("ArtifactsMissingCheck", "") => "Files that the skill must produce are not there.",
        ("InteractionLimitCheck", "") => "The run has asked as many questions as it may.",
        ("EffectKept", "") => "Keep the effect and try again later, or forget it, because nothing depends on it.",
        ("Check", "") => "One gate's answer: `reason` selects its parameters.",
        ("Check", "reason") => "Why, as a stable word.",
        ("Check", "detail") => "The reason in a sentence.",
        ("Check", "attempt") => "The attempt that has ended.",
        ("Check", "max_attempt") => "How many attempts the run may take.",
        ("Check", "paths") => "The paths that do not exist.",
        ("Check", "interactions") => "How many questions the run has asked.",
        ("Decision", "") => "Why a turn ended as it did.",
        ("Decision", "outcome") => "What the run becomes.",
        ("Decision", "rule") => "The gate that decided.",
        ("Decision" | "Explanation", "code") => "The failure's code.",
        ("Decision", "message") => "The decision in a sentence.",
        ("Decision", "evidence") => "What the turn showed.",
        ("Decision", "warnings") => "What the user should look at.",
        ("Decision", "diagnostics") => "Details.",
        ("Decision", "checks") => "Every gate that was asked, in order. The last one decided.",
        ("Receipt", "") => "What became of a reply or a cancel.",
        ("ReplyBody", "") => "The body of a reply, which a job service takes.",
        _ => return None,
    })
}

/// Types of members that are plain strings or looser types in Rust.
pub(super) fn member_type(owner: &str, member: &str) -> Option<Type> {
    let name = |name: &str| Type::Name(name.to_owned());
    let words = |words: &[&str]| Type::Words(words.iter().map(|&word| (word.to_owned(), String::new())).collect());
    Some(match (owner, member) {
        ("AllowedRequest", "arguments") => Type::Members,
        ("CodeInfo", "code") => name("Code"),
        ("Check" | "Decision" | "Explanation" | "RunError" | "TimelineEntry", "code")
        | ("Decoded" | "TurnFinished" | "TurnReport", "failure_reason") => name("OpenCode"),
        ("DecisionSummary" | "Observation", "code") | ("Observation", "rejected") => {
            Type::Union(vec![name("Code"), words(&["OTHER"])])
        }
        ("Evaluation", "decision") => name("Decision"),
        ("Observation", "event") => Type::Union(vec![name("EventName"), words(&["unknown"])]),
        ("Piece", "role") => Type::OpenWords(Box::new(name("Role"))),
        ("RecoveryPlan", "event") => name("ProcessLost"),
        ("Resolved", "resolved_by") => words(&["user", "auto_decision", "end_of_run", "deadline"]),
        ("RunnerManifest", "output_schema" | "input_schema" | "parameter_schema") => Type::Schema,
        ("TimelineEntry", "event") => name("EventName"),
        ("TurnGivenUp", "event") => name("TurnFinished"),
        ("TurnMessage", "role") => name("Role"),
        _ => return None,
    })
}

/// One form of a type whose members go together.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    /// The members that select it, with the words that they have.
    pub(super) is: &'static [(&'static str, &'static [&'static str])],
    pub(super) required: &'static [&'static str],
    pub(super) optional: &'static [&'static str],
}

/// The name of one form of a type.
pub(super) fn form_name(of: &str, form: &Form) -> String {
    match of {
        "AllowedRequest" => form.name.to_owned(),
        of => format!("{}{of}", form.name),
    }
}

/// Whether a member that the core requires is added where it is absent: a report by itself is of the first attempt.
pub(super) fn has_default(owner: &str, member: &str) -> bool {
    matches!((owner, member), ("TurnReport", "attempt_number"))
}

/// The forms of a type. A member that some forms mention, and a form does not, is absent from that.
pub(super) fn forms(name: &str) -> &'static [Form] {
    match name {
        "Receipt" => RECEIPT,
        "StatusView" => STATUS_VIEW,
        "AllowedRequest" => ALLOWED_REQUEST,
        "TurnFinished" | "TurnReport" => TURN,
        _ => &[],
    }
}

const RECEIPT: &[Form] = &[
    Form {
        name: "Accepted",
        doc: "The reply was taken, now or before.",
        is: &[("kind", &["accepted", "duplicate"])],
        required: &["interaction_id"],
        optional: &[],
    },
    Form {
        name: "Canceled",
        doc: "The run was canceled.",
        is: &[("kind", &["canceled"])],
        required: &[],
        optional: &[],
    },
    Form {
        name: "Refused",
        doc: "The reply was refused.",
        is: &[("kind", &["conflict", "not_waiting", "unknown", "not_interactive", "too_large"])],
        required: &["code", "message", "interaction_id"],
        optional: &["pending_interaction_id"],
    },
    Form {
        name: "Stale",
        doc: "The reply came too late: its question had been resolved before.",
        is: &[("kind", &["stale"])],
        required: &["code", "message", "interaction_id", "resolved"],
        optional: &["pending_interaction_id"],
    },
    Form {
        name: "AlreadyEnded",
        doc: "There was nothing left to cancel.",
        is: &[("kind", &["already_ended"])],
        required: &["code", "message"],
        optional: &[],
    },
];

const STATUS_VIEW: &[Form] = &[
    Form {
        name: "Active",
        doc: "A run that is queued or running.",
        is: &[("status", &["queued", "running"])],
        required: &[],
        optional: &[],
    },
    Form {
        name: "Waiting",
        doc: "A run that waits for the user.",
        is: &[("status", &["waiting_user"])],
        required: &["pending_interaction_id"],
        optional: &[],
    },
    Form {
        name: "Succeeded",
        doc: "A run that ended well.",
        is: &[("status", &["succeeded"])],
        required: &[],
        optional: &["data", "data_text"],
    },
    Form {
        name: "Failed",
        doc: "A run that ended without success.",
        is: &[("status", &["failed", "canceled"])],
        required: &["error"],
        optional: &[],
    },
];

const ALLOWED_REQUEST: &[Form] = &[
    Form {
        name: "AllowedReply",
        doc: "A reply would be taken.",
        is: &[("request", &["reply"]), ("allowed", &["true"])],
        required: &["arguments", "max_response_bytes"],
        optional: &["deadline_at", "remaining_ms"],
    },
    Form {
        name: "AllowedCancel",
        doc: "A cancel would be taken.",
        is: &[("request", &["cancel"]), ("allowed", &["true"])],
        required: &["arguments"],
        optional: &[],
    },
    Form {
        name: "RefusedRequest",
        doc: "The request would be refused.",
        is: &[("request", &["reply", "cancel"]), ("allowed", &["false"])],
        required: &["code"],
        optional: &[],
    },
];

/// A report and the event that has one, with at most one content.
const TURN: &[Form] = &[
    Form {
        name: "Text",
        doc: "A turn that left the assistant's text.",
        is: &[],
        required: &["text"],
        optional: &["text_bytes", "exit_code"],
    },
    Form {
        name: "Messages",
        doc: "A turn that left messages.",
        is: &[],
        required: &["messages"],
        optional: &["exit_code"],
    },
    Form {
        name: "Output",
        doc: "A turn whose output the host already has.",
        is: &[],
        required: &["output"],
        optional: &["exit_code"],
    },
    Form {
        name: "Stream",
        doc: "A turn of which the core decodes what the process printed. The exit code is in the stream.",
        is: &[],
        required: &["stream"],
        optional: &[],
    },
    Form { name: "Empty", doc: "A turn that left nothing.", is: &[], required: &[], optional: &["exit_code"] },
];
