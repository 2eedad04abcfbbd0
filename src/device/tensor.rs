//! Tensors on a device.

use std::fmt;

#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::device::waiting::{block_on, block_on_gpu};
use crate::exec::gpu;
use crate::plan::Plan;
use crate::tensor::{Inputs, Outputs, Tensor, TensorDesc, View};

/// A tensor in the memory of a device. Clones share the memory.
#[derive(Clone)]
pub struct DeviceTensor {
    pub(super) view: View,
    pub(super) storage: Storage,
    /// The bytes of the memory. A view may use fewer.
    pub(super) bytes: usize,
}

#[derive(Clone)]
pub(super) enum Storage {
    Host(Tensor),
    Gpu(gpu::Buffer),
}

impl DeviceTensor {
    /// A tensor whose memory ends with its last element.
    pub(super) fn new(view: impl Into<View>, storage: Storage) -> Self {
        let view = view.into();
        Self { bytes: view.byte_len(), view, storage }
    }

    /// The results of a plan.
    pub(super) fn results(plan: &Plan, storages: Vec<Storage>) -> Outputs<Self> {
        let results = plan.result_views().zip(storages);
        let results = results.map(|(view, storage)| Self::new(view.into_owned(), storage));
        plan.outputs.with(results.collect())
    }

    /// The buffer that holds the tensor, for the caller's own passes on the same device.
    ///
    /// `None` on the CPU, and for results of a [`Chain`](crate::Chain) that was not submitted.
    /// [`DeviceTensor::view`] is the layout of the elements. The buffer's size is a multiple of 16 bytes;
    /// its bytes beside the elements are unspecified. Its usage is `STORAGE`, `COPY_SRC` and `COPY_DST`.
    /// Clones of the tensor share the buffer, so writing to it changes them too.
    pub fn buffer(&self) -> Option<&wgpu::Buffer> {
        match &self.storage {
            Storage::Host(_) => None,
            Storage::Gpu(buffer) => buffer.submitted(),
        }
    }

    /// The type and shape.
    pub fn desc(&self) -> &TensorDesc {
        self.view.desc()
    }

    /// The layout of the elements in the tensor's memory: contiguous from its beginning, unless this
    /// is a view of another tensor.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Another view of this tensor's memory, with the same element type. Nothing is copied;
    /// operators accept it like any tensor.
    ///
    /// ```
    /// use wgmax::operator::ReduceMax;
    /// use wgmax::{Device, Tensor};
    ///
    /// // The largest of the second column.
    /// let device = Device::cpu();
    /// let matrix = device.upload(&Tensor::from_slice([3, 2], &[1u8, 9, 2, 7, 3, 8])?)?;
    /// let column = matrix.with_view(matrix.view().slice(1, 1..2)?)?;
    /// let largest = device.run(ReduceMax::new(), &column)?;
    /// assert_eq!(largest[0].download()?.as_slice::<u8>()?, [9]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongElementType`], and [`Error::BadView`] if the view reaches beyond the memory.
    pub fn with_view(&self, view: impl Into<View>) -> Result<Self> {
        let view = view.into();
        view.check_within(self.desc().element_type(), self.bytes)?;
        Ok(Self { view, ..self.clone() })
    }

    /// Copies the tensor to the host, waiting for the device. For a view, it copies the
    /// memory from its first to its last element, and drops the gaps on the host.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`], [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Gpu`];
    /// [`Error::WouldBlock`] in a browser.
    pub fn download(&self) -> Result<Tensor> {
        match &self.storage {
            Storage::Host(_) => block_on(self.fetch(true)),
            Storage::Gpu(_) => block_on_gpu(self.fetch(true)),
        }
    }

    /// As [`DeviceTensor::download`], without blocking.
    ///
    /// # Errors
    /// As [`DeviceTensor::download`].
    pub async fn download_async(&self) -> Result<Tensor> {
        self.fetch(false).await
    }

    /// The memory on the CPU; `None` for a GPU.
    #[cfg(target_family = "wasm")]
    #[doc(hidden)]
    pub fn host_memory(&self) -> Option<&[u8]> {
        match &self.storage {
            Storage::Host(tensor) => Some(tensor.bytes()),
            Storage::Gpu(_) => None,
        }
    }

    /// Maps the memory of a GPU for `read`, which also gets the view of these bytes. `read` is not called
    /// if there are no bytes.
    #[cfg(target_family = "wasm")]
    #[doc(hidden)]
    pub async fn mapped_async(&self, read: impl FnOnce(&wgpu::BufferView, &View)) -> Result<()> {
        let Storage::Gpu(buffer) = &self.storage else { return Ok(()) };
        let (first, memory, view) = self.view.trimmed()?;
        buffer.mapped(first, &memory, |bytes| read(bytes, &view)).await
    }

    /// `wait`: whether this may block until the device is done.
    pub(crate) async fn fetch(&self, wait: bool) -> Result<Tensor> {
        match &self.storage {
            Storage::Host(tensor) => tensor.viewed(&self.view),
            Storage::Gpu(buffer) => {
                let (first, memory, view) = self.view.trimmed()?;
                buffer.download(first, &memory, wait).await?.viewed(&view)
            }
        }
    }
}

impl fmt::Debug for DeviceTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceTensor({})", self.view)
    }
}

impl<'a> Inputs<&'a DeviceTensor> for &'a DeviceTensor {
    fn into_inputs(self) -> Vec<&'a DeviceTensor> {
        vec![self]
    }
}
