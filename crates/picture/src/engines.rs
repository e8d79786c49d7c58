//! When copies and kernels run: for each way to do the same work, a line for each engine with the
//! chunks that it works on. Plain data.

/// Several ways to do the same work.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineChart {
    /// The ways.
    pub panels: Vec<EnginePanel>,
}

/// A way.
#[derive(Clone, Debug, PartialEq)]
pub struct EnginePanel {
    /// Its name.
    pub name: String,
    /// How long all of it takes, with its unit.
    pub total: String,
    /// When the last piece ends, in microseconds.
    pub end_us: f64,
    /// Its engines.
    pub rows: Vec<EngineRow>,
}

/// An engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineRow {
    /// Its name.
    pub engine: &'static str,
    /// What it works on, in time.
    pub pieces: Vec<EnginePiece>,
}

/// A chunk on an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EnginePiece {
    /// Its number, from 0.
    pub chunk: u32,
    /// Its stream.
    pub stream: u32,
    /// When the engine begins with it, in microseconds.
    pub start_us: f64,
    /// When it ends.
    pub end_us: f64,
}

impl EngineChart {
    /// The longest and the shortest way, in a sentence.
    pub fn sentence(&self) -> String {
        let said = |panel: &EnginePanel| format!("{} in {}", panel.total, panel.name);
        let longest = self.panels.iter().reduce(|one, other| if other.end_us > one.end_us { other } else { one });
        let shortest = self.panels.iter().reduce(|one, other| if other.end_us < one.end_us { other } else { one });
        match (longest, shortest) {
            (Some(longest), Some(shortest)) if longest.end_us > shortest.end_us => {
                format!("Copies and kernels, predicted: {}, {}.", said(longest), said(shortest))
            }
            (Some(panel), _) => format!("Copies and kernels, predicted: {}.", said(panel)),
            _ => "Nothing runs.".into(),
        }
    }

    /// The end of the longest way, in microseconds.
    pub(crate) fn end_us(&self) -> f64 {
        self.panels.iter().map(|panel| panel.end_us).fold(0.0, f64::max)
    }

    /// A way in words.
    pub(crate) fn said(panel: &EnginePanel) -> String {
        let row = |row: &EngineRow| {
            let busy: f64 = row.pieces.iter().map(|piece| piece.end_us - piece.start_us).sum();
            format!("{} {:.0} % of the time", row.engine, 100.0 * busy / panel.end_us.max(f64::MIN_POSITIVE))
        };
        let rows: Vec<String> = panel.rows.iter().map(row).collect();
        format!("{}: {}; {}", panel.name, panel.total, rows.join(", "))
    }
}
