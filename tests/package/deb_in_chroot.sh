#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Slow, needs root and a Debian mirror: the .deb installs and runs on a bare Debian 12 (debootstrap, minbase), and the tarball
# runs there without any package.
#
#   tests/package/deb_in_chroot.sh [FOLDER]     a folder with an unpacked bare system instead of a new one (it is changed)
set -euo pipefail
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

[ "$(id -u)" -eq 0 ] || { echo "skipped: debootstrap and chroot need root"; exit 77; }
scripts/install-packages build package slow
scripts/package
example=examples/tensor_parallel_hang

if [ $# -gt 0 ]; then
  bare=$1
else
  bare=$(mktemp -d)
  trap 'rm -rf --one-file-system "$bare"' EXIT
  debootstrap --variant=minbase bookworm "$bare" http://deb.debian.org/debian >"$bare.log" 2>&1 || {
    tail -n 20 "$bare.log" >&2
    exit 1
  }
  rm -f "$bare.log"
fi

run() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null; }

expect_rank_5() { # command…
  local status=0 screen
  screen=$(run "$@") || status=$?
  if [ "$status" -ne 2 ] || ! grep -q 'rank 5' <<<"$screen"; then
    printf '%s\n' "$screen"
    echo "deb_in_chroot: exit status $status; 2 and rank 5 expected: $*" >&2
    exit 1
  fi
}

echo "== tarball on a bare system"
mkdir -p "$bare/opt/unhang"
tar -xzf build/packages/*.tar.gz -C "$bare/opt/unhang" --strip-components=1
if run dpkg-query -W libarchive13 libsimdjson14 2>/dev/null; then
  echo "deb_in_chroot: the system is not bare" >&2
  exit 1
fi
# The loader finds $ORIGIN through /proc, which this chroot does not have; LD_ORIGIN_PATH is its stand-in for that.
expect_rank_5 LD_ORIGIN_PATH=/opt/unhang/bin /opt/unhang/bin/unhang diagnose "/opt/unhang/share/doc/unhang/$example"

echo "== .deb on a bare system"
cp build/packages/*.deb "$bare/tmp/unhang.deb"
run apt-get -qq update
run apt-get -qq install -y --no-install-recommends /tmp/unhang.deb >/dev/null
expect_rank_5 unhang diagnose "/usr/share/doc/unhang/$example"
run test -s /usr/share/man/man1/unhang.1.gz
run test -s /usr/share/bash-completion/completions/unhang
run bash -n /usr/share/bash-completion/completions/unhang
run apt-get -qq remove -y unhang >/dev/null
if run test -e /usr/bin/unhang; then
  echo "deb_in_chroot: /usr/bin/unhang survived its removal" >&2
  exit 1
fi
echo "deb_in_chroot: both packages run on a bare Debian 12"
