#!/usr/bin/env python3
"""Solves a file with a puzzle a line on a sudokud, and prints an answer a line, in order.

    python solve_stream.py puzzles.txt > solutions.txt
    zcat puzzles.txt.gz | python solve_stream.py - --server https://sudoku.example:50051 --token-file token

Exit codes: 0, every puzzle was answered, bad lines by an error line; 2, something failed, and a sentence describes it.
"""

import argparse
import itertools
import os
import sys
import threading
from urllib.parse import urlsplit

import grpc
from reflection import Service, sentence

SERVICE = "sudoku.v1.SudokuService"

# 256 to 1,024 lines a message are best.
LINES_A_MESSAGE = 512

# How many messages may be sent and not answered. More would only lie in buffers.
MESSAGES_IN_FLIGHT = 32

CONNECT_SECONDS = 10


class Failure(Exception):
    """Why the run ends, in a sentence."""


def arguments():
    parser = argparse.ArgumentParser(description="Solves a file with a puzzle a line on a sudokud.")
    parser.add_argument("file", help="the puzzles; - for standard input")
    parser.add_argument("--server", default="http://127.0.0.1:50051", metavar="URL", help="default: %(default)s")
    parser.add_argument("--tls-ca", metavar="FILE", help="the authority that vouches for an https server, in PEM")
    parser.add_argument("--token-file", metavar="FILE", help="its first line is the token that the server wants")
    parser.add_argument("--unique", action="store_true", help="ask for proof that there is no other solution")
    return parser.parse_args()


def connect(args):
    """A channel, once it stands."""
    url = urlsplit(args.server)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise Failure(f"{args.server} is no server address. Write it like http://127.0.0.1:50051.")
    # Answers come in messages of any size.
    options = [("grpc.max_receive_message_length", -1)]
    if url.scheme == "https":
        ca = open(args.tls_ca, "rb").read() if args.tls_ca else None
        channel = grpc.secure_channel(url.netloc, grpc.ssl_channel_credentials(ca), options)
    else:
        channel = grpc.insecure_channel(url.netloc, options)
    try:
        grpc.channel_ready_future(channel).result(timeout=CONNECT_SECONDS)
    except grpc.FutureTimeoutError:
        raise Failure(f"No server answers at {args.server}, or it is not trusted.") from None
    return channel


def token(path):
    """The first line of a token file that is neither blank nor a comment."""
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line and not line.startswith("#"):
                return line
    raise Failure(f"{path} has no token.")


class Stream:
    """The messages of one call. What is read ahead of the answers is bounded."""

    def __init__(self, request, file, options):
        self._request, self._file, self._options = request, file, options
        self._room = threading.Semaphore(MESSAGES_IN_FLIGHT)
        self._is_over = False
        self._error = None
        self.sent = 0

    def requests(self):
        """The messages, each as soon as there is room for it. gRPC runs this on a thread of its own."""
        options = self._options
        while True:
            self._room.acquire()
            if self._is_over:
                return
            try:
                lines = b"".join(itertools.islice(self._file, LINES_A_MESSAGE))
            except OSError as error:
                # Raised here, it would only be logged.
                self._error = error
                return
            if not lines:
                return
            self.sent += 1
            yield self._request(options=options, lines=lines)
            # They stay in force.
            options = None

    def answered(self):
        self._room.release()

    def end(self):
        """Lets the thread go that runs `requests`, and says why it ended if it had to."""
        self._is_over = True
        self._room.release()
        if self._error:
            raise self._error


def solve(args, file, out):
    metadata = [("authorization", f"Bearer {token(args.token_file)}")] if args.token_file else []
    with connect(args) as channel:
        service = Service(channel, SERVICE, metadata)
        call, request = service.method("SolveLines")
        question = "QUESTION_UNIQUE" if args.unique else "QUESTION_FIRST"
        stream = Stream(request, file, service.message("sudoku.v1.SolveOptions")(question=question))
        answered = puzzles = 0
        try:
            for response in call(stream.requests(), metadata=metadata):
                answered += 1
                stream.answered()
                out.write(response.lines)
                puzzles += response.tally.answers
        except grpc.RpcError as error:
            raise Failure(f"Stopped after {puzzles} answers. {sentence(error)}") from None
        finally:
            stream.end()
        if answered != stream.sent:
            raise Failure(f"Stopped after {puzzles} answers. The server left out {stream.sent - answered} messages.")
        out.flush()


def main():
    args = arguments()
    try:
        file = sys.stdin.buffer if args.file == "-" else open(args.file, "rb")
        with file:
            solve(args, file, sys.stdout.buffer)
    except BrokenPipeError:
        # The reader has stopped reading. Python would report the broken pipe again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Failure, LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except grpc.RpcError as error:
        print(sentence(error), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
