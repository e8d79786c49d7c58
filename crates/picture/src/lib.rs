//! Pictures of memory: what a warp's access does, how a cost grows in a sweep, and what a launch
//! moves between its memories. Data in, text or SVG out; no files, no terminal.
//!
//! ```text
//! simt::Request ──service(model)──▶ simt::Service ──▶ Scene ─┬─ text  for a terminal
//!                                                            └─ svg   for a page or a slide
//! a sweep's numbers ──────────────────────────────────▶ Plot ─┬─ text
//!                                                            └─ svg
//! operations a byte, and a second ──────────────▶ Roofline ─┬─ text
//!                                                            └─ svg
//! simt::Counters of one launch or two ─────────▶ MemoryChart ─┬─ text
//!                                                            └─ svg
//! loads of each word, by array ────────────────▶ ElementMaps ─┬─ text
//!                                                            └─ svg
//! the order of blocks' tiles ─────────────────▶ TileOrders ─┬─ text
//!                                                            └─ svg
//! blocks on a multiprocessor ───────────────▶ OccupancyChart ── svg
//! active lanes of a block's additions ───────────▶ LaneChart ── svg
//! copies and kernels, in time ──────────────▶ EngineChart ─┬─ text
//!                                                            └─ svg
//! accesses of few threads, in time ───────────────────▶ Race ── svg
//! ```
//!
//! ```
//! // The shapes of the course, such as a tile's column without padding.
//! let shape = &picture::shapes()[0];
//! let text = picture::access_text(&shape.scene(), 100, picture::Paint::Plain);
//! assert!(!text.is_empty());
//! let svg = picture::file(&picture::access_svg(&shape.scene()));
//! assert!(svg.contains("<svg"));
//! ```
//!
//! A [`Scene`] is plain data: rows of 128 bytes, or of the banks; cells with their lanes; the
//! pieces that move; the height of each bank; one sentence. Nothing is computed here that `simt`
//! counts. Global and shared memory have one grid, so they look alike and differ in what is
//! counted: in global memory the boxes that move, in shared memory the height of the tallest
//! column.
//!
//! Blue is what is asked for and served at once. Orange is waste: bytes that nobody asked for,
//! words that wait for another pass. Neither says anything that shape, hatching and numbers do not.
#![forbid(unsafe_code)]

mod elements;
mod engines;
mod graph;
mod lanes;
mod memory;
mod occupancy;
mod plot;
mod race;
mod roofline;
mod scene;
mod shapes;
mod svg;
mod text;
mod tiles;
mod words;

pub use elements::{Counted, ElementMap, ElementMaps};
pub use engines::{EngineChart, EnginePanel, EnginePiece, EngineRow};
pub use graph::{Arrow, ArrowKind, Graph, GraphEvent};
pub use lanes::{LaneChart, LanePanel};
pub use memory::{Cache, Flow, MemoryChart, MemoryPanel, Way};
pub use occupancy::{OccupancyChart, OccupancyRow};
pub use plot::{Plot, Point, ReferenceLine, Scale, Series};
pub use race::{Race, RaceStep};
pub use roofline::{Roof, Roofline, RooflineKernel};
pub use scene::{Cell, Columns, Piece, Row, Scene};
pub use shapes::{Shape, shapes};
pub use svg::{
    Overview, OverviewLine, STYLE, access as access_svg, elements as elements_svg, engines as engines_svg, file,
    graph as graph_svg, lanes as lanes_svg, memory as memory_svg, occupancy as occupancy_svg, overview as overview_svg,
    playing, plot as plot_svg, race as race_svg, roofline as roofline_svg, tiles as tiles_svg,
};
pub use text::{
    Paint, access as access_text, elements as elements_text, engines as engines_text, memory as memory_text,
    plot as plot_text, roofline as roofline_text, tiles as tiles_text,
};
pub use tiles::{TileOrder, TileOrders};
