#!/usr/bin/env bash
# The Python example against a server of this machine: its bytes are those of `sudoku solve`. Uses the programs in target/release
# (or in $1), which have to be there, and makes a virtual environment in target/tools/grpc.
set -euo pipefail
cd "$(dirname "$0")/.."
bin="${1:-target/release}"
example=examples/python

if [[ ! -x $bin/sudoku || ! -x $bin/sudokud ]]; then
  echo "$bin has no sudoku and sudokud: cargo build --release --bins" >&2
  exit 2
fi

venv=target/tools/grpc
not_checked() { echo "SKIPPED: $*: the Python example is NOT checked here"; exit 0; }
command -v python3 >/dev/null || not_checked "there is no python3"
if ! cmp -s "$example/requirements.txt" "$venv/installed.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv" || not_checked "python3 cannot make a virtual environment"
  timeout 300 "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -r "$example/requirements.txt" \
    || not_checked "pip cannot install what it needs"
  cp "$example/requirements.txt" "$venv/installed.txt"
fi

work="$(mktemp -d)"
server=
stop() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  server=
}
trap 'stop; rm -rf "$work"' EXIT

# Starts a server with these flags on a free port, and sets `address`.
serve() {
  stop
  # Emptied before anything looks into it: the server's own redirection may come later, and what the last one said is still there.
  : >"$work/log"
  "$bin/sudokud" --listen 127.0.0.1:0 "$@" 2>"$work/log" &
  server=$!
  address=
  for _ in $(seq 1200); do
    address="$(sed -n 's/.*listening on //p' "$work/log")"
    if [[ -n $address ]]; then return; fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/log" >&2
  echo "the server did not start" >&2
  exit 1
}

# Runs the example on the sample, and compares its answers.
example() {
  timeout 120 "$venv/bin/python" "$example/solve_stream.py" "$work/puzzles.txt" "$@" >"$work/answers.txt"
  cmp "$work/answers.txt" "$work/expected.txt"
}

# It must fail, with exit code 2 and a sentence that has these words in it.
fails() {
  local words="$1" code=0
  shift
  timeout 120 "$venv/bin/python" "$example/solve_stream.py" "$@" >"$work/out.txt" 2>"$work/said.txt" || code=$?
  if [[ $code != 2 ]] || ! grep -q "$words" "$work/said.txt" || [[ $(wc -l <"$work/said.txt") != 1 ]]; then
    echo "exit code $code instead of 2 with \"$words\":" >&2
    cat "$work/said.txt" >&2
    exit 1
  fi
}

for _ in $(seq 10); do cat src/bin/sudoku/demo.txt; done >"$work/puzzles.txt"
"$bin/sudoku" solve --quiet --question unique "$work/puzzles.txt" >"$work/expected.txt"

serve
example --unique --server "http://$address"
echo "$(wc -l <"$work/answers.txt") answers, the same bytes as offline"
fails "No such file" "$work/missing.txt" --server "http://$address"
fails "is no server address" "$work/puzzles.txt" --server "$address"
# A line that is longer than a message may be.
{ cat src/bin/sudoku/demo.txt; head -c 2000000 /dev/zero | tr '\0' 1; } >"$work/long.txt"
fails "RESOURCE_EXHAUSTED" "$work/long.txt" --server "http://$address"

# Only puzzles that have a solution: a puzzle by itself has its place in the stream for a line number.
"$bin/sudoku" solve --quiet --format csv src/bin/sudoku/demo.txt | sed -nE 's/^([0-9.]{81}),[1-9]{81}$/\1/p' >"$work/sound.txt"
"$bin/sudoku" solve --quiet "$work/sound.txt" >"$work/sound-answers.txt"
serve --threads 1
timeout 300 "$venv/bin/python" tests/python_small_messages.py "http://$address" "$work/sound.txt" "$work/sound-answers.txt"

printf '# a comment\npython-example-token\n' >"$work/tokens"
printf 'some-other-token-here\n' >"$work/wrong"
serve --token-file "$work/tokens"
example --unique --server "http://$address" --token-file "$work/tokens"
fails "UNAUTHENTICATED" "$work/puzzles.txt" --server "http://$address" --token-file "$work/wrong"
echo "the same with a token, and nothing without it"

if ! command -v openssl >/dev/null; then
  echo "there is no openssl to make a certificate: encryption is NOT checked here"
  exit 0
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=test \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
serve --token-file "$work/tokens" --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"
example --unique --server "https://$address" --tls-ca "$work/cert.pem" --token-file "$work/tokens"
echo "the same encrypted"
