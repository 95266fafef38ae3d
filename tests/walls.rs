//! The walls of the house: which module may use which, and where a dependency lives.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order in which they may use each other.
const ORDER: [&str; 20] = [
    "testing",
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
    ("der", &["service/net/tls.rs"]),
    ("hdrhistogram", &["answer/costs.rs", "load/"]),
    ("console", &["bin/"]),
    ("clap", &["bin/"]),
    ("indicatif", &["bin/"]),
    ("clap_complete", &["bin/"]),
    ("clap_mangen", &["bin/"]),
    ("etcetera", &["bin/sudoku/shell/"]),
    ("rustyline", &["bin/sudoku/shell/"]),
    ("shlex", &["bin/sudoku/shell/"]),
    ("nix", &["bin/sudoku/cli/interrupt.rs"]),
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

/// The most lines of code of a function.
const MAX_FUNCTION_LINES: usize = 70;

/// The functions that are longer, each with what makes it long. One a line, in alphabetical order.
#[rustfmt::skip]
const LONG_FUNCTIONS: &[(&str, &str)] = &[
    ("answer/block_solver.rs answer_kept", "one answer of a puzzle, column by column"),
    ("bin/sudoku/bench/mod.rs run", "the steps of a run, in order"),
    ("bin/sudoku/generate.rs run", "the steps of a run, in order"),
    ("bin/sudoku/shell/session.rs execute", "a case for each command"),
    ("service/server.rs run", "the layers of the server, from the outside in"),
    ("solver/boxes/board.rs infer", "one pass of inference, step by step"),
    ("solver/boxes/search.rs search", "one loop over the states of a search"),
    ("solver/dancing_links.rs run", "one loop, as the algorithm is written down"),
    ("solver/propagation/search.rs run", "one loop over the states of a search, restarts among them"),
];

/// The types whose name has another meaning elsewhere, each with the reason why it keeps the name.
/// One name a line, in alphabetical order.
#[rustfmt::skip]
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Avx2", "the vectors of one instruction set, in each of two kernels"),
    ("Kind", "a field's type, named by its module: `generate::Kind`, `techniques::Kind`"),
    ("Neon", "the vectors of one instruction set, in each of two kernels"),
    ("Source", "the source of boards, and that of bytes"),
    ("Step", "one step of a search, and one by hand: both are shown to people under this name"),
    ("Words", "the portable vectors, in each of two kernels"),
];

/// The files of the project other than unit tests, with their code.
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
            if !relative.ends_with("tests.rs") {
                sources.push((relative, code(&fs::read_to_string(path).unwrap())));
            }
        }
    }
    sources
}

/// The source without its comments and unit tests.
fn code(source: &str) -> String {
    let product = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
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

/// The name of the type that is defined on a line at the level of a module.
fn defined_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let rest = rest.trim_start_matches(' ');
    let indent = line.len() - line.trim_start().len();
    let (keyword, rest) = rest.strip_prefix("unsafe ").unwrap_or(rest).split_once(' ')?;
    let is_type = ["struct", "enum", "union", "trait", "type"].contains(&keyword) && indent == 0;
    is_type.then(|| identifier(rest))
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[test]
fn a_type_name_has_one_meaning() {
    let sources = sources();
    let mut definitions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, source) in &sources {
        for name in source.lines().filter_map(defined_type) {
            definitions.entry(name).or_default().insert(file);
        }
    }
    assert!(definitions.len() > 600, "only {} types: the test looks in the wrong place", definitions.len());
    definitions.retain(|_, files| files.len() > 1);
    let known: BTreeSet<&str> = SHARED_NAMES.iter().map(|(name, _)| *name).collect();
    for (name, files) in &definitions {
        assert!(known.contains(name), "{name} is defined in {files:?}: give one another name");
    }
    for name in known {
        assert!(definitions.contains_key(name), "{name} is not defined twice: take it off the list");
    }
    assert!(SHARED_NAMES.iter().all(|(_, reason)| !reason.is_empty()));
}

/// The name and the number of lines of each function, as `cargo fmt` lays them out.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut functions = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let body = line.trim_start();
        let indent = &line[..line.len() - body.len()];
        let Some((before, rest)) = body.split_once("fn ") else { continue };
        let words = ["async", "const", "extern", "pub", "pub(crate)", "pub(super)", "unsafe"];
        if !before.split_whitespace().all(|word| words.contains(&word) || word.starts_with('"')) {
            continue;
        }
        let is_last = |line: &&str| match line.strip_prefix(indent) {
            Some(rest) => rest.starts_with('}') || !rest.starts_with(' ') && rest.ends_with([';', '}']),
            None => false,
        };
        let length = lines[first..].iter().position(is_last).expect("a function ends") + 1;
        functions.push((identifier(rest), length));
    }
    functions
}

