//! What is in `deploy/`: its names are those of the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

use rcgen::ExtendedKeyUsagePurpose;

use crate::harness::authority::Authority;
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, SUDOKUD, fixture, stderr, succeeded, sudoku, unused_address, wait_for};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The names in a text that begin as those of metrics do.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_metric = |word: &&str| word.starts_with("sudoku_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}

/// The metrics of a server, by what its source declares.
fn declared() -> BTreeSet<String> {
    let constants =
        |line: &str| line.split_once(": &str = \"").map(|(_, name)| name.trim_end_matches("\";").to_owned());
    let sources = ["src/service/metrics.rs", "src/bin/sudokud/process.rs"].map(read).concat();
    let names: BTreeSet<String> = sources.lines().filter_map(constants).collect();
    names.into_iter().filter(|name| !metrics_in(name).is_empty()).collect()
}

fn get(address: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn alerts_the_dashboard_and_the_autoscaler_use_metrics_that_exist() {
    let declared = declared();
    assert!(declared.len() > 15, "{declared:?}");
    let mut used = BTreeSet::new();
    for file in [
        "deploy/prometheus/alerts.yaml",
        "deploy/prometheus/alerts_test.yaml",
        "deploy/prometheus/adapter.yaml",
        "deploy/grafana/sudokud.json",
        "deploy/kubernetes/service/autoscaler.yaml",
    ] {
        let names = metrics_in(&read(file));
        assert!(!names.is_empty(), "{file}");
        for name in names {
            let base = name.strip_suffix("_bucket").unwrap_or(&name);
            assert!(declared.contains(base), "{file} uses {name}, which no server has");
            used.insert(base.to_owned());
        }
    }
    // What a server tells is shown to somebody.
    let unused: Vec<_> = declared.difference(&used).collect();
    assert!(unused.is_empty(), "{unused:?} are in no dashboard");
}

/// Streams are open for as long as clients want, so their time says nothing.
#[test]
fn the_panel_of_unary_calls_has_all_unary_methods_and_no_other() {
    let contract = read("proto/sudoku/v1/sudoku.proto");
    let methods = contract.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
    let is_unary = |(_, types): &(&str, &str)| !types.contains("stream ");
    let unary = methods.map(|method| method.split_once('(').unwrap()).filter(is_unary);
    let unary = unary.map(|(name, _)| name).collect::<Vec<_>>().join("|");
    assert!(unary.starts_with("Solve|"), "{unary}");
    let label = format!("method=~\\\"{unary}\\\"");
    assert!(read("deploy/grafana/sudokud.json").contains(&label), "{label}");
}

#[test]
fn a_server_exports_the_metrics_that_it_declares() {
    let metrics = unused_address().to_string();
    let server = Daemon::start(&["--metrics-listen", &metrics]);
    let solved =
        sudoku(&["solve", fixture("good/nine.header").to_str().unwrap(), "--server", &server.url()]).output();
    succeeded(&solved.unwrap());
    // The time of a batch is known a little after its answers are.
    let text = wait_for("the time of a batch", || {
        Some(get(&metrics, "/metrics")).filter(|text| text.contains("sudoku_batch_seconds"))
    });
    let exported: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .filter(|name| !metrics_in(name).is_empty())
        .map(str::to_owned)
        .collect();
    let declared = declared();
    let unknown: Vec<_> = exported.difference(&declared).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for name in ["sudoku_puzzles_total", "sudoku_calls_total", "sudoku_batch_seconds", "sudoku_draining"] {
        assert!(exported.contains(name), "{name} is not in {exported:?}");
    }
    assert!(
        text.contains("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 0."),
        "{text}"
    );
    // What the alerts and the dashboard count by.
    for label in ["outcome=\"answered\"", "status=\"OK\"", "method=\"SolveLines\""] {
        assert!(text.contains(label), "{label} is not in {text}");
    }
}

/// The names of environment variables are those of flags, and the times fit each other.
#[test]
fn manifests_set_flags_that_exist_and_wait_long_enough() {
    let known = String::from_utf8(Command::new(SUDOKUD).arg("--help").output().unwrap().stdout).unwrap();
    for file in [
        "deploy/Dockerfile",
        "deploy/kubernetes/edge/tokens.yaml",
        "deploy/kubernetes/service/deployment.yaml",
        "deploy/systemd/sudokud.service",
    ] {
        let text = read(file);
        let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        for variable in words.filter_map(|word| word.strip_prefix("SUDOKUD_")) {
            let flag = format!("--{}", variable.to_lowercase().replace('_', "-"));
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '-');
            assert!(known.split(&flag).skip(1).any(ends), "{file}: {flag}");
        }
    }
    let deployment = read("deploy/kubernetes/service/deployment.yaml");
    let number = |before: &str| -> u64 {
        let text = deployment.split_once(before).unwrap_or_else(|| panic!("{before}")).1;
        let digits: String =
            text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    let (pause, drain) = (number("\"/bin/sleep\""), number("SUDOKUD_DRAIN_TIMEOUT"));
    assert!(pause + drain < number("terminationGracePeriodSeconds"), "{pause} + {drain}");
    // The worst case of docs/capacity.md in KiB, with two batches in flight for each core.
    let (_, limits) = deployment.split_once("limits:\n").unwrap();
    assert!(limits.contains("memory: 1Gi\n") && deployment.contains("value: 640KiB\n"));
    let batches = 2 * number("limits:\n");
    let call = 1024 + (batches + 5) * 4 * number("SUDOKUD_MAX_MESSAGE_BYTES");
    let worst = (40 << 10) + 4096 * 23 + number("SUDOKUD_MAX_STREAMS") * call;
    assert!(worst < 1 << 20, "{worst} KiB");
    let shards = read("deploy/kubernetes/job/shards.yaml");
    let count = shards.split_once("completions: ").unwrap().1.lines().next().unwrap();
    for file in ["shards.yaml", "join.yaml"] {
        let text = read(&format!("deploy/kubernetes/job/{file}"));
        assert!(text.contains(&format!("- name: SHARDS\n              value: \"{count}\"\n")), "{file}");
    }
}

/// The variables of a server that a manifest sets, with their values.
fn variables(text: &str) -> BTreeMap<String, String> {
    let unquoted = |value: &str| value.trim().trim_matches('"').to_owned();
    // Behind `limits:` of a container, which a variable may refer to.
    let limit = |name: &str| {
        let found = text.split_once("limits:").unwrap().1;
        unquoted(found.split_once(&format!("{name}:")).unwrap().1.lines().next().unwrap())
    };
    let mut set = BTreeMap::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let words =
            line.strip_prefix("ENV ").or_else(|| line.strip_prefix("Environment=")).unwrap_or_default();
        // Those of a container that is started by hand.
        let by_hand = line.split("-e ").skip(1).filter_map(|rest| rest.split(' ').next());
        for (name, value) in words.split(' ').chain(by_hand).filter_map(|word| word.split_once('=')) {
            set.insert(unquoted(name), unquoted(value));
        }
        if let Some(name) = line.strip_prefix("- name: SUDOKUD_") {
            let value = match lines.next().unwrap().split_once(':').unwrap() {
                ("value", value) => unquoted(value),
                _ => {
                    let resource = lines.find_map(|line| line.strip_prefix("resource: limits.")).unwrap();
                    limit(resource)
                }
            };
            set.insert(format!("SUDOKUD_{name}"), value);
        }
    }
    set.retain(|name, _| name.starts_with("SUDOKUD_"));
    set
}

/// Only the ports are others.
#[test]
fn the_image_that_is_built_is_the_one_that_the_manifests_name() {
    let image = concat!("sudoku:", env!("CARGO_PKG_VERSION"));
    for path in ["deploy/README.md", "deploy/Dockerfile"] {
        let built = read(path).contains(&format!("-t {image} ."));
        assert!(built, "{path} builds no {image}");
    }
    for folder in ["service", "job"] {
        let tag = format!("newTag: {}\n", env!("CARGO_PKG_VERSION"));
        assert!(read(&format!("deploy/kubernetes/{folder}/kustomization.yaml")).contains(&tag), "{folder}");
    }
}

#[test]
fn the_settings_of_every_manifest_start_a_server() {
    let folder = Folder::new();
    let readme = read("deploy/README.md");
    let file = readme.split_once("echo '").unwrap().1;
    let (settings, rest) = file.split_once("' > /etc/sudokud/sudokud.toml\n").unwrap();
    assert!(rest.trim_start().starts_with("echo 'SUDOKUD_CONFIG="), "{rest}");
    let listen = settings.strip_prefix("listen = \"").unwrap().trim_end_matches('"');
    let by_file =
        [("SUDOKUD_CONFIG", folder.write("sudokud.toml", settings)), ("SUDOKUD_LISTEN", listen.to_owned())];
    let unit = read("deploy/systemd/sudokud.service");
    assert!(unit.contains("\nExecStart=/usr/local/bin/sudokud\n"), "the test knows of no arguments");
    let manifests = [
        ("deployment.yaml", variables(&read("deploy/kubernetes/service/deployment.yaml"))),
        ("Dockerfile", variables(&read("deploy/Dockerfile"))),
        ("sudokud.service", variables(&unit)),
        ("sudokud.toml", by_file.map(|(name, value)| (name.to_owned(), value)).into()),
    ];
    for (manifest, mut set) in manifests {
        let any_port = |address: &str| format!("{}:0", address.rsplit_once(':').unwrap().0);
        if let Some(metrics) = set.get_mut("SUDOKUD_METRICS_LISTEN") {
            *metrics = any_port(metrics);
        }
        let address = set.get("SUDOKUD_LISTEN").map_or("127.0.0.1:0".to_owned(), |address| any_port(address));
        let server = Daemon::listen(Command::new(SUDOKUD).envs(&set), &address)
            .unwrap_or_else(|words| panic!("{manifest}: {words}"));
        assert_eq!(probe(&[&server.address.to_string()]), (Some(0), String::new()), "{manifest}");
        if set.contains_key("SUDOKUD_METRICS_LISTEN") {
            assert_eq!(server.get("/readyz").0, 200, "{manifest}");
        }
    }
}

fn probe(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(SUDOKUD).arg("--probe").args(args).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), stderr(&output))
}

