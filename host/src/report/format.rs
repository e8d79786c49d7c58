//! The formats of a report. Every subcommand that has `--format` parses it.

/// The format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people, at most 100 columns wide.
    #[default]
    Table,
    /// One JSON object with all data.
    Json,
    /// One line for each variant, with a header.
    Csv,
    /// A Markdown table.
    Markdown,
}
