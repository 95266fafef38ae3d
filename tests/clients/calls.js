/**
 * What every client does with the service, whatever way it comes in: all methods, statuses with their
 * details, and a deadline. Runs in Node and in a browser.
 *
 * Answers are checked by the rules of the game, not by what the service says of them.
 */

import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

export const SERVICE = "sudoku.v1.SudokuService";

const EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

const ENDLESS = ".".repeat(625);

const STRING = { type: 9, label: 1 };

/** The part of google.rpc that is read here; a client has it from a package. */
const DETAILS = create(FileDescriptorProtoSchema, {
  name: "details.proto",
  package: "google.rpc",
  syntax: "proto3",
  messageType: [
    {
      name: "ErrorInfo",
      field: [
        { name: "reason", number: 1, ...STRING },
        { name: "domain", number: 2, ...STRING },
      ],
    },
    {
      name: "BadRequest",
      field: [
        { name: "field_violations", number: 1, type: 11, label: 3, typeName: ".google.rpc.BadRequest.FieldViolation" },
      ],
      nestedType: [{ name: "FieldViolation", field: [{ name: "field", number: 1, ...STRING }] }],
    },
  ],
});

/** The registry of a service, by the descriptions of its files. */
export function registryOf(descriptions) {
  const file = descriptions.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  file.push(DETAILS);
  const set = create(FileDescriptorSetSchema, { file });
  return createFileRegistry(set);
}

export function equal(found, wanted, what) {
  const [left, right] = [found, wanted].map((it) => JSON.stringify(it, (_, v) => (typeof v === "bigint" ? `${v}` : v)));
  if (left !== right) throw new Error(`${what}: ${left} and not ${right}`);
}

/** Throws unless a solution keeps the rules and the clues. */
export function assertSolves(solution, puzzle) {
  const side = Math.sqrt(puzzle.length);
  const box = Math.sqrt(side);
  const houses = new Map();
  for (let cell = 0; cell < puzzle.length; cell++) {
    if (puzzle[cell] !== "." && puzzle[cell] !== solution[cell]) throw new Error(`${solution} changes a clue of ${puzzle}`);
    const [row, column] = [Math.floor(cell / side), cell % side];
    for (const house of [`r${row}`, `c${column}`, `b${Math.floor(row / box)},${Math.floor(column / box)}`]) {
      houses.set(house, (houses.get(house) ?? new Set()).add(solution[cell]));
    }
  }
  const isFull = [...houses.values()].every((values) => values.size === side);
  if (!isFull || /[^1-9]/.test(solution)) throw new Error(`${solution} breaks a rule`);
}

async function all(stream) {
  const found = [];
  for await (const part of stream) found.push(part);
  return found;
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call did not fail");
}

const utf8 = new TextEncoder();
const text = (bytes) => new TextDecoder().decode(bytes);

/** The answers to lines, checked: a solution each. */
function assertLines(bytes, puzzles) {
  const answers = text(bytes).trimEnd().split("\n");
  equal(answers.length, puzzles.length, "answers");
  answers.forEach((answer, at) => assertSolves(answer, puzzles[at]));
}

const join = (parts) => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
};

/**
 * Calls every method. `client` is one of Connect's, over any transport.
 * @param {any} client
 * @param {{ puzzles: string[], streamsBothWays: boolean }} options
 * @returns {Promise<number>} the number of calls
 */
