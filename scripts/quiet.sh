#!/usr/bin/env bash
# Runs a command and shows its output only if it fails.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$@" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
