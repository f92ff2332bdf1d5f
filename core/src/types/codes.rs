//! Every stable code, once: its text, its HTTP status, what it means and what to do about it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Where a code can appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodeKind {
    /// Admission said no; there is no run.
    Refusal,
    /// A request or event was not applied; the run is unchanged.
    Rejection,
    /// The run ended without success.
    Failure,
    /// Something a person should look at; nothing was stopped.
    Warning,
    /// A detail that explains a decision.
    Diagnostic,
    /// A snapshot or journal was not loaded.
    Storage,
    /// The host's own code asked a driver for what it cannot do, or the core broke; every run is as it was.
    Hosting,
    /// A job service did not take an HTTP request; no run has seen it.
    Service,
}

/// One row of the code table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct CodeInfo {
    /// The stable text.
    pub code: &'static str,
    /// Where it can appear.
    pub kind: CodeKind,
    /// The HTTP status of a response that carries it as its error; 200 where it is part of a good answer.
    pub http: u16,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What to do about it, in one sentence.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($variant:ident $code:literal $kind:ident $http:literal $meaning:literal $remedy:literal)*) => {
        /// A stable code. Once released, a code keeps its text and meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $code)] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The stable text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $code,)*
                }
            }

            /// Where it can appear.
            pub const fn kind(self) -> CodeKind {
                match self {
                    $(Code::$variant => CodeKind::$kind,)*
                }
            }

            /// The HTTP status of a response that carries it as its error; 200 where it is part of a good answer.
            pub const fn http(self) -> u16 {
                match self {
                    $(Code::$variant => $http,)*
                }
            }

            /// The row of the table that describes this code.
            pub const fn info(self) -> CodeInfo {
                let (meaning, remedy) = match self {
                    $(Code::$variant => ($meaning, $remedy),)*
                };
                CodeInfo { code: self.as_str(), kind: self.kind(), http: self.http(), meaning, remedy }
            }
        }
    };
}