export async function everyMethod(client, { puzzles, streamsBothWays }) {
  const { answers } = await client.solve({ puzzle: EASY, options: { question: 2 } });
  equal(answers[0].result.case, "solution", "solve");
  assertSolves(answers[0].result.value, EASY);
  const bad = await client.solve({ text: utf8.encode(`${EASY}\n${EASY.slice(1)}\n`) });
  equal(bad.answers[1].result.value.message, "Line 2 has the wrong length. It has 80 cells; a 9x9 puzzle has 81.", "a bad puzzle is an answer");

  const solution = answers[0].result.value;
  equal((await client.check({ puzzle: solution })).grids[0].message, "The puzzle is correctly solved.", "check");
  equal((await client.validate({ puzzle: EASY })).valid, true, "validate");
  equal((await client.count({ puzzle: "12.............." })).result.value, 24n, "count");
  const hint = await client.hint({ puzzle: EASY });
  equal(hint.result.case, "step", "hint");
  const [{ cell, digit }] = hint.result.value.placements;
  equal(solution[(cell.row - 1) * 9 + cell.column - 1], String(digit), "the hint");

  equal((await client.listDatasets({})).datasets.map(({ name }) => name), ["six.txt"], "data sets");
  const third = await client.getPuzzle({ name: "six.txt", index: 3n });
  equal([third.puzzle, third.count], [puzzles[2], 6n], "a puzzle by its number");

  const traced = await all(client.trace({ puzzle: EASY, options: { strategy: "propagation" } }));
  equal(traced.at(-1).end.answer.result.value, solution, "the end of the trace");
  const steps = traced.flatMap((part) => part.steps);
  equal(steps.filter(({ kind }) => kind === 1 || kind === 2).length, 51, "digits placed");
  const made = await all(client.generate({ count: 300n, seed: 7n, withSolutions: true }));
  const lines = (name) => text(join(made.map((part) => part[name]))).trimEnd().split("\n");
  const solutions = lines("solutions");
  equal(solutions.length, 300, "puzzles made");
  lines("puzzles").forEach((puzzle, at) => assertSolves(solutions[at], puzzle));
  const solved = await all(client.solveDataset({ name: "six.txt" }));
  assertLines(join(solved.map((part) => part.lines)), puzzles);
  equal(solved.at(-1).tally.answers, 6n, "the tally");
  let calls = 11;

  if (streamsBothWays) {
    // Each message is sent when the one before is answered: the stream goes both ways at once.
    let answered;
    async function* messages() {
      for (let message = 0; message < 3; message++) {
        const next = new Promise((resolve) => (answered = resolve));
        yield { lines: utf8.encode(`${puzzles.join("\n")}\n`), options: { question: 2 } };
        await next;
      }
    }
    let responses = 0;
    for await (const { lines } of client.solveLines(messages())) {
      assertLines(lines, puzzles);
      responses++;
      answered();
    }
    equal(responses, 3, "messages answered");
    async function* batches() {
      yield { batchId: 7n, puzzles: puzzles.map((puzzle) => utf8.encode(puzzle)) };
    }
    const [{ batchId, answers }] = await all(client.solveStream(batches()));
    equal(batchId, 7n, "the batch");
    answers.forEach((answer, at) => assertSolves(answer.result.value, puzzles[at]));
    calls += 2;
  }
  return calls;
}

/**
 * Calls that fail, and how.
 * @param {any} client
 * @param {ReturnType<typeof registryOf>} registry
 */
export async function everyFailure(client, registry) {
  const id = "an-id-of-the-client";
  const field = await failure(client.solve({ puzzle: EASY, options: { order: 9 } }, { headers: { "x-request-id": id } }));
  equal(field.code, Code.InvalidArgument, "an invalid field");
  equal(field.rawMessage.startsWith("9 is no order."), true, field.rawMessage);
  equal(field.metadata.get("x-request-id"), id, "the id of the call");
  const [info] = field.findDetails(registry.getMessage("google.rpc.ErrorInfo"));
  equal([info?.reason, info?.domain], ["FIELD_INVALID", "sudoku.v1"], "the reason");
  const [badRequest] = field.findDetails(registry.getMessage("google.rpc.BadRequest"));
  equal(badRequest?.fieldViolations[0].field, "options.order", "the field");
  const missing = await failure(all(client.solveDataset({ name: "missing.txt" })));
  equal(missing.code, Code.NotFound, "a data set that is missing");
  const late = client.count(
    { puzzle: ENDLESS, countLimit: 1_000_000_000_000n, nodeLimit: 10_000_000n, strategy: "backtracking" },
    { timeoutMs: 60 },
  );
  equal((await failure(late)).code, Code.DeadlineExceeded, "a deadline");
  const leaving = new AbortController();
  const stream = client.generate({ count: 1_000_000n, randomClues: 5 }, { signal: leaving.signal });
  const left = await failure(
    (async () => {
      for await (const _ of stream) leaving.abort();
    })(),
  );
  equal(left.code, Code.Canceled, "a client that leaves");
}

/** What a client without a token is told, and one that has it is given. */
export async function onlyWithToken(client, token) {
  const refused = await failure(client.solve({ puzzle: EASY }));
  equal(refused.code, Code.Unauthenticated, "no token");
  const wrong = { headers: { authorization: "Bearer another-token-of-that-kind-012345" } };
  equal((await failure(all(client.trace({ puzzle: EASY }, wrong)))).code, Code.Unauthenticated, "a wrong token");
  const { answers } = await client.solve({ puzzle: EASY }, { headers: { authorization: `Bearer ${token}` } });
  assertSolves(answers[0].result.value, EASY);
}

/** A message above the limit of the server. */
export async function tooLong(client) {
  const long = await failure(client.validate({ puzzle: `${EASY}\n`.repeat(20_000) }));
  equal(long.code, Code.ResourceExhausted, "a long message");
  equal(/limit of \d+ bytes/.test(long.rawMessage), true, long.rawMessage);
}
