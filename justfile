# What developers do, by name. `just` lists it.

_default:
    @just --list

# Everything that must hold before a change lands; the same as .ci/run
ci:
    bash .ci/run

# The main job on the built-in sample, over gRPC and offline
demo:
    cargo run --release -- demo

# All tests
test:
    cargo test

# Formatting and lints
lint:
    cargo fmt --check
    cargo clippy --workspace --all-targets -- -D warnings

# All benches, or one: `just bench solver`
bench *NAME:
    cargo bench {{ if NAME == "" { "" } else { "--bench " + NAME } }}

# The service on 127.0.0.1:50051, with the given flags
serve *FLAGS:
    cargo run --release --bin sudokud -- {{FLAGS}}

# Runs a fuzz target, or `all`, with libFuzzer's flags: `just fuzz text -max_total_time=60`; needs a C++ compiler
fuzz TARGET *FLAGS:
    bash .ci/fuzz {{TARGET}} {{FLAGS}}

# The tests of what is unsafe, under AddressSanitizer
sanitize:
    bash .ci/sanitize

# The small tests of the kernel (packing, branch, dives, engine) under Miri; needs a nightly compiler with Miri
miri:
    cargo +nightly miri test -p sudoku-core --lib solver::lanes::miri_tests

# Makes every fault happen that the programs must survive, and prints what was seen
faults *ROWS:
    cargo test --quiet --test faults -- {{ROWS}}

# Good traffic with faults at random beside it, for ten minutes or the given seconds
soak SECONDS="600":
    SOAK_SECONDS={{SECONDS}} cargo test --release --quiet --test faults -- "row 39"
