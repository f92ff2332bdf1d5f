//! The README's host, killed in the middle of a turn and started again, begins no turn twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use turnlatch_tests::repository;

/// Notes its start, and which of those before it are alive (a zombie has no command line), and waits until it may go.
const AGENT: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
for pid in $(cat starts 2>/dev/null); do test -n "$(tr -d '\0' 2>/dev/null < /proc/$pid/cmdline)" && echo "$pid $$" >> together; done
echo $$ >> starts
while ! test -e go; do sleep 0.01; done
echo '{"answer": 42}'
"#;

#[test]
fn the_program_is_the_readme_s() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("the README");
    let section = readme.split("## Restarting by hand").nth(1).expect("the section");
    let code = section.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("its code");
    assert!(include_str!("../src/bin/restart_by_hand.rs").contains(code), "src/bin/restart_by_hand.rs has other code");
}

#[test]
fn a_turn_that_was_interrupted_is_begun_once_or_by_policy_again() {
    for (policy, told, starts) in
        [("fail", "failed ORCHESTRATOR_RESTART_INTERRUPTED\n", 1), ("retry", "succeeded -\n", 2)]
    {
        let folder = Folder::new(policy);
        let mut first = host(&folder.0, policy);
        until(|| folder.starts() == 1);
        first.kill().expect("it runs");
        first.wait().expect("it was started here");
        let second = host(&folder.0, policy);
        // The first agent is alive and holds its lock, so the second host cannot be further than that.
        until(|| waits_for_lock(second.id()));
        assert_eq!(folder.starts(), 1, "{policy}");
        fs::write(folder.0.join("go"), "").expect("a writable folder");
        let second = second.wait_with_output().expect("it was started here");
        assert_eq!(String::from_utf8_lossy(&second.stdout), told, "{policy}");
        assert_eq!(folder.starts(), starts, "{policy}");
        assert!(!folder.0.join("together").exists(), "{policy}: two agents were alive at once");
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("turnlatch-restart-{name}-{}", std::process::id()));
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("agent"), AGENT).expect("a writable folder");
        let made = Command::new("chmod").arg("+x").arg(path.join("agent")).status();
        assert!(made.is_ok_and(|status| status.success()));
        Folder(path)
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.0.join("starts")).map_or(0, |text| text.lines().count())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("go"), "");
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn host(folder: &Path, policy: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_restart_by_hand"))
        .args([folder, &folder.join("agent"), Path::new(policy)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the host starts")
}

/// Whether Linux lists the process among those that wait for a lock.
fn waits_for_lock(pid: u32) -> bool {
    let locks = fs::read_to_string("/proc/locks").expect("Linux tells of locks");
    locks.lines().any(|line| line.contains("->") && line.split(' ').any(|word| word == pid.to_string()))
}

fn until(condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "it did not happen in time");
        sleep(Duration::from_millis(5));
    }
}
