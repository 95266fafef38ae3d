"""One puzzle a message, on many streams at once, faster than the server searches: nothing may be lost.

    python python_small_messages.py http://127.0.0.1:PORT PUZZLES ANSWERS

PUZZLES has a puzzle a line and ANSWERS what `sudoku solve` says of each.
"""

import pathlib
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "python"))

import grpc  # noqa: E402
from reflection import Service, sentence  # noqa: E402

STREAMS = 16
MESSAGES = 2_000


def text(answer):
    """An answer as `sudoku solve` writes it."""
    kind = answer.WhichOneof("result")
    return answer.solution if kind == "solution" else f"error: {answer.error.message}"


def run(number, service, puzzles, answers, problems):
    call, request = service.method("SolveStream")
    options = service.message("sudoku.v1.SolveOptions")(strategy="dancing-links")

    def requests():
        for k in range(MESSAGES):
            yield request(options=None if k else options, batch_id=k, puzzles=[puzzles[k % len(puzzles)]])

    received = 0
    try:
        for response in call(requests()):
            got, expected = text(response.answers[0]), answers[received % len(answers)]
            if response.batch_id != received or len(response.answers) != 1 or got != expected:
                problems.append(f"stream {number}, message {received}: {response.batch_id} {got!r}, not {expected!r}")
                return
            received += 1
    except grpc.RpcError as error:
        problems.append(f"stream {number}: {sentence(error)}")
    if received != MESSAGES:
        problems.append(f"stream {number}: {received} answers to {MESSAGES} messages")


def main():
    url, puzzles, answers = sys.argv[1:]
    puzzles = pathlib.Path(puzzles).read_bytes().splitlines()
    answers = pathlib.Path(answers).read_text(encoding="utf-8").splitlines()
    assert len(puzzles) == len(answers) and not any(answer.startswith("error") for answer in answers)
    problems = []
    with grpc.insecure_channel(url.removeprefix("http://")) as channel:
        service = Service(channel, "sudoku.v1.SudokuService")
        arguments = (service, puzzles, answers, problems)
        threads = [threading.Thread(target=run, args=(number, *arguments)) for number in range(STREAMS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{STREAMS * MESSAGES:,} messages of one puzzle on {STREAMS} streams: all answered, in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
