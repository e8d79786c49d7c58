//! A run's data on a device: buffers and textures, copied there before the launches. It also finds
//! what a name in `goals.toml` stands for (a size, an address, a handle) and which element is at an
//! address. [`crate::run`] makes one for each run; the memory is freed with it.

use std::rc::Rc;

use cuda_std::launch::Arguments;
use device::{
    AddressMode, ArrayShape, Buffer, ChannelType, Device, Filter, OnDevice, OwnedTexture, PitchedBuffer, Sampling,
    TexelFormat,
};
use indexmap::IndexMap;
use wording::several;

use crate::data::{self, Buffers, Sizes};
use crate::fault::{Fault, Problem};
use crate::files::Exercise;
use crate::goals_file::{Address, Filter as FilterName, Texture};
use crate::run::BufferPlace;
use goals::expression::Expression;

/// A buffer on the device.
pub enum DeviceBuffer {
    Linear(Buffer<u8>),
    Pitched(PitchedBuffer<u8>),
}

impl DeviceBuffer {
    fn address(&self) -> u64 {
        match self {
            Self::Linear(buffer) => buffer.address(),
            Self::Pitched(buffer) => buffer.address(),
        }
    }

    /// The address after the last byte.
    fn end(&self) -> u64 {
        self.address()
            + match self {
                Self::Linear(buffer) => buffer.len() as u64,
                Self::Pitched(buffer) => buffer.rows() as u64 * buffer.pitch_bytes(),
            }
    }

    pub fn read(&self) -> device::Result<Vec<u8>> {
        match self {
            Self::Linear(buffer) => buffer.read(),
            Self::Pitched(buffer) => buffer.read(),
        }
    }
}

/// A run's data on the device.
pub struct DeviceData<'a> {
    pub device: Rc<Device>,
    pub exercise: &'a Exercise,
    sizes: &'a Sizes,
    pub buffers: IndexMap<String, DeviceBuffer>,
    textures: IndexMap<String, OwnedTexture>,
}

impl<'a> DeviceData<'a> {
    /// Copies the data to the device.
    pub fn new(
        device: Rc<Device>,
        exercise: &'a Exercise,
        sizes: &'a Sizes,
        values: &Buffers,
    ) -> Result<Self, Problem> {
        let mut placed =
            Self { device: device.clone(), exercise, sizes, buffers: IndexMap::new(), textures: IndexMap::new() };
        for (name, plan) in &exercise.goals.data {
            let [rows, columns] = data::shape(plan, sizes).map_err(Problem::Exercise)?;
            let bytes = &values[name];
            let row_bytes = columns * plan.element.bytes();
            let buffer = if plan.pitched {
                let mut buffer = device.pitched_buffer::<u8>(rows, row_bytes).map_err(Problem::of)?;
                if !plan.scratch {
                    buffer.write(bytes).map_err(Problem::of)?;
                }
                DeviceBuffer::Pitched(buffer)
            } else {
                let mut buffer = device.buffer::<u8>(bytes.len()).map_err(Problem::of)?;
                if !plan.scratch {
                    buffer.write(bytes).map_err(Problem::of)?;
                }
                DeviceBuffer::Linear(buffer)
            };
            placed.buffers.insert(name.clone(), buffer);
            if let Some(texture) = &plan.texture {
                let made = sampled(&device, texture, rows, columns, bytes).map_err(Problem::of)?;
                placed.textures.insert(name.clone(), made);
            }
        }
        Ok(placed)
    }

    /// The value of a name in an expression: a size, or the pitch of data in elements.
    pub fn lookup(&self, name: &str) -> Option<f64> {
        if let Some(&size) = self.sizes.get(name) {
            return Some(size as f64);
        }
        let data = name.strip_suffix(".pitch")?;
        let plan = self.exercise.goals.data.get(data)?;
        match self.buffers.get(data)? {
            DeviceBuffer::Pitched(buffer) => Some(buffer.pitch() as f64 / plan.element.bytes() as f64),
            DeviceBuffer::Linear(_) => data::shape(plan, self.sizes).ok().map(|[_, columns]| columns as f64),
        }
    }

    pub fn number(&self, expression: &Expression) -> Result<f64, Problem> {
        expression.evaluate(&|name| self.lookup(name)).map_err(Problem::Exercise)
    }