#[test]
fn a_probe_tells_a_server_that_serves_from_all_else() {
    let server = Daemon::with_figures(&[]);
    let address = server.address.to_string();
    for args in [&[&*address][..], &[&server.url()], &["--listen", &address]] {
        assert_eq!(probe(args), (Some(0), String::new()), "{args:?}");
    }
    // A port that nothing has.
    let free = unused_address().to_string();
    let none = format!("sudokud: No server answers at {free}: Connection refused (os error 111)\n");
    assert_eq!(probe(&[&free]), (Some(1), none));
    // Something that accepts and is silent: it is given up after three seconds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = silent.local_addr().unwrap().to_string();
    let sentence = format!("sudokud: The server at {name} did not answer within 3 seconds.\n");
    assert_eq!(probe(&[&name]), (Some(1), sentence));
    assert_eq!(probe(&["nowhere"]).0, Some(2));
    // Servers that were asked with TLS and speak none, or refuse the handshake with an alert.
    let refused = "it refused the TLS handshake with the alert HandshakeFailure.".to_owned();
    let plain = format!("it does not speak TLS. Ask http://{address}.");
    let alert = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = alert.local_addr().unwrap().to_string();
    let refuses = std::thread::spawn(move || {
        let (mut socket, mut asked) = (alert.accept().unwrap().0, [0; 4096]);
        assert!(socket.read(&mut asked).unwrap() > 0);
        socket.write_all(b"\x15\x03\x03\0\x02\x02\x28").unwrap();
        while socket.read(&mut asked).is_ok_and(|length| length > 0) {}
    });
    for (address, message) in [(&address, plain), (&refusing, refused)] {
        let sentence = format!("sudokud: What answers at {address} does not tell its health: {message}\n");
        assert_eq!(probe(&[&format!("https://{address}")]), (Some(1), sentence));
    }
    refuses.join().unwrap();

    // While it drains, with a connection that is open: connected before, so that it still answers.
    let held = hold(server.address);
    server.signal("-TERM");
    let (code, said) = probe(&[&address]);
    assert_eq!(code, Some(1), "{said}");
    drop(held);
}

