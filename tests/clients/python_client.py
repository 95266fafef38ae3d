"""All methods from Python: grpcio by reflection, and JSON by nothing but the standard library.

    python python_client.py 127.0.0.1:50051 [--token TOKEN] [--ca cert.pem]
"""

import argparse
import http.client
import json
import pathlib
import ssl
import sys

import grpc

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "examples/python"))
from reflection import Service  # noqa: E402

SERVICE = "sudoku.v1.SudokuService"
EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"


def solves(solution, puzzle):
    rows = [set(solution[9 * row : 9 * row + 9]) for row in range(9)]
    columns = [set(solution[column::9]) for column in range(9)]
    boxes = [
        {solution[9 * (row + y) + column + x] for y in range(3) for x in range(3)}
        for row in (0, 3, 6)
        for column in (0, 3, 6)
    ]
    keeps_clues = all(clue in (".", value) for clue, value in zip(puzzle, solution))
    return keeps_clues and all(house == set("123456789") for house in rows + columns + boxes)


def by_grpc(channel, metadata):
    service = Service(channel, SERVICE, metadata)

    def unary(method, **fields):
        call, request = service.method(method)
        return call(request(**fields), metadata=metadata, timeout=20)

    def stream(method, **fields):
        call, request = service.method(method)
        return list(call(request(**fields), metadata=metadata, timeout=20))

    solution = unary("Solve", puzzle=EASY).answers[0].solution
    assert solves(solution, EASY)
    assert unary("Check", puzzle=solution).grids[0].solved
    assert unary("Validate", text=EASY.encode()).valid
    assert unary("Count", puzzle="12..............").count == 24
    assert unary("Hint", puzzle=EASY).step.placements
    assert [it.name for it in unary("ListDatasets").datasets] == ["six.txt"]
    puzzle = unary("GetPuzzle", name="six.txt", index=2).puzzle
    assert solves(unary("Solve", puzzle=puzzle).answers[0].solution, puzzle)
    assert stream("Trace", puzzle=EASY)[-1].end.answer.solution == solution
    assert len(b"".join(part.puzzles for part in stream("Generate", count=20, seed=1)).split()) == 20
    assert len(b"".join(part.lines for part in stream("SolveDataset", name="six.txt")).split()) == 6
    call, request = service.method("SolveLines")
    messages = [request(lines=f"{EASY}\n".encode()) for _ in range(50)]
    answers = list(call(iter(messages), metadata=metadata, timeout=20))
    assert [answer.lines.decode() for answer in answers] == [f"{solution}\n"] * 50
    call, request = service.method("SolveStream")
    answers = list(call(iter([request(puzzles=[EASY.encode()])]), metadata=metadata, timeout=20))
    assert answers[0].answers[0].solution == solution
    try:
        unary("Solve", puzzle=EASY, options={"order": 9})
        raise AssertionError("an order of 9 is taken")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    return 14


def by_json(connection, headers):
    def call(name, body, status=200):
        kind = {"content-type": "application/json", **headers}
        connection.request("POST", f"/{SERVICE}/{name}", json.dumps(body), kind)
        response = connection.getresponse()
        answer = json.load(response)
        assert response.status == status, answer
        return answer

    solution = call("Solve", {"puzzle": EASY})["answers"][0]["solution"]
    assert solves(solution, EASY)
    assert call("Check", {"puzzle": solution})["grids"][0]["solved"]
    assert call("Count", {"puzzle": "12.............."})["count"] == "24"
    assert call("GetPuzzle", {"name": "six.txt", "index": 2})["count"] == "6"
    refused = call("Solve", {"puzzel": EASY}, status=400)
    assert refused["code"] == "invalid_argument" and "puzzel" in refused["message"]
    return 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--token")
    parser.add_argument("--ca")
    args = parser.parse_args()
    bearer = f"Bearer {args.token}"
    metadata = [("authorization", bearer)] if args.token else []
    headers = dict(metadata)
    if args.ca:
        channel = grpc.secure_channel(args.address, grpc.ssl_channel_credentials(open(args.ca, "rb").read()))
        context = ssl.create_default_context(cafile=args.ca)
        connection = http.client.HTTPSConnection(args.address, timeout=20, context=context)
    else:
        channel = grpc.insecure_channel(args.address)
        connection = http.client.HTTPConnection(args.address, timeout=20)
    print(by_grpc(channel, metadata) + by_json(connection, headers), "calls as they should be")


main()