    /// The parameter for data: an address, or a texture's handle.
    pub fn pointer(&self, name: &str) -> Option<u64> {
        if let Some(texture) = self.textures.get(name) {
            return Some(texture.argument().handle());
        }
        Some(self.buffers.get(name.strip_suffix(".values").unwrap_or(name))?.address())
    }

    /// The fault with the name of the element concerned.
    pub fn with_element(&self, mut fault: Fault) -> Fault {
        fault.element = fault.address.and_then(|address| self.element(address, fault.allocation.unwrap_or(address)));
        fault
    }

    /// Where a buffer is.
    pub fn place(&self, name: &str, buffer: &DeviceBuffer) -> Result<BufferPlace, Problem> {
        let plan = &self.exercise.goals.data[name];
        let [_, columns] = data::shape(plan, self.sizes).map_err(Problem::Exercise)?;
        let pitch = match buffer {
            DeviceBuffer::Pitched(buffer) => buffer.pitch_bytes(),
            DeviceBuffer::Linear(_) => (columns * plan.element.bytes()) as u64,
        };
        Ok(BufferPlace { address: buffer.address(), pitch, bytes: buffer.end() - buffer.address() })
    }

    /// Which element of which buffer is at an address, if it is within a buffer.
    fn element(&self, address: u64, allocation: u64) -> Option<String> {
        let (name, buffer) =
            self.buffers.iter().find(|(_, buffer)| (buffer.address()..buffer.end()).contains(&allocation))?;
        let plan = &self.exercise.goals.data[name];
        let [rows, columns] = data::shape(plan, self.sizes).ok()?;
        let (bytes, offset) = (plan.element.bytes() as i64, address.wrapping_sub(buffer.address()) as i64);
        let has = |count: usize, what: &str| format!("{name} has {}", several(count, what));
        if plan.rows.is_none() {
            return Some(format!("{name}[{}]; {}", offset.div_euclid(bytes), has(columns, "element")));
        }
        let pitch = match buffer {
            DeviceBuffer::Pitched(buffer) => buffer.pitch() as i64,
            DeviceBuffer::Linear(_) => columns as i64 * bytes,
        };
        let (row, column) = (offset.div_euclid(pitch), offset.rem_euclid(pitch) / bytes);
        Some(format!("{name}[{row}][{column}]; {} of {columns}", has(rows, "row")))
    }

    /// The parameters of a reference to data: a slice's address and length, or a matrix's address,
    /// rows, columns and pitch.
    pub fn reference(&self, name: &str) -> Result<Vec<Vec<u8>>, Problem> {
        let unknown = || Problem::Exercise(format!("argument '&{name}': there is no such data"));
        let buffer = self.buffers.get(name).ok_or_else(unknown)?;
        let plan = &self.exercise.goals.data[name];
        let [rows, columns] = data::shape(plan, self.sizes).map_err(Problem::Exercise)?;
        let mut arguments = Arguments::new();
        if plan.rows.is_none() {
            arguments.push_slice(buffer.address(), columns);
        } else {
            let pitch = match buffer {
                DeviceBuffer::Linear(_) => columns,
                DeviceBuffer::Pitched(buffer) => buffer.pitch() / plan.element.bytes(),
            };
            let [rows, columns, pitch] = [rows, columns, pitch].map(|extent| extent as u32);
            arguments.push_matrix(buffer.address(), rows, columns, pitch);
        }
        Ok(arguments.iter().map(<[u8]>::to_vec).collect())
    }
}

/// A texture of an array with these contents.
fn sampled(device: &Device, plan: &Texture, rows: usize, columns: usize, bytes: &[u8]) -> device::Result<OwnedTexture> {
    let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
    let shape = ArrayShape { width: columns as u32, height: rows as u32, ..ArrayShape::of(format) };
    let mut array = device.array(&shape)?;
    array.write(0, bytes)?;
    let address = match plan.address {
        Address::Clamp => AddressMode::Clamp,
        Address::Wrap => AddressMode::Wrap,
        Address::Mirror => AddressMode::Mirror,
        Address::Border => AddressMode::Border,
    };
    let sampling = Sampling {
        address_modes: [address; 3],
        filter: match plan.filter {
            FilterName::Nearest => Filter::Point,
            FilterName::Linear => Filter::Linear,
        },
        // The hardware repeats and mirrors only at normalised coordinates.
        normalized_coordinates: matches!(plan.address, Address::Wrap | Address::Mirror),
        ..Sampling::default()
    };
    device.array_texture(Rc::new(array), &sampling)
}
