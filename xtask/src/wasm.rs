//! Compiles `bindings-wasm` and generates the glue that lets JavaScript call it.

use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// A form that `bindings-wasm` is built in.
struct Form {
    name: &'static str,
    profile: &'static str,
    extra: &'static [&'static str],
    rust_flags: &'static [&'static str],
    panics: Panics,
}

/// What is left of a panic.
enum Panics {
    /// Its message.
    Tell,
    /// A trap and nothing else: every message, with the code that would write it, is left out. That is a tenth of what
    /// browsers would download. The standard library has such messages too, so it is built anew, for size.
    Trap,
}

/// For browsers. Each that can load the schema engine, whose dependencies ask for instructions on 16 bytes at once anyway, has
/// them.
const SMALL: Form = Form {
    name: "wasm-size",
    profile: "wasm-browser",
    extra: &[],
    rust_flags: &[COMPACT_DIGESTS, SIXTEEN_AT_ONCE],
    panics: Panics::Trap,
};
/// For Node, every version of which that the package is for has them too.
const FAST: Form = Form {
    name: "wasm-speed",
    profile: "wasm-speed",
    extra: &["--features", "fast"],
    rust_flags: &[SIXTEEN_AT_ONCE],
    panics: Panics::Tell,
};
/// Without the schema engine.
const SLIM: Form = Form {
    name: "wasm-slim",
    profile: "wasm-size",
    extra: &["--no-default-features", "--features", "slim"],
    rust_flags: &[COMPACT_DIGESTS],
    panics: Panics::Trap,
};
/// With ways to break it, for tests alone: what holds a broken instance is the same in every build, and this one is made
/// in a minute. It panics as Node's does.
const BREAKABLE: Form = Form {
    name: "wasm-breakable",
    profile: "wasm-size",
    extra: &["--no-default-features", "--features", "slim,breakable,streams,panic-messages"],
    rust_flags: &[COMPACT_DIGESTS],
    panics: Panics::Tell,
};
/// The same, and it panics as those for browsers do.
const BREAKABLE_SMALL: Form = Form {
    name: "wasm-breakable-small",
    profile: "wasm-size",
    extra: &["--no-default-features", "--features", "slim,breakable,streams"],
    rust_flags: &[COMPACT_DIGESTS],
    panics: Panics::Trap,
};
/// The unrolled form of digests is some kilobytes longer, and digests are short here.
const COMPACT_DIGESTS: &str = "--cfg=sha2_backend_soft=\"compact\"";
const SIXTEEN_AT_ONCE: &str = "-Ctarget-feature=+simd128";

/// What the package is made of, each form with its glue.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn package() -> Result<(), String> {
    build_all([FAST, SMALL, SLIM])
}

/// The build without the schema engine.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn slim() -> Result<(), String> {
    build(&SLIM)
}

/// The builds for tests of broken instances.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn breakable() -> Result<(), String> {
    build_all([BREAKABLE, BREAKABLE_SMALL])
}

/// The limit that `make bench` measures the form for Node beside: compiled as that is, and on what it has compiled.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn limit() -> Result<(), String> {
    let library = ["rustc", "--package", "turnlatch-bench-limit", "--lib", "--crate-type", "cdylib"];
    compile(&FAST, &library).map(drop)
}

/// Each ends with optimising the whole on one core, so they are built beside each other.
fn build_all<const COUNT: usize>(forms: [Form; COUNT]) -> Result<(), String> {
    std::thread::scope(|scope| {
        let builds = forms.map(|form| scope.spawn(move || build(&form)));
        builds.into_iter().try_for_each(|done| done.join().unwrap_or_else(|_| Err("a build panicked".to_owned())))
    })
}

fn build(form: &Form) -> Result<(), String> {
    let command: Vec<&str> = ["build", "--package", "turnlatch-wasm"].iter().chain(form.extra).copied().collect();
    let wasm = compile(form, &command)?.join("turnlatch_wasm.wasm");
    let out = bindings().join("build").join(form.name);
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    Bindgen::new()
        .input_path(&wasm)
        .out_name("turnlatch")
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        // A broken instance is replaced by a fresh one of the same module.
        .reset_state_function(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(&out))
        .map_err(|error| format!("wasm-bindgen: {error:#}"))?;
    no_machine_paths(&out.join("turnlatch_bg.wasm"))
}

/// Runs a command of cargo in this form, and returns the folder with what came of it.
fn compile(form: &Form, command: &[&str]) -> Result<PathBuf, String> {
    // A target folder of its own: the flags are others than those of every other build, and what one form has linked
    // would be linked again after another.
    let target = repository().join("target").join(form.name);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(command);
    if matches!(form.panics, Panics::Trap) {
        // Neither is stable yet, so the toolchain, whose version is pinned, has to be told that we know.
        cargo.env("RUSTC_BOOTSTRAP", "1");
        cargo.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
    }
    let status = cargo
        .current_dir(repository())
        .args(["--locked", "--target", TARGET, "--profile", form.profile])
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(form)?)
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !status.success() {
        return Err(format!("cargo {} of {} failed", command.join(" "), form.name));
    }
    Ok(target.join(TARGET).join(form.profile))
}

/// Panics name source files; the places of this machine are no part of the package.
fn rust_flags(form: &Form) -> Result<String, String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| format!("rustc does not start: {error}"))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let trap: &[&str] = match form.panics {
        Panics::Tell => &[],
        Panics::Trap => &["-Zunstable-options", "-Cpanic=immediate-abort"],
    };
    let own = form.rust_flags.iter().chain(trap).map(|&flag| flag.to_owned());
    let flags = [
        remap(&home(), "home"),
        remap(&cargo_home(), "crates"),
        remap(&sysroot, "rust"),
        remap(&repository(), "turnlatch"),
        // Where the stack was before a call is what has to be put back when the call did not return.
        "-Clink-arg=--export=__stack_pointer".to_owned(),
    ];
    Ok(flags.into_iter().chain(own).collect::<Vec<_>>().join("\x1f"))
}

fn no_machine_paths(wasm: &Path) -> Result<(), String> {
    let bytes = std::fs::read(wasm).map_err(|error| format!("{}: {error}", wasm.display()))?;
    for path in [home(), cargo_home(), repository()] {
        let path = path.display().to_string();
        if path.len() > 1 && bytes.windows(path.len()).any(|window| window == path.as_bytes()) {
            return Err(format!("{} holds a path of this machine", wasm.display()));
        }
    }
    Ok(())
}

fn home() -> PathBuf {
    std::env::var_os("HOME").map_or_else(|| PathBuf::from("/nowhere"), PathBuf::from)
}

fn cargo_home() -> PathBuf {
    std::env::var_os("CARGO_HOME").map_or_else(|| home().join(".cargo"), PathBuf::from)
}

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn bindings() -> PathBuf {
    repository().join("bindings-wasm")
}
