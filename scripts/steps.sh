# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by quickstart, run-tests and .ci/run: named steps with their time.
#
#   step "Build" cmake --build build/release      # output shown
#   quiet_step "Build" cmake --build build/release  # output kept in build/logs/, shown only when the step fails

say() { printf '\n== %s\n' "$*"; }

step() {
  local title=$1 begin=$SECONDS status=0
  shift
  say "$title"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '== %s: FAILED with status %d after %d s\n' "$title" "$status" $((SECONDS - begin)) >&2
    return "$status"
  fi
  printf '   (%s: %d s)\n' "$title" $((SECONDS - begin))
}

quiet_step() {
  local title=$1 begin=$SECONDS status=0 log
  shift
  mkdir -p build/logs
  log=build/logs/$(printf '%s' "$title" | tr -cs 'A-Za-z0-9\n' '-').log
  printf '== %s …' "$title"
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    printf ' FAILED with status %d after %d s; the end of %s:\n' "$status" $((SECONDS - begin)) "$log"
    tail -n 60 "$log"
    return "$status"
  fi
  printf ' %d s\n' $((SECONDS - begin))
  grep '^note:' "$log" || true
}
