#!/usr/bin/env python3
"""Simulates a job over very many puzzles on very many workers: how long it takes with shards of
different sizes, stragglers and lost workers, and what is spent on reading. No packages needed.

    python3 deploy/simulate.py                       the tables of docs/capacity.md
    python3 deploy/simulate.py --workers 200 --puzzles 1e9 --storage 5e9

A worker starts, reads, solves, and writes; then it takes the next shard. All readers share the
bandwidth of the storage equally, up to what one network card takes; writers do too. A lost worker
is replaced after a pause, and its shard begins again with the reading, but goes on with solving
where its last checkpoint was. Everything follows from the seed.

Input as one file: a run over shard K/N reads all bytes before its shard, to count lines (and hash
them). As a file for each shard: only its own.
"""

import argparse
import heapq
import random
import statistics

LINE = 82  # bytes of a puzzle and of its answer, with the newline


class Pipe:
    """Bandwidth that all users share equally, each up to a limit: a virtual clock of bytes a user."""

    def __init__(self, total, each):
        self.total, self.each = total, each
        self.now = self.bytes = 0.0
        self.users = []  # (clock at which it is done, number)
        self.moved = 0.0

    def rate(self):
        return min(self.each, self.total / len(self.users)) if self.users else 0.0

    def advance(self, now):
        self.bytes += (now - self.now) * self.rate()
        self.now = now

    def add(self, now, number, size):
        self.advance(now)
        self.moved += size
        heapq.heappush(self.users, (self.bytes + size, number))

    def remove(self, now, number):
        self.advance(now)
        left = next((done - self.bytes for done, known in self.users if known == number), 0.0)
        self.moved -= max(left, 0.0)
        self.users = [user for user in self.users if user[1] != number]
        heapq.heapify(self.users)

    def next(self):
        """When the first user is done."""
        return self.now + max(self.users[0][0] - self.bytes, 0.0) / self.rate() if self.users else float("inf")


def simulate(plan, shards, one_file, backups=False, seed=1):
    """Seconds until the last answer, and what was spent."""
    rng = random.Random(seed)
    size = plan.puzzles / shards * LINE
    work = plan.puzzles / shards / plan.rate / plan.cores
    reading, writing = Pipe(plan.storage, plan.card), Pipe(plan.storage, plan.card)
    # Shards with the most to read come first, so that they are not the last to end.
    waiting = list(range(shards))
    done_work = [0.0] * shards
    finished = [False] * shards
    copies = [0] * shards
    shard_of, phase, begun, speed = {}, {}, {}, {}
    events = []  # (time, number of the event, kind, worker, attempt)
    attempt = {worker: 0 for worker in range(plan.workers)}
    counter = lost = ended = wasted_bytes = 0
    busy = 0.0
    ends = []

    def at(time, kind, worker):
        nonlocal counter
        counter += 1
        heapq.heappush(events, (time, counter, kind, worker, attempt[worker]))

    def take(now, worker):
        """The next shard, or with backups a copy of one that is still on the way."""
        if waiting:
            shard = waiting.pop()
        elif backups:
            open_ones = [shard for shard in range(shards) if not finished[shard] and copies[shard] == 1]
            if not open_ones:
                return
            shard = min(open_ones, key=lambda shard: done_work[shard])
        else:
            return
        copies[shard] += 1
        shard_of[worker], phase[worker] = shard, "start"
        speed[worker] = 1.0 if rng.random() > plan.slow_share else 1.0 / plan.slow_times
        at(now + plan.start * rng.uniform(0.5, 1.5), "step", worker)
        at(now + rng.expovariate(1 / plan.between_losses), "lose", worker)

    def release(now, worker):
        attempt[worker] += 1
        shard_of.pop(worker, None)
        reading.remove(now, worker) if phase.get(worker) == "read" else None
        writing.remove(now, worker) if phase.get(worker) == "write" else None
        phase.pop(worker, None)

    for worker in range(plan.workers):
        # The cluster's controller makes pods one after another.
        attempt[worker] += 1
        at(worker / plan.pods_per_second, "idle", worker)
    now = 0.0
    while ended < shards:
        times = [(events[0][0] if events else float("inf"), "event"), (reading.next(), "read"), (writing.next(), "write")]
        now, what = min(times)
        if what == "event":
            _, _, kind, worker, number = heapq.heappop(events)
            if number != attempt[worker]:
                continue
        else:
            pipe = reading if what == "read" else writing
            pipe.advance(now)
            _, worker = heapq.heappop(pipe.users)
            kind = "step"
        if kind == "idle":
            take(now, worker)
        elif kind == "lose":
            shard = shard_of[worker]
            lost += 1
            if phase[worker] == "solve":
                spent = (now - begun[worker]) * speed[worker]
                done_work[shard] = min(work, done_work[shard] + max(0.0, spent - 0.2))
                busy += (now - begun[worker]) * plan.cores
            release(now, worker)
            copies[shard] -= 1
            if not finished[shard] and copies[shard] == 0:
                waiting.append(shard)
            at(now + plan.pause, "idle", worker)
        elif phase[worker] == "start":
            shard = shard_of[worker]
            phase[worker] = "read"
            reading.add(now, worker, size * (shard + 1) if one_file else size)
        elif phase[worker] == "read":
            phase[worker], begun[worker] = "solve", now
            at(now + (work - done_work[shard_of[worker]]) / speed[worker], "step", worker)
        elif phase[worker] == "solve":
            busy += (now - begun[worker]) * plan.cores
            phase[worker] = "write"
            writing.add(now, worker, size)
        else:
            shard = shard_of[worker]
            release(now, worker)
            if not finished[shard]:
                finished[shard] = True
                ended += 1
                ends.append(now)
                # Copies of it are stopped.
                for other in [other for other, known in shard_of.items() if known == shard]:
                    release(now, other)
                    at(now, "idle", other)
            at(now, "idle", worker)
    ends.sort()
    return {
        "seconds": now, "half": statistics.median(ends), "read": reading.moved, "lost": lost,
        "core_hours": busy / 3600, "reserved": now * plan.workers * plan.cores / 3600,
    }


