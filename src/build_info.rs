//! What this program was built from.

use std::sync::LazyLock;

use crate::solver::lanes::Backend;

/// The version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit, or `unknown` if it was not built in a repository.
pub const COMMIT: &str = env!("SUDOKU_COMMIT");

/// The compiler.
pub const RUSTC: &str = env!("SUDOKU_RUSTC");

/// All of it on a few lines, with the back ends of the kernel that this machine has, the best first.
#[must_use]
pub fn in_full() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let backends: Vec<_> = Backend::available().map(|backend| backend.to_string()).collect();
        format!("{VERSION}\ncommit: {COMMIT}\ncompiler: {RUSTC}\nback ends: {}", backends.join(", "))
    });
    &TEXT
}
