//! Messages as JSON, in the mapping of proto3, made from the description of the contract.
//!
//! **Invariant:** a message in JSON and the same message in binary form mean the same to a method,
//! because the methods only ever see the binary form. Unknown members are refused, so that a
//! misspelt one is not read as a default.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use prost::Message as _;
use prost_reflect::prost_types::MethodOptions;
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::{DescriptorError, DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use serde::Serialize;
use serde_json::{Deserializer, Serializer};
use tonic::Status;

use crate::service::wire::proto;
use crate::service::wire::status::{body_invalid, connect_name, work_broke_down};
use crate::text::BYTE_ORDER_MARK;

/// The prefix of the types of details.
const TYPE_URL: &str = "type.googleapis.com/";

/// The error of a description of the service that is broken, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct SchemaError(#[from] DescriptorError);

/// The methods that can be called with JSON, and the messages of statuses.
pub(crate) struct Schema {
    methods: HashMap<String, MethodTypes>,
    pool: DescriptorPool,
}

/// A status as the Connect protocol has it.
#[derive(Serialize)]
pub(super) struct ErrorJson {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
}

/// A detail of a status: in binary form for programs, and in JSON for people.
#[derive(Serialize)]
struct Detail {
    #[serde(rename = "type")]
    name: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    debug: Option<DynamicMessage>,
}

/// A method.
#[derive(Clone)]
pub(crate) struct MethodTypes {
    /// Whether it takes one message and answers with one.
    pub(crate) is_unary: bool,
    /// Whether the contract says that it has no side effects, so that it may be called by GET.
    pub(crate) is_safe: bool,
    pub(super) request: MessageDescriptor,
    pub(super) response: MessageDescriptor,
}

impl Schema {
    /// # Errors
    /// [`SchemaError`].
    pub(crate) fn new() -> Result<Self, SchemaError> {
        let mut pool = DescriptorPool::new();
        for set in [
            proto::FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
            tonic_types::pb::FILE_DESCRIPTOR_SET,
        ] {
            pool.decode_file_descriptor_set(set)?;
        }
        let methods = pool.services().flat_map(|service| {
            let methods: Vec<_> = service.methods().collect();
            methods.into_iter().map(move |method| {
                let path = format!("/{}/{}", service.full_name(), method.name());
                let is_unary = !method.is_client_streaming() && !method.is_server_streaming();
                let options = method.method_descriptor_proto().options.as_ref();
                let is_safe = is_unary
                    && options.map(MethodOptions::idempotency_level) == Some(IdempotencyLevel::NoSideEffects);
                (path, MethodTypes { is_unary, is_safe, request: method.input(), response: method.output() })
            })
        });
        Ok(Self { methods: methods.collect(), pool })
    }

    /// The method of a path.
    pub(crate) fn method(&self, path: &str) -> Option<&MethodTypes> {
        self.methods.get(path)
    }

    /// A status as the Connect protocol has it.
    pub(super) fn error(&self, status: &Status) -> ErrorJson {
        let rich = tonic_types::pb::Status::decode(status.details()).unwrap_or_default();
        let details = rich.details.into_iter().map(|any| {
            let name = any.type_url.trim_start_matches(TYPE_URL).to_owned();
            let descriptor = self.pool.get_message_by_name(&name);
            let debug = descriptor.and_then(|it| DynamicMessage::decode(it, &*any.value).ok());
            Detail { name, value: STANDARD_NO_PAD.encode(any.value), debug }
        });
        let code = connect_name(status.code());
        ErrorJson { code, message: status.message().to_owned(), details: details.collect() }
    }
}

/// The binary form of a message in JSON.
///
/// # Errors
/// `INVALID_ARGUMENT` for text that is not the JSON of such a message.
pub(super) fn from_json(text: &[u8], descriptor: &MessageDescriptor) -> Result<Bytes, Status> {
    // .NET and PowerShell write one.
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Err(body_invalid("The body is empty. Send `{}` for a request without fields."));
    }
    let name = descriptor.name().to_owned();
    let invalid = |error: &dyn std::fmt::Display| {
        // What is wrong may be a sentence, and is followed by its place.
        let error = error.to_string().replace(". at line ", " at line ");
        body_invalid(&format!("This is no {name} in JSON: {error}."))
    };
    let mut json = Deserializer::from_slice(text);
    let message =
        DynamicMessage::deserialize(descriptor.clone(), &mut json).map_err(|error| invalid(&error))?;
    json.end().map_err(|error| invalid(&error))?;
    Ok(message.encode_to_vec().into())
}

/// The JSON of a message in binary form.
///
/// # Errors
/// `INTERNAL` if it is none, which is a bug.
pub(super) fn to_json(message: &[u8], descriptor: &MessageDescriptor) -> Result<Bytes, Status> {
    let message = DynamicMessage::decode(descriptor.clone(), message).map_err(|_| work_broke_down())?;
    let mut json = Serializer::new(Vec::new());
    message.serialize_with_options(&mut json, &SerializeOptions::new()).map_err(|_| work_broke_down())?;
    Ok(json.into_inner().into())
}
