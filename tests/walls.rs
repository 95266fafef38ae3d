//! The walls of the house: which module may use which, and where a dependency lives.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order in which they may use each other.
const ORDER: [&str; 19] = [
    "grid",
    "counted",
    "poison",
    "simd",
    "text",
    "solver",
    "techniques",
    "canon",
    "answer",
    "solve",
    "generate",
    "explore",
    "build_info",
    "pipeline",
    "input",
    "offline",
    "service",
    "client",
    "load",
];

/// The modules of `service` in the order in which they may use each other; neighbours in a group
/// never do.
const SERVICE_ORDER: [&[&str]; 8] = [
    &["wire", "metrics", "flow_control"],
    &["net", "sched", "datasets"],
    &["http"],
    &["config"],
    &["context"],
    &["rpc"],
    &["server"],
    &["mod"],
];

/// The last of them that is pure: no input or output, no clock, no threads.
const LAST_PURE: &str = "explore";

/// Neighbours in the order that never see each other.
const STRANGERS: [(&str, &str); 3] = [("service", "offline"), ("client", "offline"), ("load", "offline")];

/// Where each dependency that shapes the house may be named.
const HOMES: &[(&str, &[&str])] = &[
    ("batsat", &["solver/propagation/learning.rs"]),
    ("memmap2", &["input/map.rs"]),
    (
        "libc",
        &[
            "bin/sudokud/access_log.rs",
            "input/map.rs",
            "offline/link.rs",
            "offline/partial.rs",
            "service/datasets.rs",
        ],
    ),
    ("rayon", &["pipeline/", "input/validate.rs"]),
    ("tonic", &["service/", "client/", "load/"]),
    ("prost", &["service/wire/", "service/rpc/", "service/http/json.rs"]),
    ("prost_reflect", &["service/http/"]),
    ("tonic_web", &["service/http/"]),
    ("tower_http", &["service/http/", "service/server.rs"]),
    ("toml", &["bin/sudokud/", "service/net/tokens.rs"]),
    ("tower", &["service/net/", "service/http/", "service/server.rs", "client/probe.rs", "client/plain.rs"]),
    ("http_body", &["service/net/", "service/http/"]),
    ("http_body_util", &["service/http/"]),
    ("futures_util", &["service/http/"]),
    ("base64", &["service/http/"]),
    ("percent_encoding", &["service/http/connect.rs"]),
    ("h2", &["client/endpoint.rs", "service/net/http2.rs"]),
    ("httpdate", &["service/net/http2.rs"]),
    ("hyper", &["bin/sudokud/admin.rs", "service/net/http1.rs"]),
    ("hyper_util", &["bin/sudokud/admin.rs", "service/net/http1.rs", "client/probe.rs", "client/plain.rs"]),
    ("opentelemetry", &["service/net/observe.rs", "bin/sudokud/export.rs"]),
    ("opentelemetry_otlp", &["bin/sudokud/export.rs"]),
    ("opentelemetry_sdk", &["service/net/observe.rs", "bin/sudokud/export.rs"]),
    ("tracing_opentelemetry", &["service/net/observe.rs", "bin/sudokud/export.rs"]),
    ("tokio_rustls", &["service/net/", "client/probe.rs", "client/handshake.rs"]),
    ("ring", &["service/net/", "client/probe.rs"]),
    ("subtle", &["service/net/"]),
    ("x509_parser", &["service/net/tls.rs"]),
    ("hdrhistogram", &["answer/costs.rs", "load/"]),
    ("console", &["bin/"]),
    ("clap", &["bin/"]),
    ("indicatif", &["bin/"]),
    ("clap_complete", &["bin/"]),
    ("clap_mangen", &["bin/"]),
    ("etcetera", &["bin/sudoku/shell/"]),
    ("rustyline", &["bin/sudoku/shell/"]),
    ("shlex", &["bin/sudoku/shell/"]),
    ("signal_hook", &["bin/"]),
    ("strsim", &["bin/sudoku/argv.rs", "bin/sudoku/shell/"]),
    ("listenfd", &["bin/sudokud/manager.rs"]),
    ("sd_notify", &["bin/sudokud/manager.rs"]),
    ("anyhow", &["bin/"]),
    ("cap_std", &["service/datasets.rs"]),
    (
        "rand",
        &[
            "answer/minimizer.rs",
            "canon/disguise.rs",
            "input/index.rs",
            "generate/",
            "client/worker.rs",
            "service/rpc/text.rs",
        ],
    ),
    ("rapidhash", &["input/prefix.rs", "offline/split.rs", "service/http/page.rs"]),
    ("plotters", &["bin/"]),
    ("plotters_backend", &["bin/"]),
    ("ab_glyph", &["bin/"]),
    ("png", &["bin/"]),
    ("bzip2", &["input/compression.rs"]),
    ("parquet", &["input/columnar/", "offline/columnar/"]),
    ("flate2", &["input/compression.rs", "input/zip.rs", "service/http/", "service/net/unpack.rs"]),
    ("lzma_rust2", &["input/compression.rs"]),
    ("zstd", &["input/compression.rs", "offline/columnar/cells.rs", "service/net/unpack.rs"]),
];

