//! Response streams, from before the server has accepted the call.

use std::pin::Pin;

use tonic::{Response, Status, Streaming};

type OpeningCall<T> = Pin<Box<dyn Future<Output = Result<Response<Streaming<T>>, Status>> + Send>>;

/// The responses of a stream. A server may have to read messages before it accepts the call, so
/// sending must not wait for that.
pub(crate) enum ResponseStream<T> {
    Opening(OpeningCall<T>),
    Open(Box<Streaming<T>>),
}

impl<T> ResponseStream<T> {
    /// The responses of a call that is under way.
    pub(crate) fn new(
        call: impl Future<Output = Result<Response<Streaming<T>>, Status>> + Send + 'static,
    ) -> Self {
        Self::Opening(Box::pin(call))
    }

    /// Waits until the server has accepted the call. Cancel-safe.
    pub(crate) async fn opened(&mut self) -> Result<&mut Streaming<T>, Status> {
        if let Self::Opening(opening) = self {
            let response = opening.as_mut().await?;
            *self = Self::Open(Box::new(response.into_inner()));
        }
        match self {
            Self::Open(stream) => Ok(stream),
            Self::Opening(_) => Err(Status::internal("The call was not accepted.")),
        }
    }

    /// The next response. Cancel-safe: nothing is lost if the future is dropped.
    pub(crate) async fn message(&mut self) -> Result<Option<T>, Status> {
        self.opened().await?.message().await
    }
}
