//! What clients and operators see of a run, and why.

pub(crate) mod explain;
pub(crate) mod timeline;
pub(crate) mod views;

#[doc(hidden)]
pub use explain::reading_steps;
pub use explain::{Explanation, WhyNot, evaluate_turn};
pub use timeline::{Replayer, TimelineEntry};
pub use views::{Allowed, AllowedRequest, InteractionView, OptionView, PendingView, QuestionView, StatusView};