#[test]
fn a_function_fits_on_a_page() {
    let (mut all, mut long) = (0, Vec::new());
    for (file, source) in &sources() {
        for (name, lines) in functions(source) {
            all += 1;
            if lines > MAX_FUNCTION_LINES {
                long.push((format!("{file} {name}"), lines));
            }
        }
    }
    assert!(all > 4000, "only {all} functions: the test looks in the wrong place");
    for (name, lines) in &long {
        let is_known = LONG_FUNCTIONS.iter().any(|(known, _)| known == name);
        assert!(is_known, "{name} has {lines} lines: part it, or say why not");
    }
    for (known, reason) in LONG_FUNCTIONS {
        assert!(long.iter().any(|(name, _)| name == known), "{known} is short: take it off the list");
        assert!(!reason.is_empty(), "{known} has no reason");
    }
}

/// The first names of the paths behind each `prefix`: of one, or of all in braces.
fn names_behind<'a>(source: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in source.match_indices(prefix) {
        let is_part = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &source[at + prefix.len()..];
        let Some(group) = rest.strip_prefix('{').filter(|_| !is_part) else {
            names.extend((!is_part).then(|| identifier(rest)));
            continue;
        };
        let (mut depth, mut is_first) = (0, true);
        for (at, sign) in group.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => is_first = true,
                _ if depth == 0 && is_first && !sign.is_whitespace() => {
                    names.push(identifier(&group[at..]));
                    is_first = false;
                }
                _ => {}
            }
        }
    }
    names
}

/// Which of the files and folders in a folder each of them uses. What the folder's head hands on is
/// looked up there; the head itself is none of them.
fn uses_within<'a>(folder: &str, sources: &'a [(String, String)]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let inside = |file: &'a str| file.strip_prefix(folder)?.strip_prefix('/');
    let heads = ["mod", "main", "lib"];
    let units: BTreeSet<&str> = sources
        .iter()
        .filter_map(|(file, _)| Some(module(inside(file)?)))
        .filter(|u| !heads.contains(u))
        .collect();
    let mut handed_on: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, head) in sources.iter().filter(|(file, _)| inside(file) == Some("mod.rs")) {
        for &unit in &units {
            for prefix in [format!("use {unit}::"), format!("use self::{unit}::")] {
                handed_on.extend(names_behind(head, &prefix).into_iter().map(|name| (name, unit)));
            }
        }
    }
    let program = folder.strip_prefix("bin/sudokud").or_else(|| folder.strip_prefix("bin/sudoku"));
    let path = match program {
        Some(rest) => rest.trim_start_matches('/').replace('/', "::"),
        None => folder.replace('/', "::"),
    };
    let absolute = if path.is_empty() { "crate::".to_owned() } else { format!("crate::{path}::") };
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, source) in sources {
        let Some(unit) = inside(file).map(module).filter(|unit| units.contains(unit)) else { continue };
        let depth = inside(file).unwrap().trim_end_matches("/mod.rs").matches('/').count();
        for prefix in [absolute.clone(), "super::".repeat(depth + 1)] {
            for name in names_behind(source, &prefix) {
                let used = units.get(name).or_else(|| handed_on.get(name));
                uses.entry(unit).or_default().extend(used.filter(|used| **used != unit));
            }
        }
    }
    uses
}

#[test]
fn the_files_of_a_folder_use_each_other_in_no_circle() {
    let sources = sources();
    let folders: BTreeSet<&str> =
        sources.iter().filter_map(|(file, _)| Some(file.rsplit_once('/')?.0)).collect();
    assert!(folders.len() > 30, "only {} folders: the test looks in the wrong place", folders.len());
    for folder in folders {
        let mut reached = uses_within(folder, &sources);
        loop {
            let before = reached.clone();
            for all in reached.values_mut() {
                let further: Vec<&str> =
                    all.iter().filter_map(|u| before.get(u)).flatten().copied().collect();
                all.extend(further);
            }
            if reached == before {
                break;
            }
        }
        let circle: Vec<&str> =
            reached.iter().filter(|(unit, all)| all.contains(*unit)).map(|(unit, _)| *unit).collect();
        assert!(circle.is_empty(), "in {folder}, {circle:?} use each other in a circle");
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
    assert_eq!(profile("fuzz/Cargo.toml", "\nsudoku-core ="), profile("Cargo.toml", "\nsudoku-core ="));
}
