//! The course's shapes of access, by name: what the lectures draw. Documents and tests draw them
//! without a launch; a launch makes the same requests.

use simt::counts::AccessKind;
use simt::requests::{Request, RequestedMemory};
use simt::{LoadCaching, Model};

use crate::Scene;

/// A shape of access, on a GPU.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its name, as that of a file.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The request.
    pub request: Request,
    /// The GPU; `None`: what Volta and later have in common.
    pub model: Option<&'static Model>,
}

impl Shape {
    /// Its scene, with its own title.
    pub fn scene(&self) -> Scene {
        let service = self.request.service(self.model, LoadCaching::Default);
        Scene { title: self.title.into(), ..Scene::new(&self.request, &service) }
    }
}

/// All shapes of the course.
pub fn shapes() -> Vec<Shape> {
    use RequestedMemory::{Constant, Global, Shared};
    let mut shapes = Vec::new();
    let mut add = |name, title, memory, model: &str, width, mask, address: fn(u64) -> u64| {
        let base = if memory == Global { 0x7000_0000_0000 } else { 0 };
        let addresses = std::array::from_fn(|lane| base + address(lane as u64));
        let request = Request::new(AccessKind::Load, memory, width, mask, addresses);
        shapes.push(Shape { name, title, request, model: Model::named(model) });
    };
    let all = u32::MAX;
    add("aligned", "Aligned: 32 floats, side by side", Global, "", 4, all, |lane| 4 * lane);
    add("offset-11", "Offset 11: five sectors instead of four", Global, "", 4, all, |lane| 4 * (lane + 11));
    add("stride-2", "Stride 2: every other float", Global, "", 4, all, |lane| 8 * lane);
    add("stride-8", "Stride 8: a sector for each lane", Global, "", 4, all, |lane| 32 * lane);
    add("column-of-1000", "Down a column of 1000 floats a row", Global, "", 4, all, |lane| 4000 * lane);
    add("permuted", "Permuted: lane l reads float l ^ 5", Global, "", 4, all, |lane| 4 * (lane ^ 5));
    add("broadcast", "Broadcast: all lanes read one float", Global, "", 4, all, |_| 64);
    add("words-of-8", "8 bytes a lane", Global, "", 8, all, |lane| 8 * lane);
    add("words-of-16", "16 bytes a lane", Global, "", 16, all, |lane| 16 * lane);
    add("bytes", "1 byte a lane", Global, "", 1, all, |lane| lane);
    add("half-a-warp", "Half of the lanes", Global, "", 4, 0xffff, |lane| 4 * lane);
    add("offset-11-fermi", "Offset 11 on Fermi: lines of 128 bytes", Global, "fermi", 4, all, |lane| 4 * (lane + 11));
    add("aligned-g80", "Aligned on the G80: a transaction for each half warp", Global, "g80", 4, all, |lane| 4 * lane);
    add("offset-11-g80", "Offset 11 on the G80: a transaction for each lane", Global, "g80", 4, all, |lane| {
        4 * (lane + 11)
    });
    add("offset-11-gt200", "Offset 11 on GT200: segments that shrink", Global, "tesla", 4, all, |lane| 4 * (lane + 11));
    add("shared-row", "A row of a tile in shared memory", Shared, "", 4, all, |lane| 4 * lane);
    add("shared-column-32", "A column of a tile of 32 x 32 floats", Shared, "", 4, all, |lane| 128 * lane);
    add("shared-column-33", "A column of a tile of 32 x 33 floats", Shared, "", 4, all, |lane| 132 * lane);
    add("shared-swizzle", "A column of a tile whose words are swizzled", Shared, "", 4, all, |lane| {
        128 * lane + 4 * (lane ^ 3)
    });
    add("shared-stride-2", "Stride 2 in shared memory", Shared, "", 4, all, |lane| 8 * lane);
    add("shared-permuted", "Permuted in shared memory", Shared, "", 4, all, |lane| 4 * (lane ^ 5));
    add("shared-broadcast", "All lanes read one word of shared memory", Shared, "", 4, all, |_| 64);
    add("shared-words-of-8", "8 bytes a lane in shared memory", Shared, "", 8, all, |lane| 8 * lane);
    add("shared-words-of-16", "16 bytes a lane in shared memory", Shared, "", 16, all, |lane| 16 * lane);
    add("shared-stride-2-g80", "Stride 2 on the G80: 16 banks, half a warp at a time", Shared, "g80", 4, all, |lane| {
        8 * lane
    });
    add("shared-column-32-kepler8", "A column on Kepler: banks of 8 bytes", Shared, "kepler8", 4, all, |lane| {
        128 * lane
    });
    add("constant-uniform", "One constant for all lanes", Constant, "", 4, all, |_| 16);
    add("constant-8", "Eight constants", Constant, "", 4, all, |lane| 4 * (lane % 8));
    shapes
}
