//! The build script: compiles the wire contract, and records commit and compiler.
//!
//! No protoc is needed, because protox is a compiler in Rust.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use prost::Message as _;

/// The files of the page.
const PAGE: &str = "src/service/page";

fn main() -> Result<(), Box<dyn Error>> {
    record_build_info();
    fix_addresses();
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["sudoku/v1/sudoku.proto"], ["proto"])?;

    // Server reflection returns these.
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("sudoku.v1.bin"), files.encode_to_vec())?;

    let services = files.file.iter().flat_map(|file| &file.service);
    let methods = services.flat_map(|service| &service.method);
    let methods = methods.map(|method| (method.name().to_owned(), method.client_streaming()));
    list_methods(methods, &out)?;

    // Fields of bytes carry puzzles. As `Bytes` they are slices of the received message, not copies.
    let config = tonic_prost_build::configure().codec_path("crate::service::wire::codec::PresizedCodec");
    config.bytes(".sudoku.v1").compile_fds(files)?;
    list_page(&out)
}

/// Lists the methods of the contract, each with whether it takes a stream, in a table that the
/// service includes.
fn list_methods(methods: impl Iterator<Item = (String, bool)>, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut table = "pub(crate) static METHODS: &[DeclaredMethod] = &[\n".to_owned();
    for (name, takes_stream) in methods {
        table += &format!("DeclaredMethod {{ name: {name:?}, takes_stream: {takes_stream} }},\n");
    }
    fs::write(out.join("methods.rs"), table + "];\n")?;
    Ok(())
}

/// Lists the files of the page, in a table that the service includes.
fn list_page(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PAGE}");
    let mut names = Vec::new();
    for entry in fs::read_dir(PAGE)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut table = "const FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for name in names {
        let path = format!("/{PAGE}/{name}");
        table += &format!("({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),\n");
    }
    fs::write(out.join("page.rs"), table + "];\n")?;
    Ok(())
}

/// Records the compiler and the commit, which the program prints beside figures of speed.
fn record_build_info() {
    let rustc = env::var_os("RUSTC").and_then(|rustc| output_of(rustc, &["--version"]));
    println!("cargo::rustc-env=SUDOKU_RUSTC={}", rustc.as_deref().unwrap_or("unknown"));
    // Only a repository of our own counts, because an unpacked package may lie in one of another
    // project.
    let git = |args: &[&str]| if Path::new(".git").exists() { output_of("git".into(), args) } else { None };
    // Without a repository, the builder may pass the commit.
    println!("cargo::rerun-if-env-changed=SUDOKU_COMMIT");
    let commit = env::var("SUDOKU_COMMIT").ok().or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    println!("cargo::rustc-env=SUDOKU_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // The branch, and each move of it. Only files that exist, because cargo rebuilds every time for
    // others.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Links `sudoku` at fixed addresses, because otherwise the dynamic linker adjusts 21,215 places in
/// it whenever it starts, and so only 188. `sudokud` stays position-independent: random addresses
/// defend what strangers can reach, and it starts once.
fn fix_addresses() {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=sudoku=-no-pie");
    }
}

/// The output of a program, if it succeeds.
fn output_of(program: OsString, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
