//! The build script: compiles the wire contract, and records commit and compiler.
//!
//! No protoc is needed, because protox is a compiler in Rust.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use prost::Message as _;

/// The order of functions for the linker.
const START_ORDER: &str = "src/bin/sudoku/start.ld";

/// The files of the page.
const PAGE: &str = "src/service/page";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    record_build_info();
    if is_linux_gnu() {
        fix_addresses();
        link_unwinder(&out)?;
        order_functions(&out)?;
    }
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["sudoku/v1/sudoku.proto"], ["proto"])?;

    // Server reflection returns these.
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

/// Whether the target is Linux with the C library of GNU.
fn is_linux_gnu() -> bool {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    target("OS") == "linux" && target("ENV") == "gnu"
}

/// Links `sudoku` at fixed addresses, because otherwise the dynamic linker adjusts 21,215 places in
/// it whenever it starts, and so only 188. `sudokud` stays position-independent: random addresses
/// defend what strangers can reach, and it starts once.
fn fix_addresses() {
    println!("cargo::rustc-link-arg-bin=sudoku=-no-pie");
}

/// Links the unwinder of GCC into `sudoku` where the linker has it as an archive, because loading it
/// as a shared library takes a tenth of the time in which `sudoku` starts. `rustc` names the shared
/// library, so a script of that name that names the archive is put before it.
fn link_unwinder(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let archive = output_of(linker, &["-print-file-name=libgcc_eh.a"]);
    // A linker that has none answers with the bare name.
    if archive.is_some_and(|archive| Path::new(&archive).is_absolute()) {
        let folder = out.join("unwinder");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n")?;
        println!("cargo::rustc-link-arg-bin=sudoku=-L{}", folder.display());
    }
    Ok(())
}

/// Has the linker put the functions that a short run of `sudoku` goes through beside each other, if
/// it can do that: linkers of GNU and LLVM can. Only in a release build, because others hurry.
fn order_functions(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={START_ORDER}");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let script = format!("-Wl,-T,{}", fs::canonicalize(START_ORDER)?.display());
        if can_link(out, &script)? {
            println!("cargo::rustc-link-arg-bin=sudoku={script}");
        }
    }
    Ok(())
}

/// Whether a program can be linked for the target with this argument and the flags of this build.
fn can_link(out: &Path, argument: &str) -> io::Result<bool> {
    let source = out.join("empty.rs");
    fs::write(&source, "fn main() {}")?;
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--target", &env::var("TARGET").unwrap_or_default(), "-C", "link-arg=-no-pie"]);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    rustc.arg("-C").arg(format!("link-arg={argument}")).arg("--out-dir").arg(out).arg(source);
    Ok(rustc.output()?.status.success())
}

/// The output of a program, if it succeeds.
fn output_of(program: OsString, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
