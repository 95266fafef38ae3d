//! The methods of the service, as the contract declares them.

/// A method of the service.
pub(crate) struct DeclaredMethod {
    /// The name, without that of the service.
    pub(crate) name: &'static str,
    /// Whether it takes a stream of messages.
    pub(crate) takes_stream: bool,
}

// `METHODS`: all of them in the order of the contract, by the build script.
include!(concat!(env!("OUT_DIR"), "/methods.rs"));
