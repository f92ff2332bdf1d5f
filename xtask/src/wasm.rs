//! Compiles `bindings-wasm` and generates the glue that lets JavaScript call it.

use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// What the package is made of: a small build for browsers, a fast one for Node, and one without the schema engine; each
/// with its glue.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn package() -> Result<(), String> {
    build("wasm-size", &[], &bindings().join("build/wasm-size"))?;
    build("wasm-speed", &[], &bindings().join("build/wasm-speed"))?;
    slim()
}

/// The build without the schema engine.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn slim() -> Result<(), String> {
    build("wasm-size", &["--no-default-features", "--features", "slim"], &bindings().join("build/wasm-slim"))
}

/// The same with ways to break it, for tests alone: what holds a broken instance is the same in every build, and this one
/// is made in a minute.
///
/// # Errors
/// A message, if a tool fails.
pub(crate) fn breakable() -> Result<(), String> {
    let features = ["--no-default-features", "--features", "slim,breakable,streams"];
    build("wasm-size", &features, &bindings().join("build/wasm-breakable"))
}

fn build(profile: &str, extra: &[&str], out: &Path) -> Result<(), String> {
    // A target folder of its own, because the flags are others than those of every other build.
    let target = repository().join("target/wasm");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(repository())
        .args(["build", "--locked", "--package", "turnlatch-wasm", "--target", TARGET, "--profile", profile])
        .args(extra)
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags()?)
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build --profile {profile} failed"));
    }
    let wasm = target.join(TARGET).join(profile).join("turnlatch_wasm.wasm");
    if out.exists() {
        std::fs::remove_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
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
        .and_then(|bindgen| bindgen.generate(out))
        .map_err(|error| format!("wasm-bindgen: {error:#}"))?;
    no_machine_paths(&out.join("turnlatch_bg.wasm"))
}

/// Panics name source files; the places of this machine are no part of the package.
fn rust_flags() -> Result<String, String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| format!("rustc does not start: {error}"))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let flags = [
        remap(&home(), "home"),
        remap(&cargo_home(), "crates"),
        remap(&sysroot, "rust"),
        remap(&repository(), "turnlatch"),
        // Where the stack was before a call is what has to be put back when the call did not return.
        "-Clink-arg=--export=__stack_pointer".to_owned(),
        // The unrolled form is some kilobytes longer, and digests are short here.
        "--cfg=sha2_backend_soft=\"compact\"".to_owned(),
    ];
    Ok(flags.join("\x1f"))
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