/// What the pure part of the house must not touch.
const IMPURE: &[&str] =
    &["std::fs", "std::io::std", "std::net", "std::time", "std::thread", "std::env", "tokio"];

/// The public and crate-level types whose name has another meaning elsewhere, each with the reason
/// why it keeps the name. One name a line, in alphabetical order.
#[rustfmt::skip]
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Kind", "a field's type, named by its module: `generate::Kind`, `techniques::Kind`"),
    ("Source", "the source of boards, and that of bytes"),
    ("Step", "one step of a search, and one by hand: both are shown to people under this name"),
];

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut sources = Vec::new();
    for root in ["src", "core/src"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let mut files = Vec::new();
        walk(&root, &mut files);
        for path in files {
            let relative = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            sources.push((relative, code(&fs::read_to_string(path).unwrap())));
        }
    }
    sources
}

/// The source without its comments and unit tests.
fn code(source: &str) -> String {
    let product = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    product.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The module that a file belongs to: its folder or its name.
fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let mut uses = 0;
    for (file, source) in sources() {
        let Some(own) = rank(module(&file)) else { continue };
        for part in source.split("crate::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(other) = rank(&used) else {
                panic!("{file} uses crate::{used}, which has no place in the order")
            };
            uses += 1;
            assert!(other <= own, "{file} uses {used}, which stands after it");
            assert!(!STRANGERS.contains(&(module(&file), &used)), "{file} uses {used}");
        }
    }
    assert!(uses > 30, "only {uses} uses were found: the test looks in the wrong place");
}

#[test]
fn the_modules_of_the_service_use_only_what_stands_before_them() {
    let rank = |module: &str| SERVICE_ORDER.iter().position(|group| group.contains(&module));
    let mut uses = 0;
    for (file, source) in sources() {
        let Some(inside) = file.strip_prefix("service/") else { continue };
        let own = module(inside);
        let own_rank = rank(own).unwrap_or_else(|| panic!("{file} has no place in the order"));
        for part in source.split("crate::service::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let other = rank(&used);
            uses += 1;
            let is_below = other.is_some_and(|other| other < own_rank || used == own);
            assert!(is_below, "{file} uses service::{used}, which does not stand before it");
        }
    }
    assert!(uses > 60, "only {uses} uses were found: the test looks in the wrong place");
}

#[test]
fn the_library_knows_nothing_of_the_binaries() {
    let modules: Vec<String> = sources().into_iter().map(|(file, _)| module(&file).to_owned()).collect();
    for name in &modules {
        assert!(
            ["lib", "bin"].contains(&name.as_str()) || rank(name).is_some(),
            "{name} has no place in the order"
        );
    }
}

#[test]
fn each_dependency_has_one_home() {
    for (file, source) in sources() {
        for (dependency, homes) in HOMES {
            // Not the end of another name, as `ring` is of `String`.
            let path = format!("{dependency}::");
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let named = source.match_indices(&path).any(|(at, _)| !source[..at].ends_with(is_name));
            let at_home = homes.iter().any(|home| file.starts_with(home));
            assert!(!named || at_home, "{file} uses {dependency}, which lives in {homes:?}");
        }
    }
}

#[test]
fn the_pure_part_touches_nothing() {
    for (file, source) in sources() {
        if rank(module(&file)) <= rank(LAST_PURE) && rank(module(&file)).is_some() {
            for impure in IMPURE {
                assert!(!source.contains(impure), "{file} uses {impure}");
            }
        }
    }
}

/// The name of the public or crate-level type that is defined on a line at the level of a module.
fn defined_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
    let (keyword, rest) = rest.strip_prefix("unsafe ").unwrap_or(rest).split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    ["struct", "enum", "union", "trait", "type"].contains(&keyword).then_some(&rest[..end])
}

#[test]
fn a_type_name_has_one_meaning() {
    let sources = sources();
    let mut definitions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, source) in &sources {
        for name in source.lines().filter_map(defined_type) {
            definitions.entry(name).or_default().push(file);
        }
    }
    assert!(definitions.len() > 300, "only {} types: the test looks in the wrong place", definitions.len());
    for (name, files) in &definitions {
        let is_shared = SHARED_NAMES.iter().any(|(shared, _)| shared == name);
        assert!(files.len() == 1 || is_shared, "{name} is defined in {files:?}: give one another name");
        assert!(files.len() > 1 || !is_shared, "{name} is defined once: take it off the list");
    }
    for (name, reason) in SHARED_NAMES {
        assert!(definitions.contains_key(name), "{name} is defined nowhere: take it off the list");
        assert!(!reason.is_empty(), "{name} has no reason");
    }
}

/// The profiles have to agree, because the fuzz targets otherwise build some 250 packages a second
/// time. Those of our own crates differ, so that these are built beside those of the tests.
#[test]
fn fuzz_targets_are_built_as_the_project_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let profile = |manifest: &str, until: &str| {
        let text = fs::read_to_string(root.join(manifest)).unwrap();
        let begin = text.find("[profile.dev]").unwrap();
        let end = begin + text[begin..].find(until).unwrap();
        let lines = text[begin..end].lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        profile("fuzz/Cargo.toml", "[profile.dev.package.sudoku-core]"),
        profile("Cargo.toml", "[profile.dev.package.sudoku-core]")
    );
}
