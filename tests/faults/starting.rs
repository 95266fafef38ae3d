//! What is in the way when the server starts.

use std::net::TcpListener;
use std::process::Command;

use crate::companion::{run, without};
use crate::harness::{Folder, SUDOKUD, piped};
use crate::row::{Row, Seen};

pub fn rows() -> Vec<Row> {
    vec![Row {
        number: 30,
        fault: "port in use, address not ours, privileged port, data directory missing or a file",
        expected: "a sentence and exit code 2 at start",
        run: start_refused,
    }]
}

fn start_refused() -> Seen {
    let sudokud = |flags: &[&str]| {
        let mut command = Command::new(SUDOKUD);
        command.args(flags);
        piped(command)
    };
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let folder = Folder::new();
    let (missing, file) = (folder.path("missing"), folder.write("file", ""));
    let advice = "Create it, or name another one with --data-dir.";
    let free = ["--listen", "127.0.0.1:0"];
    let cases = [
        (
            sudokud(&["--listen", &taken]),
            format!("{taken} is in use. Stop what listens there, or choose another address with --listen."),
        ),
        (
            // Of a block that is for documents only.
            sudokud(&["--listen", "192.0.2.1:4000", "--insecure"]),
            "192.0.2.1:4000 is not an address of this machine. Choose another one with --listen.".to_owned(),
        ),
        (
            sudokud(&[&free[..], &["--data-dir", &missing]].concat()),
            format!(
                "The data directory {missing} cannot be opened: No such file or directory (os error 2). {advice}"
            ),
        ),
        (
            sudokud(&[&free[..], &["--data-dir", &file]].concat()),
            format!("The data directory {file} cannot be opened: Not a directory (os error 20). {advice}"),
        ),
    ];
    for (mut command, sentence) in cases {
        run(&mut command).assert_refused(&format!("sudokud: {sentence}"));
    }
    let Some(mut lesser) = without("net_bind_service", &sudokud(&["--listen", "127.0.0.1:80"])) else {
        return Seen::Skipped("nothing here can take the privilege away; the others were told of".to_owned());
    };
    run(&mut lesser)
        .assert_refused("sudokud: 127.0.0.1:80 needs privileges. Choose a port above 1023 with --listen.");
    Seen::good(
        "`127.0.0.1:80 needs privileges. Choose a port above 1023 with --listen.` and so on, exit code 2",
    )
}