/// A connection that keeps a server from ending at once.
fn hold(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    (&socket).write_all(b"PRI * HTTP").unwrap();
    socket
}

#[test]
fn a_probe_asks_on_a_socket_in_the_file_system() {
    let folder = Folder::new();
    let socket = format!("unix:{}", folder.path("s.sock"));
    let _server = Daemon::start(&["--listen", &socket]);
    assert_eq!(probe(&[&socket]), (Some(0), String::new()));
    assert_eq!(probe(&["--listen", &socket]), (Some(0), String::new()));
    let (code, told) = probe(&["unix:/nowhere/s.sock"]);
    assert_eq!(code, Some(1));
    assert!(told.starts_with("sudokud: No server answers at unix:/nowhere/s.sock: "), "{told}");
}

/// With TLS the certificate is not looked at; where clients need one, `/readyz` is asked instead.
#[test]
fn a_probe_needs_no_certificate() {
    let authority = Authority::new();
    let folder = Folder::new();
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ServerAuth, true);
    let (certificate, key) = (folder.write("server.pem", certificate), folder.write("server.key", key));
    let tls = ["--tls-cert", &certificate, "--tls-key", &key];
    let server = Daemon::start(&tls);
    let address = server.address.to_string();
    for args in [&["--listen", &address][..], &tls, &[&format!("https://{address}")]] {
        let mut args = args.to_vec();
        if args[0] == "--listen" {
            args.extend(tls);
        } else if args.len() == tls.len() {
            args.insert(0, &address);
        }
        assert_eq!(probe(&args), (Some(0), String::new()), "{args:?}");
    }
    let sentence = format!("sudokud: The server at {address} speaks TLS: ask https://{address}.\n");
    for plain in [&*address, &format!("http://{address}")] {
        assert_eq!(probe(&[plain]), (Some(1), sentence.clone()));
    }
    let loaded = sudoku(&["load", "--server", &server.url(), "--duration", "5"]).output().unwrap();
    assert_eq!(loaded.status.code(), Some(2));
    let told = String::from_utf8(loaded.stderr).unwrap();
    assert!(told.ends_with(&format!("This server speaks TLS: use https://{address}.\n")), "{told}");

    let ca = folder.write("ca.pem", &authority.pem);
    let metrics = unused_address().to_string();
    let own = [&tls[..], &["--client-ca", &ca, "--metrics-listen", &metrics]].concat();
    let server = Daemon::start(&own);
    assert_eq!(probe(&own), (Some(0), String::new()));
    let address = server.address.to_string();
    let (code, told) = probe(&[&[&*address][..], &tls].concat());
    assert_eq!(code, Some(1));
    let sentence =
        format!("sudokud: The server at {address} wants a certificate of its clients, and a probe ");
    assert!(told.starts_with(&sentence) && told.contains("metrics-listen"), "{told}");
    let sentence = |what: &str| {
        (Some(1), format!("sudokud: What answers at {metrics} does not tell its health: {what}\n"))
    };
    let advice =
        "it is a port for metrics, and serves no health. Health is told at the addresses of --listen.";
    assert_eq!(probe(&[&metrics]), sentence(advice));
    assert_eq!(probe(&[&[&*metrics][..], &tls].concat()), sentence(advice));
    let loaded = sudoku(&["load", "--server", &metrics, "--duration", "5"]).output().unwrap();
    let told = String::from_utf8(loaded.stderr).unwrap();
    let wrong = format!("What answers at {metrics} speaks HTTP/1.1 and no gRPC: ");
    assert!(told.contains(&wrong), "{told}");

    // Nor on a socket of the machine, which takes no TLS.
    let socket = format!("unix:{}", folder.path("s.sock"));
    let own = [&tls[..], &["--client-ca", &ca, "--listen", &socket]].concat();
    let _server = Daemon::start(&own);
    assert_eq!(probe(&[&own[..], &["--listen", "127.0.0.1:0"]].concat()), (Some(0), String::new()));
    let (code, told) = probe(&[&format!("https://{socket}")]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains(&format!("`https://{socket}` is no address to probe.")), "{told}");
}
