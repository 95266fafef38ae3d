//! What is said of the code itself: fuzz targets and sanitizers.

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

use crate::harness::Random;
use crate::row::{Row, Seen};

#[path = "../../fuzz/src/lib.rs"]
mod targets;

/// Fewer seeds than this are none to speak of.
const LEAST_SEEDS: usize = 15;

/// The changed seeds that every fuzz target is given as well.
const CHANGED_SEEDS: usize = 150;

/// The files that have `unsafe` in them, and the tests that `.ci/sanitize` runs for their sake.
const UNSAFE: [(&str, &str); 11] = [
    ("src/input/map.rs", "input::"),
    // Its dispatch is entered by the unit tests of every module that reads or writes text.
    ("core/src/simd.rs", "--workspace --lib"),
    ("core/src/solver/boxes/avx2.rs", "boxes::"),
    // Those for Arm are entered where the tests run there.
    ("core/src/solver/boxes/neon.rs", "boxes::"),
    ("core/src/solver/lanes/avx2.rs", "lanes::"),
    ("core/src/solver/lanes/avx512.rs", "lanes::"),
    ("core/src/solver/lanes/avx512vl.rs", "lanes::"),
    ("core/src/solver/lanes/entries.rs", "lanes::"),
    ("core/src/solver/lanes/neon.rs", "lanes::"),
    ("core/src/solver/lanes/sse2.rs", "lanes::"),
    ("core/src/solver/singles/x86.rs", "singles::"),
];

pub fn rows() -> Vec<Row> {
    vec![
        Row {
            number: 37,
            fault: "anything whatever as a text, as a file, as messages, as requests, as puzzles",
            expected: "what the fuzz targets hold true, for every seed and for some that are changed",
            run: seeds,
        },
        Row {
            number: 38,
            fault: "memory touched by mistake where the code is `unsafe`",
            expected: "nothing that AddressSanitizer sees in the tests of that code",
            run: sanitized,
        },
    ]
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs every fuzz target over its seeds, and over changed ones: the same in each run, so that a change
/// of the code is not stopped by what another one has to answer for.
fn seeds() -> Seen {
    let mut counts = Vec::new();
    for (name, run) in targets::TARGETS {
        let folder = root().join("fuzz/seeds").join(name);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let seeds: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).unwrap()).collect();
        for (path, seed) in files.iter().zip(&seeds) {
            // What is printed is shown where a target panics.
            println!("{}", path.display());
            run(seed);
        }
        let mut random = Random(37);
        for _ in 0..CHANGED_SEEDS {
            let changed = changed(&seeds, &mut random);
            println!("{name}: {}", changed.escape_ascii());
            run(&changed);
        }
        assert!(files.len() >= LEAST_SEEDS, "{name} has {} seeds", files.len());
        counts.push(format!("{name} {}", files.len()));
    }
    Seen::good(format!(
        "seeds: {}, and {CHANGED_SEEDS} that are changed of each; `just fuzz TARGET` goes on from them",
        counts.join(", ")
    ))
}

/// One of the seeds after some of the changes that fuzzers make.
fn changed(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(16)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, b'\n', b'0', b'"', 0x7F, 0x80, 0xFF][random.below(8)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            4 => bytes.insert(at, random.next().to_le_bytes()[0]),
            _ => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes.truncate(4096);
    bytes
}

/// Looks whether all that is unsafe has tests under a sanitizer, and at the note that these have
/// left when they passed, which has the hashes of the sources.
fn sanitized() -> Seen {
    let recipe = fs::read_to_string(root().join(".ci/sanitize")).unwrap();
    let mut found: Vec<PathBuf> = Vec::new();
    for sources in ["src", "core/src"] {
        find_unsafe(&root().join(sources), &mut found);
    }
    found.sort();
    let mut expected = UNSAFE.map(|(file, _)| root().join(file));
    expected.sort();
    assert_eq!(found, expected, "the files that have unsafe blocks");
    for (file, test) in UNSAFE {
        assert!(recipe.contains(test), "the tests {test} of {file} are not run by .ci/sanitize");
    }

    let note = root().join("target/sanitized.txt");
    let Ok(passed) = fs::read_to_string(&note) else {
        return Seen::Skipped("`just sanitize` has not been run here".to_owned());
    };
    // By their content, because a checkout gives files any date.
    let is_noted =
        |(file, _): (&str, &str)| passed.contains(&format!("{}  {file}\n", sha256(&root().join(file))));
    if !UNSAFE.into_iter().all(is_noted) {
        return Seen::Skipped("the code was changed since `just sanitize` was run".to_owned());
    }
    let counts = passed.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    let tests: u32 = counts.map(|count| count.parse::<u32>().unwrap()).sum();
    assert!(tests > 100, "only {tests} tests were run under AddressSanitizer: {passed}");
    Seen::good(format!("{tests} tests passed under AddressSanitizer"))
}

/// The hash of a file, as `sha256sum` writes it.
fn sha256(path: &Path) -> String {
    let hash = digest(&SHA256, &fs::read(path).unwrap());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sources that have unsafe blocks or functions.
fn find_unsafe(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_unsafe(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            if ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| source.contains(word)) {
                found.push(path);
            }
        }
    }
}