codes! {
    RequestMalformed "REQUEST_MALFORMED" Refusal 400
        "The request is not a JSON object, or names a member twice."
        "Send one JSON object with each member once."
    RunIdInvalid "RUN_ID_INVALID" Refusal 400
        "The run id is missing or is not 1 to 128 of the characters A-Z a-z 0-9 . _ : -."
        "Choose an id of those characters."
    ExecutionModeInvalid "EXECUTION_MODE_INVALID" Refusal 400
        "The execution mode is neither auto nor interactive."
        "Send auto or interactive, or leave it out for auto."
    SkillManifestInvalid "SKILL_MANIFEST_INVALID" Refusal 400
        "The skill's manifest or one of its schemas is not valid."
        "Mend the manifest; every problem is listed with its path."
    SchemaRefForbidden "SCHEMA_REF_FORBIDDEN" Refusal 400
        "A schema refers to something outside its own document."
        "Copy the referenced schema into $defs and refer to it there."
    SchemaPatternUnsupported "SCHEMA_PATTERN_UNSUPPORTED" Refusal 400
        "A pattern uses what a linear-time engine cannot do, or is too large."
        "Write the pattern without look-around and back-references, with smaller counts."
    SchemaTooComplex "SCHEMA_TOO_COMPLEX" Refusal 400
        "Checking against this schema could take unbounded work."
        "Remove references that lead back without descending, and shorten chains of nested alternatives."
    SchemaTooLarge "SCHEMA_TOO_LARGE" Refusal 400
        "A schema is larger than the limit."
        "Make the schema smaller or raise the limit."
    ManifestTooLarge "MANIFEST_TOO_LARGE" Refusal 400
        "The manifest is larger than the limit."
        "Make the manifest smaller or raise the limit."
    SkillExecutionModeUnsupported "SKILL_EXECUTION_MODE_UNSUPPORTED" Refusal 400
        "The skill does not declare the requested execution mode."
        "Request one of the declared modes."
    SkillEngineUnsupported "SKILL_ENGINE_UNSUPPORTED" Refusal 400
        "The requested engine is not among the skill's effective engines."
        "Request one of the effective engines."
    OptionUnknown "OPTION_UNKNOWN" Refusal 400
        "The request has an option that does not exist."
        "Correct the name; the nearest known one is given."
    OptionInvalid "OPTION_INVALID" Refusal 400
        "An option has a value of the wrong type or out of range."
        "Send a value of the stated kind."
    InputInvalid "INPUT_INVALID" Refusal 400
        "The request's input or parameter does not fit the skill's schema."
        "Mend the input; every violation is listed."

    EventMalformed "EVENT_MALFORMED" Rejection 400
        "The event is not one the core knows, or a field of it is missing or wrong."
        "Send the event in the documented form."
    EventUnknownAttempt "EVENT_UNKNOWN_ATTEMPT" Rejection 400
        "A turn was reported that was never started."
        "Report the attempt_number of the start_turn or inject_reply that began the turn."
    RunNotInteractive "RUN_NOT_INTERACTIVE" Rejection 400
        "A reply came for a run in mode auto."
        "Replies are for interactive runs only."
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" Rejection 409
        "The idempotency key was used before for another reply."
        "Use a new key for a new reply."
    RevisionConflict "REVISION_CONFLICT" Rejection 409
        "The run has moved on since the revision the caller expected."
        "Read the run again and decide anew."
    StaleInteraction "STALE_INTERACTION" Rejection 409
        "The question was resolved before this reply came."
        "Show how it was resolved; read the pending question, if there is one."
    RunNotWaitingUser "RUN_NOT_WAITING_USER" Rejection 409
        "The run is not waiting for anybody."
        "Read the run's status; reply when it waits."
    UnknownInteraction "UNKNOWN_INTERACTION" Rejection 409
        "The interaction id was never issued; another question is pending."
        "Reply to the pending id."
    ReplyTooLarge "REPLY_TOO_LARGE" Rejection 413
        "The reply is larger than the limit; the question stays pending."
        "Send a shorter reply, or put the text where the agent can read it."
    ValidatorMissing "VALIDATOR_MISSING" Rejection 500
        "There is a schema, and this build has no schema engine to check against it."
        "Use the build with the schema engine."
    RunAlreadyEnded "RUN_ALREADY_ENDED" Rejection 409
        "The run has ended; nothing can change it."
        "Read the run's result."

    ProcessFailed "PROCESS_FAILED" Failure 200
        "The agent's process ended with an exit code other than 0."
        "Read the agent's log."
    Timeout "TIMEOUT" Failure 200
        "The turn took longer than the host allows."
        "Give the turn more time or the agent less work."
    AuthRequired "AUTH_REQUIRED" Failure 200
        "The agent could not sign in to its model."
        "Renew the engine's credentials."
    Interrupted "INTERRUPTED" Failure 200
        "The turn was stopped from outside."
        "Start the run again."
    RateLimited "RATE_LIMITED" Failure 200
        "The model refused the turn because of a rate limit."
        "Wait, then start the run again."
    ModelError "MODEL_ERROR" Failure 200
        "The model behind the agent answered with an error."
        "Read the agent's log; start the run again."
    PermissionDenied "PERMISSION_DENIED" Failure 200
        "The agent's program rejected a permission that the agent asked for, because no user could grant it, and ended the turn."
        "Allow it in the configuration of the agent's program, or make the skill do without it."
    HostFailed "HOST_FAILED" Failure 200
        "The host could not start the turn, or hand it the reply."
        "Read the host's log; start the run again."
    OutputNotUtf8 "OUTPUT_NOT_UTF8" Failure 200
        "The agent's output is not UTF-8 text."
        "Make the agent write UTF-8."
    OutputMissing "OUTPUT_MISSING" Failure 200
        "The turn had to deliver an output object and has none."
        "Make the skill say what the final JSON object must be."
    OutputUnparsable "OUTPUT_UNPARSABLE" Failure 200
        "The turn's output is not JSON that can be taken."
        "Read the diagnostics; make the skill ask for strict JSON."
    OutputSchemaInvalid "OUTPUT_SCHEMA_INVALID" Failure 200
        "The turn's output does not fit the skill's output schema."
        "Read the violations; mend the skill or its schema."
    ArtifactMissing "ARTIFACT_MISSING" Failure 200
        "The output is good, but a file the skill must produce is not there."
        "Read which artifact is missing; mend the skill."
    InteractiveMaxAttemptExceeded "INTERACTIVE_MAX_ATTEMPT_EXCEEDED" Failure 200
        "The last allowed attempt ended without evidence of completion."
        "Raise max_attempt or make the skill finish sooner."
    InteractionLimitExceeded "INTERACTION_LIMIT_EXCEEDED" Failure 200
        "The run has asked as many questions as the host's limit allows."
        "Set max_attempt, or raise the host's limit of interactions."
    InteractionWaitTimeout "INTERACTION_WAIT_TIMEOUT" Failure 200
        "Nobody answered a sticky process in time."
        "Raise session_timeout_sec, or use the resumable profile."
    InteractionProcessLost "INTERACTION_PROCESS_LOST" Failure 200
        "The process that waited for the reply is gone."
        "Start the run again, or use the resumable profile."
    OrchestratorRestartInterrupted "ORCHESTRATOR_RESTART_INTERRUPTED" Failure 200
        "The host lost the process in the middle of a turn."
        "Start the run again, or set interrupted_turn to retry."
    CanceledByUser "CANCELED_BY_USER" Failure 200
        "The run was canceled."
        "Nothing; start a new run if that was a mistake."

    InteractiveCompletedWithoutDoneMarker "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER" Warning 200
        "The output fits the schema, so the run was completed although the agent did not say it was done."
        "Check the result; tighten the schema or the skill's instructions."
    OutputRepairedGeneric "OUTPUT_REPAIRED_GENERIC" Warning 200
        "The output was found inside other text."
        "Make the skill ask for the bare JSON object as the last message."
    DeprecatedOption "DEPRECATED_OPTION" Warning 200
        "An option was given in an older spelling."
        "Use session_timeout_sec."
    EnginesOverlap "ENGINES_OVERLAP" Warning 200
        "The manifest declares an engine that it also excludes; the engine stays excluded."
        "Remove the engine from one of the two lists."
    ManifestMemberUnknown "MANIFEST_MEMBER_UNKNOWN" Warning 200
        "The manifest has a member that means nothing there, but is named nearly like one that does, or like an option of the request."
        "Correct the name, or send the option with the request."
    OutputSchemaPermissive "OUTPUT_SCHEMA_PERMISSIVE" Warning 200
        "The output schema accepts an empty or an unrelated object, so nearly anything completes the run."
        "List required properties and set additionalProperties to false."
    OutputSchemaAcceptsAskUser "OUTPUT_SCHEMA_ACCEPTS_ASK_USER" Warning 200
        "The output schema accepts a question to the user as an output."
        "Require properties that a question does not have."
    OutputSchemaDeclaresMarker "OUTPUT_SCHEMA_DECLARES_MARKER" Warning 200
        "The output schema declares the done marker, which is taken out before the check."
        "Remove the marker from the schema."
    OutputSchemaNotObject "OUTPUT_SCHEMA_NOT_OBJECT" Warning 200
        "The output schema accepts no object, and in an agent's text only objects are found."
        "Put the value into an object, or hand it over as the turn's output."
    OutputSchemaMissing "OUTPUT_SCHEMA_MISSING" Warning 200
        "An interactive skill has no output schema, so soft completion can never happen."
        "Add an output schema, or make sure that the agent writes the done marker."

    DoneMarkerProcessFailureConflict "DONE_MARKER_PROCESS_FAILURE_CONFLICT" Diagnostic 200
        "The agent said it was done, but its process failed."
        "Trust the failure; read the agent's log."
    DoneMarkerMentioned "DONE_MARKER_MENTIONED" Diagnostic 200
        "The marker's name stands in the assistant's text, but not in a place or form that counts."
        "Nothing, if it is a quotation; else put the marker into the final JSON object."
    MultipleDoneMarkersIgnored "MULTIPLE_DONE_MARKERS_IGNORED" Diagnostic 200
        "The turn has more than one done marker; the first counts."
        "Nothing."
    OutputTooLarge "OUTPUT_TOO_LARGE" Diagnostic 200
        "The turn's text is larger than the limit and was not read."
        "Let the agent write large results to a file."
    OutputTooDeep "OUTPUT_TOO_DEEP" Diagnostic 200
        "An output candidate is nested deeper than the limit."
        "Flatten the output."
    OutputDuplicateKey "OUTPUT_DUPLICATE_KEY" Diagnostic 200
        "An output candidate names a key twice in one object."
        "Make the agent write each key once."
    OutputNumberOutOfRange "OUTPUT_NUMBER_OUT_OF_RANGE" Diagnostic 200
        "An output candidate has a number that cannot be held exactly enough."
        "Write it as a string."
    OutputLoneSurrogate "OUTPUT_LONE_SURROGATE" Diagnostic 200
        "An output candidate has half of a surrogate pair in a string."
        "Write the character itself."
    ValidationLimitExceeded "VALIDATION_LIMIT_EXCEEDED" Diagnostic 200
        "Checking the output against the schema would take too much work, so it counts as not valid."
        "Simplify the schema's alternatives, or make the output smaller."
    AskUserIgnored "ASK_USER_IGNORED" Diagnostic 200
        "A question's structure, or a field of it, could not be read and was left out."
        "Nothing; the question can be answered all the same."
    PromptTruncated "PROMPT_TRUNCATED" Diagnostic 200
        "The prompt was longer than the limit and was cut."
        "Read the whole text in the agent's log."
    OptionsTruncated "OPTIONS_TRUNCATED" Diagnostic 200
        "The question had more options than the limit; the rest was dropped."
        "Offer fewer options."
    StreamRowUnknown "STREAM_ROW_UNKNOWN" Diagnostic 200
        "The agent's stream has a row that its format does not have, as far as is known; it was not taken for anybody's words."
        "Look at the row; a newer version of the agent's program may need a newer decoder."
    StreamRowTooLong "STREAM_ROW_TOO_LONG" Diagnostic 200
        "A row of the agent's stream is longer than can be read, and was left out."
        "Have the agent's tools write large results to files."
    StreamEndedEarly "STREAM_ENDED_EARLY" Diagnostic 200
        "The agent's stream ends without the row that ends a turn."
        "Read the agent's log; a newer version of the agent's program may need a newer decoder."
    StreamMessageSuperseded "STREAM_MESSAGE_SUPERSEDED" Diagnostic 200
        "The agent's program asked its model once more, so what the model had said before was left out."
        "Nothing to do; what counts is the last answer."
    StreamFailureGuessed "STREAM_FAILURE_GUESSED" Diagnostic 200
        "The failure was read from the assistant's words, because this agent's program tells it nowhere else."
        "Read the last words; if the model itself wrote them, reword the skill."
    SessionHandleIgnored "SESSION_HANDLE_IGNORED" Diagnostic 200
        "The session's name in the agent's stream could be taken for an option of a command line."
        "The next turn begins a new session; look at what wrote the name."
    AgentSaid "AGENT_SAID" Diagnostic 200
        "Words of the agent's program about itself: a warning, or why the turn failed."
        "Read them."
    ClockWentBackwards "CLOCK_WENT_BACKWARDS" Diagnostic 200
        "The host's clock went backwards; the latest time seen was used."
        "Check the clocks of the host's machines."
    TimeInSeconds "TIME_IN_SECONDS" Diagnostic 200
        "The host gave a time in seconds after times in milliseconds; the latest time seen was used."
        "Give milliseconds since the epoch, such as int(time.time() * 1000) or Date.now()."

    SnapshotInvalid "SNAPSHOT_INVALID" Storage 422
        "The snapshot was cut, edited, or breaks an invariant."
        "Load an older snapshot, or replay the journal."
    SnapshotVersionUnsupported "SNAPSHOT_VERSION_UNSUPPORTED" Storage 422
        "The snapshot was written by a newer version."
        "Upgrade turnlatch."
    JournalInvalid "JOURNAL_INVALID" Storage 422
        "The journal was cut, edited, reordered, or joined from two runs."
        "Load the last good snapshot."
    JournalVersionUnsupported "JOURNAL_VERSION_UNSUPPORTED" Storage 422
        "The journal was written by a newer version."
        "Upgrade turnlatch."
    RunUnknown "RUN_UNKNOWN" Storage 404
        "There is no run of this id in the store, or in the driver's memory."
        "Check the id."
    RunExists "RUN_EXISTS" Storage 409
        "The store has a run of this id already."
        "Choose another id, or read the run that is there."
    StoreConflict "STORE_CONFLICT" Storage 409
        "Somebody else has saved the run meanwhile."
        "Load the run again and decide anew."

    DriverClosed "DRIVER_CLOSED" Hosting 503
        "The driver was closed; it takes no requests, and nobody waits in it any longer."
        "Make a new driver and let it recover."
    InsideCallback "INSIDE_CALLBACK" Hosting 500
        "A callback of a run waits for what cannot happen before the callback returns."
        "Wait after the callback, or in a task of its own."
    RunNotDone "RUN_NOT_DONE" Hosting 409
        "The run cannot be forgotten: it has not ended, or something is still to be done for it."
        "Wait until the run has ended and is settled."
    OtherEventLoop "OTHER_EVENT_LOOP" Hosting 500
        "The driver is used on another event loop than before."
        "Make a driver for each event loop."
    DriverExists "DRIVER_EXISTS" Hosting 500
        "The process has a driver that carries out turns already, and its engine allows one."
        "Use that driver, or open a client that carries out nothing."
    ExecutorIdInUse "EXECUTOR_ID_IN_USE" Hosting 409
        "A living worker has this id."
        "Give each worker an id of its own."
    DatabaseInUse "DATABASE_IN_USE" Hosting 409
        "The database is for one process, or for one kind of host, and another has it."
        "End the other process, or use another database."
    CorePanicked "CORE_PANICKED" Hosting 500
        "The compiled core broke in the middle of a call; nothing of it can be trusted any more."
        "Report it with the message; start again, in JavaScript by `reset()`, and load the runs that were saved."

    SkillUnknown "SKILL_UNKNOWN" Service 404
        "The service has no skill of this name."
        "Ask for the list of skills."
    QueryInvalid "QUERY_INVALID" Service 400
        "A part of the address behind the question mark, or the id of the last event, is not valid."
        "Correct the part that the message names."
    Unauthorized "UNAUTHORIZED" Service 401
        "The request has no token, or the wrong one."
        "Send the service's token as a bearer token."
    OriginForbidden "ORIGIN_FORBIDDEN" Service 403
        "The request comes from a page of another site, or was sent to another host name."
        "Use the address that the service prints."
    PathUnknown "PATH_UNKNOWN" Service 404
        "There is nothing at this path."
        "Read the service's OpenAPI document."
    MethodNotAllowed "METHOD_NOT_ALLOWED" Service 405
        "The path does not take this method."
        "Use one of the methods in the header Allow."
    BodyTooLarge "BODY_TOO_LARGE" Service 413
        "The body is larger than the service reads."
        "Send a smaller body."
    MediaTypeUnsupported "MEDIA_TYPE_UNSUPPORTED" Service 415
        "The body is not declared as JSON."
        "Send it with the content type application/json."
    ServiceStopping "SERVICE_STOPPING" Service 503
        "The service is shutting down and takes nothing new."
        "Try again when it is back; nothing that was accepted is lost."
    ServiceFailed "SERVICE_FAILED" Service 500
        "The service has made a mistake; the run is as it was."
        "Read the service's log."
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let text = String::deserialize(deserializer)?;
        Code::from_text(&text).ok_or_else(|| serde::de::Error::custom("is not one of the codes"))
    }
}

impl Code {
    /// The code with this text, if there is one.
    pub fn from_text(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A code with a sentence about this one case: a warning or a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// What it is.
    pub code: Code,
    /// What was found here.
    pub message: String,
}

impl Note {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Note {
        Note { code, message: message.into() }
    }
}

#[cfg(test)]
mod tests;
