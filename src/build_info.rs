//! Build information: version, commit and compiler of this program.

use std::sync::LazyLock;

use crate::solver::lanes::Backend;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit, or `unknown` if the program was not built in a repository.
pub const COMMIT: &str = env!("SUDOKU_COMMIT");

/// The compiler and its version.
pub const RUSTC: &str = env!("SUDOKU_RUSTC");

/// All build information on a few lines, with the kernel's back ends that this machine has, best
/// first.
#[must_use]
pub fn in_full() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let backends: Vec<_> = Backend::available().map(|backend| backend.to_string()).collect();
        format!("{VERSION}\ncommit: {COMMIT}\ncompiler: {RUSTC}\nback ends: {}", backends.join(", "))
    });
    &TEXT
}
