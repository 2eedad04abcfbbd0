//! Blocking forms of asynchronous functions.

use std::task::Poll;

#[cfg(target_family = "wasm")]
use crate::base::error::Error;
use crate::base::error::Result;

/// Waits for a future on this thread.
///
/// In a browser a thread that waits for the GPU would deadlock: the browser answers between tasks,
/// and the task would not end. So there the future is polled only once.
///
/// # Errors
/// In a browser [`Error::WouldBlock`], unless the future is ready at once.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    #[cfg(not(target_family = "wasm"))]
    return pollster::block_on(future);
    #[cfg(target_family = "wasm")]
    {
        use std::task::{Context, Waker};
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(Error::WouldBlock),
        }
    }
}

/// Lets the executor do other work before it polls again.
pub(crate) async fn yield_now() {
    let mut was_asked = false;
    std::future::poll_fn(|context| {
        if was_asked {
            return Poll::Ready(());
        }
        was_asked = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// As [`block_on`], for work of a GPU: in a browser no work begins.
///
/// # Errors
/// In a browser [`Error::WouldBlock`].
pub(crate) fn block_on_gpu<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    #[cfg(not(target_family = "wasm"))]
    return block_on(future);
    #[cfg(target_family = "wasm")]
    {
        drop(future);
        Err(Error::WouldBlock)
    }
}
