//! Where a candidate's cost arises: its lines, the costliest first, with pictures of their accesses.

use device::DeviceChoice;
use host::lines::LineFlags;
use host::recorded::{self, RecordedKernel, Wanted};
use host::report::Format;
use simt::requests::Watch;

/// The requests that a picture needs: the first of each instruction and warp, of the first block.
pub const WATCH: Watch = Watch { blocks: 0..1, warps: 0..32, requests: 1 };

/// The text about these kernels of a candidate.
pub fn text(kernels: &[RecordedKernel], candidate: &str) -> Result<String, String> {
    let failed = |error: device::Error| error.to_string();
    let device = device::open(DeviceChoice::Simulator, &host::built_in::options()).map_err(failed)?;
    let wanted = Wanted { lines: LineFlags::everything(), ..Wanted::default() };
    let mut text = Vec::new();
    recorded::write(kernels, device.properties(), (candidate, &wanted, Format::Table), &mut text).map_err(failed)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
