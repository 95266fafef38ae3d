//! What the programs are made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::row::{Row, Seen};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            36,
            "two versions of a protocol stack",
            "one h2, hyper, tonic and prost in Cargo.lock",
            one_stack,
        ),
        row(36, "a licence or a source that is not wanted", "cargo-deny finds none", cargo_deny),
    ]
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn one_stack() -> Seen {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut seen = Vec::new();
    for name in ["h2", "hyper", "tonic", "prost"] {
        let head = format!("name = \"{name}\"\nversion = \"");
        let versions: Vec<&str> =
            lock.split(&head).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(versions.len(), 1, "{name} {versions:?}");
        seen.push(format!("{name} {}", versions[0]));
    }
    Seen::good(seen.join(", "))
}

fn cargo_deny() -> Seen {
    // Where CI puts it, or wherever it is.
    let own = root().join("target/tools/bin/cargo-deny");
    let program = if own.exists() { own } else { PathBuf::from("cargo-deny") };
    let deny = |arguments: &[&str]| Command::new(&program).args(arguments).current_dir(root()).output();
    if deny(&["--version"]).is_err() {
        return Seen::Skipped("cargo-deny is not installed; CI installs it and runs it".to_owned());
    }
    // Advisories take the network, and CI.
    let output = deny(&["--offline", "--locked", "check", "licenses", "bans", "sources"]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Seen::good("cargo-deny: licences, bans and sources ok; advisories are looked at in CI")
}
