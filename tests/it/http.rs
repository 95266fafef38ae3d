//! docs/http.md: its commands are run, and print what it says.

use std::fs;
use std::path::Path;
use std::process::Command;

use rcgen::ExtendedKeyUsagePurpose;

use crate::harness::authority::Authority;
use crate::harness::daemon::Daemon;
use crate::harness::shown::is_shown;
use crate::harness::{Folder, SUDOKUD, piped};

/// The address in the document, in the place of which a free one is used.
const ADDRESS: &str = "127.0.0.1:50051";

/// A command of the document, and what it prints.
struct Example {
    command: String,
    printed: String,
}

/// All commands of a document, in order.
fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in document.split("```console\n").skip(1) {
        let mut continues = false;
        for line in block.split("```").next().unwrap().lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                examples.push(Example { command: command.to_owned(), printed: String::new() });
            } else {
                let last = examples.last_mut().unwrap();
                let text = if continues { &mut last.command } else { &mut last.printed };
                if continues {
                    text.push('\n');
                }
                text.push_str(line);
                if !continues {
                    text.push('\n');
                    continue;
                }
            }
            continues = line.ends_with(['\\', '|']);
        }
    }
    examples
}

#[test]
fn the_commands_of_the_document_print_what_it_shows() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("SKIPPED: there is no curl, so the commands of docs/http.md are not run");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new();
    fs::create_dir(folder.path("lists")).unwrap();
    let puzzles = fs::read_to_string(root.join("tests/fixtures/good/nine.header")).unwrap();
    folder.write("lists/six.txt", puzzles.split_once('\n').unwrap().1);
    folder.write("tokens", "a-token-of-the-document\n");
    let authority = Authority::new();
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ServerAuth, false);
    folder.write("ca.pem", &authority.pem);
    folder.write("server.pem", certificate);
    folder.write("server.key", key);

    let document = fs::read_to_string(root.join("docs/http.md")).unwrap();
    let mut daemon: Option<Daemon> = None;
    let mut variables = String::new();
    let mut calls = 0;
    for Example { command, printed } in examples(&document) {
        if let Some(flags) = command.strip_prefix("sudokud") {
            drop(daemon.take());
            let mut server = Command::new(SUDOKUD);
            server.args(flags.split_whitespace()).current_dir(folder.root());
            daemon = Some(Daemon::from_command(&mut server));
            continue;
        }
        if command.starts_with("export ") || command.starts_with("body=") {
            variables = format!("{variables}{command}\n");
            continue;
        }
        let address = daemon.as_ref().unwrap().address.to_string();
        let script = format!("{variables}{command}").replace(ADDRESS, &address);
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(folder.root());
        let output = piped(shell).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (text, shown) = (text.trim_end(), printed.trim_end());
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(is_shown(text, shown), "{command}\nprints\n{text}\nand not\n{shown}\n{complaints}");
        calls += 1;
    }
    assert!(calls > 15, "only {calls} commands were found");
}
