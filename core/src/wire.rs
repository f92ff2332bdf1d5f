//! Data that is both written and read back: its members, or its names, are said once.

/// A struct of these members and no others.
macro_rules! record {
    ($type:ident { $($member:ident),+ $(,)? }) => {
        crate::read::readable!($type { $($member),+ });
        crate::write::writable!($type { $($member),+ });
    };
}

/// An enum without data.
macro_rules! names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        crate::read::readable_names!($type { $($name => $variant),+ });
        crate::write::writable_names!($type { $($name => $variant),+ });
    };
}

pub(crate) use {names, record};
