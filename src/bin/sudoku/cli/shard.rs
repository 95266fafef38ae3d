//! Runs over one shard of an input: their arguments, and the manifest beside their output.

use anyhow::{Context as _, bail};
use clap::Args;
use sudoku_stream::input::{InputError, Shard, ShardWitness, Source};
use sudoku_stream::offline::{Manifest, Output};

use super::output::OutputArgs;

/// The arguments of commands that can answer a part of an input.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShardArgs {
    /// Answer only part K of N of the input, as in 2/5
    ///
    /// The answers to parts 1/N to N/N, one after another, are the answers to the whole input.
    #[arg(long, hide_short_help = true, value_name = "K/N", help_heading = "Input")]
    pub shard: Option<Shard>,

    /// Also write OUT.manifest, by which `sudoku join` checks this shard
    ///
    /// It has the shard, its input, options and tally, and the length and hash of OUT.
    #[arg(long, hide_short_help = true, requires = "shard", requires = "output_file")]
    #[arg(help_heading = "Output")]
    pub manifest: bool,
}

impl ShardArgs {
    /// The option on which answers depend, with its value.
    pub fn option(self) -> (&'static str, Option<String>) {
        ("--shard", self.shard.map(|shard| shard.to_string()))
    }

    /// Checks that there is a single input to divide, and a file to describe.
    pub fn check(self, inputs: usize, out: &OutputArgs) -> anyhow::Result<()> {
        if self.manifest && out.path().is_none() {
            bail!("--manifest describes a file. Name one with -o.");
        }
        if self.shard.is_some() && inputs > 1 {
            bail!(
                "--shard divides one file, and {inputs} inputs were named. \
                 Name one, or write them into one file first."
            );
        }
        Ok(())
    }

    /// Checks that an input can be divided, and that the manifest would not replace it.
    pub fn check_source(self, source: &Source, out: &OutputArgs) -> anyhow::Result<()> {
        if let (Some(id), Some(out)) = (source.file_id(), out.path().filter(|_| self.manifest)) {
            Output::check_apart(Some(&Manifest::path_of(out)), "-o", id)?;
        }
        if self.shard.is_some() {
            source.check_shardable()?;
        }
        Ok(())
    }

    /// The source, hashed while it is read for a manifest, whose witness is returned, and for a run
    /// that can be resumed.
    pub fn hashed(
        self,
        source: Source,
        is_resumable: bool,
    ) -> Result<(Source, Option<ShardWitness>), InputError> {
        Ok(match self.shard.filter(|_| self.manifest) {
            Some(shard) => source.witnessed(shard).map(|(source, witness)| (source, Some(witness)))?,
            None if is_resumable => (source.hashed(), None),
            None => (source, None),
        })
    }

    /// Checks that an output can have a manifest, if it is to.
    pub fn check_output(self, output: &Output) -> anyhow::Result<()> {
        if self.manifest && !output.is_atomic() {
            bail!("--manifest describes a regular file, and the output is none. Name another with -o.");
        }
        Ok(())
    }

    /// Writes the manifest of answers that are complete, if there is a witness. That comes before OUT
    /// has its name, because until then a run that is killed can be resumed.
    pub fn write_manifest(
        self,
        out: &OutputArgs,
        output: &Output,
        witness: Option<&ShardWitness>,
    ) -> anyhow::Result<()> {
        let (Some(shard), Some(path), Some(witness)) = (self.shard, out.path(), witness) else {
            return Ok(());
        };
        let read = witness.input().context("The input was not read up to the end of its shard")?;
        if let Some(manifest) = Manifest::of(output, shard, read)? {
            manifest.write(path, out.durable)?;
        }
        Ok(())
    }
}
