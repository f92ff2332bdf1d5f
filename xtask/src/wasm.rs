//! Compiles `bindings-wasm` and generates the glue that lets JavaScript call it.

use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm";
/// What the generator of the glue makes of a wasm file.
const GLUED: &str = "turnlatch_bg.wasm";

/// A form that `bindings-wasm` is built in.
struct Form {
    name: &'static str,
    extra: &'static [&'static str],
    /// What it changes in the profile. One profile, because Cargo keeps what it compiles for itself, such as macros, by profile.
    profile: &'static [&'static str],
    flags: Flags,
}

/// How the compiler is called. Forms with the same flags share what is compiled on the way, and are built one after another.
struct Flags {
    /// The folder of what they share: with other flags in the same one, Cargo would compile it all anew each time.
    parts: &'static str,
    rust: &'static [&'static str],
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

/// Each browser that can load the schema engine, whose dependencies ask for instructions on 16 bytes at once anyway, has them.
const FOR_BROWSERS: Flags =
    Flags { parts: "wasm-parts-browsers", rust: &[COMPACT_DIGESTS, SIXTEEN_AT_ONCE], panics: Panics::Trap };
const FOR_OLD_BROWSERS: Flags =
    Flags { parts: "wasm-parts-old-browsers", rust: &[COMPACT_DIGESTS], panics: Panics::Trap };
/// Every version of Node that the package is for has those instructions too.
const FOR_NODE: Flags = Flags { parts: "wasm-parts-node", rust: &[SIXTEEN_AT_ONCE], panics: Panics::Tell };

/// For browsers, by size.
const SMALL: Form = Form { name: "wasm-size", extra: &[], profile: &[], flags: FOR_BROWSERS };
/// For Node. It is read from disk, so its size does not matter.
const FAST: Form =
    Form { name: "wasm-speed", extra: &["--features", "fast"], profile: &["opt-level=3"], flags: FOR_NODE };
/// Without the schema engine.
const SLIM: Form = Form {
    name: "wasm-slim",
    extra: &["--no-default-features", "--features", "slim"],
    profile: &[],
    flags: FOR_OLD_BROWSERS,
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
    if is_newer(&out.join(GLUED), &wasm) {
        return Ok(());
    }
    // It takes its place when it is whole and has been looked at, so that nothing else passes for up to date.
    let part = bindings().join("build").join(format!("{}.part", form.name));
    remove(&part)?;
    Bindgen::new()
        .input_path(&wasm)
        .out_name("turnlatch")
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        // For `reset()`: after a panic, a fresh instance of the same module replaces the broken one.
        .reset_state_function(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(&part))
        .map_err(|error| format!("wasm-bindgen: {error:#}"))?;
    no_machine_paths(&part.join(GLUED))?;
    remove(&out)?;
    std::fs::rename(&part, &out).map_err(|error| format!("{}: {error}", out.display()))
}

fn remove(folder: &Path) -> Result<(), String> {
    if !folder.exists() {
        return Ok(());
    }
    std::fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Whether it was made of this, and by this very program.
fn is_newer(made: &Path, of: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let program = std::env::current_exe().ok();
    time(made).is_some_and(|made| {
        [Some(of), program.as_deref()].iter().all(|source| source.and_then(time).is_some_and(|source| source < made))
    })
}

/// Runs a command of cargo in this form, and returns the folder with what came of it.
fn compile(form: &Form, command: &[&str]) -> Result<PathBuf, String> {
    let target = repository().join("target").join(form.name);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(command).args(["--locked", "--target", TARGET, "--profile", PROFILE]);
    for setting in form.profile {
        cargo.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
    }
    // In the new layout every part has a place of its own; otherwise what one form has linked would pass for what another has.
    // Neither that nor building the standard library is stable yet, so the toolchain, whose version is pinned, has to be told
    // that we know.
    cargo.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-dir-new-layout");
    if matches!(form.flags.panics, Panics::Trap) {
        cargo.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
    }
    let status = cargo
        .current_dir(repository())
        .env("CARGO_BUILD_BUILD_DIR", repository().join("target").join(form.flags.parts))
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&form.flags)?)
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !status.success() {
        return Err(format!("cargo {} of {} failed", command.join(" "), form.name));
    }
    Ok(target.join(TARGET).join(PROFILE))
}

/// Panics name source files; the places of this machine are no part of the package.
fn rust_flags(flags: &Flags) -> Result<String, String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| format!("rustc does not start: {error}"))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let trap: &[&str] = match flags.panics {
        Panics::Tell => &[],
        Panics::Trap => &["-Zunstable-options", "-Cpanic=immediate-abort"],
    };
    let own = flags.rust.iter().chain(trap).map(|&flag| flag.to_owned());
    let all = [
        remap(&home(), "home"),
        remap(&cargo_home(), "crates"),
        remap(&sysroot, "rust"),
        remap(&repository(), "turnlatch"),
    ];
    Ok(all.into_iter().chain(own).collect::<Vec<_>>().join("\x1f"))
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
