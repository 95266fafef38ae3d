#!/usr/bin/env bash
# Clients that others wrote, against every way into the service: tests/clients/run.sh [SUDOKUD [CHROMIUM]]
#
# @grpc/grpc-js, connect-node, connect-web, grpc-web and Python's grpcio. Whatever the machine lacks is installed
# where it can be, and otherwise named as SKIPPED, which does not count as passed. `tests/clients/run.sh --tools` installs
# that and ends.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"

skipped() { printf '\n***** SKIPPED: %s *****\n\n' "$*"; }

only_tools=
if [[ ${1:-} == --tools ]]; then
  only_tools=yes
  shift
fi
SUDOKUD="$(realpath -m "${1:-$root/target/debug/sudokud}")"
if [[ -z $only_tools && ! -x $SUDOKUD ]]; then
  echo "$SUDOKUD is missing. Build it: cargo build --bin sudokud" >&2
  exit 2
fi

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  skipped "clients of other languages: node and npm are missing"
  exit 0
fi
if (($(node -p 'process.versions.node.split(".")[0]') < 20)); then
  skipped "clients of other languages: node is $(node --version), and 20 or later is needed"
  exit 0
fi

cd "$here"
installed=node_modules/.package-lock.json
if [[ ! -e $installed || package-lock.json -nt $installed ]]; then
  npm ci --no-audit --no-fund --loglevel=error || {
    skipped "clients of other languages: the packages of package-lock.json could not be installed"
    exit 0
  }
fi

# The virtual environment of the Python example.
venv="$root/target/tools/grpc"
requirements="$root/examples/python/requirements.txt"
PYTHON=
if command -v python3 >/dev/null; then
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    rm -rf "$venv"
    if python3 -m venv "$venv" && timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"; then
      cp "$requirements" "$venv/installed.txt"
    fi
  fi
  if [[ -e $venv/installed.txt ]]; then PYTHON="$venv/bin/python"; fi
fi
[[ -n $PYTHON ]] || skipped "the client in Python: there is no Python with grpcio, and pip could not install it"

find_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do command -v "$name" && return; done
  return 1
}
CHROMIUM="${2:-${CHROMIUM:-$(find_chromium || true)}}"
if [[ -z $CHROMIUM ]] && command -v apt-get >/dev/null && ((EUID == 0)); then
  echo "installing chromium"
  { apt-get update && apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 || true
  CHROMIUM="$(find_chromium || true)"
fi
if [[ -n $only_tools ]]; then exit; fi

export SUDOKUD PYTHON CHROMIUM
tests=(node.test.js)
if [[ -n $CHROMIUM ]]; then
  tests+=(browser.test.js)
else
  skipped "connect-web and grpc-web: there is no Chromium, and it could not be installed"
fi
node --test --test-reporter=spec "${tests[@]}"