def time_text(seconds):
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.1f} h"


def row(name, found):
    return (f"| {name} | {time_text(found['half'])} | {time_text(found['seconds'])} | {found['read'] / 1e12:,.1f} TB | {found['lost']} "
            f"| {found['core_hours']:,.1f} | {found['reserved']:,.0f} |")


HEADING = ("| {} | half of the shards done after | all | read | workers lost | core-hours of solving | core-hours reserved |\n"
           "|---|---|---|---|---|---|---|")


def main():
    parser = argparse.ArgumentParser(description="Simulate a job over very many puzzles.")
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=2, help="of a worker")
    parser.add_argument("--puzzles", type=float, default=1e10)
    parser.add_argument("--rate", type=float, default=1e6, help="puzzles a second of a core")
    parser.add_argument("--storage", type=float, default=20e9, help="bytes a second of the storage, each way")
    parser.add_argument("--card", type=float, default=1.25e9, help="bytes a second of a worker's network card")
    parser.add_argument("--start", type=float, default=5, help="seconds until a pod runs")
    parser.add_argument("--pods-per-second", type=float, default=20, help="pods that the cluster makes")
    parser.add_argument("--slow-share", type=float, default=0.02, help="of workers that are slow")
    parser.add_argument("--slow-times", type=float, default=5, help="how many times as slow")
    parser.add_argument("--between-losses", type=float, default=24 * 3600, help="seconds of a worker until it is lost")
    parser.add_argument("--pause", type=float, default=20, help="seconds until a lost worker is replaced")
    plan = parser.parse_args()

    def hard(**changes):
        return argparse.Namespace(**{**vars(plan), **changes})

    print("One file, `--shard K/N`:\n")
    print(HEADING.format("shards"))
    for workers, cores in [(plan.workers, plan.cores), (plan.workers // 10, plan.cores * 10)]:
        print(row(f"{workers:,} for {workers:,} workers of {cores} cores",
                  simulate(hard(workers=workers, cores=cores), workers, True)))
    print("\nA file for each shard:\n")
    print(HEADING.format("files"))
    for shards in (1, 2, 4, 10, 40):
        print(row(f"{plan.workers * shards:,}", simulate(plan, plan.workers * shards, False)))
    print("\nPuzzles a thousand times as hard (`--rate 1000`), a file for each shard:\n")
    print(HEADING.format("files"))
    for shards in (1, 4, 10, 40):
        print(row(f"{plan.workers * shards:,}", simulate(hard(rate=plan.rate / 1000), plan.workers * shards, False)))
    print(row(f"{plan.workers * 4:,}, and copies of what is slow",
              simulate(hard(rate=plan.rate / 1000), plan.workers * 4, False, backups=True)))
    print("\nThe same with a worker lost every hour of its time (spot machines):\n")
    print(HEADING.format("files"))
    for shards in (1, 4, 40):
        print(row(f"{plan.workers * shards:,}", simulate(hard(rate=plan.rate / 1000, between_losses=3600), plan.workers * shards, False)))


if __name__ == "__main__":
    main()
