//! x
use super::args::ShellArgs;
pub fn run(_: &ShellArgs) -> anyhow::Result<std::process::ExitCode> {
    Ok(std::process::ExitCode::SUCCESS)
}
