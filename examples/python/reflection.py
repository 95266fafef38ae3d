"""A gRPC client by reflection: the server describes its methods, so there is no generated code and no copy of the .proto.

Speaks grpc.reflection.v1, with nothing but grpcio and protobuf.
"""

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_STRING, _BYTES, _MESSAGE, _INT32 = 9, 12, 11, 5
_ONE, _MANY = 1, 3


def _reflection_messages():
    """The request and the response of reflection, as far as they are needed here."""
    file = descriptor_pb2.FileDescriptorProto(
        name="grpc/reflection/v1/part.proto", package="grpc.reflection.v1", syntax="proto3"
    )

    def message(name, *fields):
        made = file.message_type.add(name=name)
        for number, field, label, kind, of in fields:
            type_name = of and f".grpc.reflection.v1.{of}"
            made.field.add(name=field, number=number, label=label, type=kind, type_name=type_name)

    message("Request", (4, "file_containing_symbol", _ONE, _STRING, None))
    message("Files", (1, "file_descriptor_proto", _MANY, _BYTES, None))
    message("Failure", (1, "error_code", _ONE, _INT32, None), (2, "error_message", _ONE, _STRING, None))
    message("Response", (4, "files", _ONE, _MESSAGE, "Files"), (7, "error", _ONE, _MESSAGE, "Failure"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    by_name = pool.FindMessageTypeByName
    classes = (message_factory.GetMessageClass(by_name(f"grpc.reflection.v1.{name}")) for name in ("Request", "Response"))
    return tuple(classes)


class Service:
    """A service of the server at the other end of a channel."""

    def __init__(self, channel, name, metadata=(), timeout=10):
        """Asks the server. Raises grpc.RpcError, or LookupError if it has no such service."""
        request, response = _reflection_messages()
        ask = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        answers = list(ask(iter([request(file_containing_symbol=name)]), metadata=metadata, timeout=timeout))
        if not answers or answers[0].error.error_code:
            raise LookupError(f"The server does not describe {name}.")
        self._channel = channel
        self._pool = descriptor_pool.DescriptorPool()
        files = map(descriptor_pb2.FileDescriptorProto.FromString, answers[0].files.file_descriptor_proto)
        self._add({file.name: file for file in files})
        self._descriptor = self._pool.FindServiceByName(name)

    def _add(self, files):
        """Adds files to the pool, each after those that it imports."""

        def add(name):
            file = files.pop(name, None)
            if file is not None:
                for imported in file.dependency:
                    add(imported)
                self._pool.Add(file)

        while files:
            add(next(iter(files)))

    def message(self, name):
        """The class of a message, by its full name."""
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))

    def method(self, name):
        """A method to call, and the class of its requests."""
        method = self._descriptor.FindMethodByName(name)
        request, response = map(message_factory.GetMessageClass, (method.input_type, method.output_type))
        kinds = {
            (False, False): self._channel.unary_unary,
            (False, True): self._channel.unary_stream,
            (True, False): self._channel.stream_unary,
            (True, True): self._channel.stream_stream,
        }
        path = f"/{self._descriptor.full_name}/{name}"
        call = kinds[method.client_streaming, method.server_streaming](
            path, request_serializer=request.SerializeToString, response_deserializer=response.FromString
        )
        return call, request


def sentence(error: grpc.RpcError) -> str:
    """What a failed call says, in a sentence."""
    return f"{error.code().name}: {(error.details() or 'no details').rstrip('.')}."
