# What developers do, by name. `just` lists it.

_default:
    @just --list

# Everything that must hold before a change lands; the same as .ci/run
ci:
    bash .ci/run

# The main job on the built-in sample, over gRPC and offline
demo:
    cargo run --release -- demo

# Writes docs/reference.md from the programs' command lines
docs:
    cargo build --quiet --bins
    (cargo run --quiet --bin sudoku -- docs && cargo run --quiet --bin sudokud -- --docs) > docs/reference.md

# All tests
test:
    cargo test

# All tests RUNS times beside a busy loop on each core, with what failed
test-busy RUNS="10" *ARGUMENTS:
    bash .ci/test-busy {{RUNS}} {{ARGUMENTS}}

# The minimum Rust version of Cargo.toml: everything compiles with it, in a target folder of its own
msrv:
    #!/usr/bin/env bash
    set -euo pipefail
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    rustup toolchain install "$version" --profile minimal
    cargo "+$version" check --workspace --locked --target-dir target/msrv

# The release programs packed into FOLDER, with a checksum
package FOLDER="dist":
    bash .ci/package {{FOLDER}}

# The packages of FOLDER as the release of TAG on GitHub; needs `gh`
publish TAG FOLDER="dist":
    bash .ci/publish {{TAG}} {{FOLDER}}

# Formatting and lints
lint:
    cargo fmt --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy --lib --no-default-features -- -D warnings

# All benches, or one: `just bench solver`
bench *NAME:
    cargo bench {{ if NAME == "" { "" } else { "--bench " + NAME } }}

# Compares the speed of this tree with BASE, a commit or a program, in turns; fails at MAX_REGRESSION [default: 5%]
bench-compare BASE *PROGRAM:
    bash .ci/bench-compare {{BASE}} {{PROGRAM}}

# Measures the tables of docs/performance.md and docs/capacity.md; SUDOKU_LISTS names a folder of 9x9 lists [default: the built-in sample]
figures *PROGRAMS:
    cargo run --quiet --locked --example figures -- {{PROGRAMS}}
    python3 .ci/capacity {{PROGRAMS}}

# Times this solver beside public ones over the 9x9 lists *.txt of LISTS; WORK keeps their clones and builds
peers LISTS WORK="target/peers":
    .ci/peers {{LISTS}} {{WORK}}

# Checks what is in deploy/: unit, manifests, alert rules, scripts; runs the job over shards as processes
deploy:
    cargo build --release --locked --bins
    bash .ci/deploy
    bash .ci/proxies
    bash .ci/shards

# Restarts two servers in turn under load, and checks that no answer is lost
rolling:
    cargo build --release --locked --bins
    bash .ci/rolling

# Solves 2,000,000 lines on a Spark cluster of two executors, one of which is killed; needs Java 17 and Python
spark:
    cargo build --release --locked --bins
    bash .ci/spark

# Builds the Python package and tests it in a virtual environment of its own; needs Python 3.9 or later
python:
    bash .ci/python

# The service on 127.0.0.1:50051, with the given flags
serve *FLAGS:
    cargo run --release --bin sudokud -- {{FLAGS}}

# The page in a headless Chromium, as a person uses it; needs Node.js
page:
    cargo build --release --bin sudokud
    tests/page/run.sh target/release/sudokud

# The pictures of the README: throughput from the tables of docs/performance.md, the page in Chromium; needs Node.js
pictures:
    cargo run --quiet --locked --example peers_picture
    cargo build --bin sudokud
    tests/page/run.sh --tools
    node tests/page/picture.js

# Clients that others wrote, against every way into the service; needs Node.js
clients:
    cargo build --release --bin sudokud
    tests/clients/run.sh target/release/sudokud

# Runs a fuzz target, or `all`, with libFuzzer's flags: `just fuzz text -max_total_time=60`; needs a C++ compiler
fuzz TARGET *FLAGS:
    bash .ci/fuzz {{TARGET}} {{FLAGS}}

# The tests of what is unsafe, under AddressSanitizer
sanitize:
    bash .ci/sanitize

# The small tests of the kernel (packing, branch, dives, engine) under Miri; needs a nightly compiler with Miri
miri:
    cargo +nightly miri test -p sudoku-core --lib solver::lanes::miri_tests

# Makes every fault happen that the programs must survive, and writes docs/reliability.md; with a ROW only shows what was seen
faults ROW="":
    {{ if ROW == "" { "FAULTS_FILE=docs/reliability.md" } else { "" } }} cargo test --quiet --locked --test faults -- {{ if ROW == "" { "" } else { quote(ROW) } }}

# Good traffic with faults at random beside it, for ten minutes or the given seconds
soak SECONDS="600":
    SOAK_SECONDS={{SECONDS}} cargo test --release --quiet --test faults -- "row 39"
