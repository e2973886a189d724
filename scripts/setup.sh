#!/usr/bin/env bash
# Installs what a fresh Debian 12 or Ubuntu machine lacks, and the packages named as arguments. Calls apt-get only when
# something is missing.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates
  libboost-dev libfmt-dev libeigen3-dev nlohmann-json3-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev
  clang clang-tidy clang-format
  doxygen graphviz
  "$@"
)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; the packages needed are: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  if [[ "$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null)" != ii* ]]; then
    missing+=("$package")
  fi
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

echo "setup: installing ${missing[*]}" >&2
as_root=()
if ((EUID != 0)); then
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
