#!/usr/bin/env bash
# The tests of the page in a headless Chromium: tests/page/run.sh [SUDOKUD [CHROMIUM]]
#
# Checks the types of the page's modules, then uses the page as a person would. Screenshots are kept in
# target/page-screenshots (SCREENSHOTS=DIR for another folder). Whatever the machine lacks is installed
# where it can be, and otherwise named as SKIPPED, which does not count as passed. `tests/page/run.sh --tools` installs that
# and ends.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"

skip() {
  printf '\n***** SKIPPED: the tests of the page in a browser: %s *****\n\n' "$*"
  exit 0
}

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

command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are missing"
if (($(node -p 'process.versions.node.split(".")[0]') < 20)); then
  skip "node is $(node --version), and 20 or later is needed"
fi

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
[[ -n $CHROMIUM ]] || skip "there is no Chromium, and it could not be installed"

cd "$here"
installed=node_modules/.package-lock.json
if [[ ! -e $installed || package-lock.json -nt $installed ]]; then
  npm ci --no-audit --no-fund --loglevel=error || skip "the packages of package-lock.json could not be installed"
fi
if [[ -n $only_tools ]]; then exit; fi

echo "types of the page's modules"
npx --no-install tsc -p jsconfig.json

export SUDOKUD CHROMIUM
export SCREENSHOTS="${SCREENSHOTS:-$root/target/page-screenshots}"
node --test --test-reporter=spec ./*.test.js
echo "screenshots are in $SCREENSHOTS"
