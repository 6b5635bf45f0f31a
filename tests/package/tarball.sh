#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball in build/packages (scripts/package tarball) runs wherever it is unpacked, with the libraries that it carries,
# and needs nothing newer than Ubuntu 22.04 has.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset LD_LIBRARY_PATH

tarball=$(echo build/packages/*.tar.gz)
[ -f "$tarball" ] || { echo "tarball: no tarball in build/packages; run scripts/package tarball" >&2; exit 66; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/some where" # a space in the path is ordinary
tar -xzf "$tarball" -C "$place/some where" --strip-components=1
root="$place/some where"

python3 scripts/check_symbols.py --carried "$root/lib/unhang" "$root/bin/unhang" "$root"/lib/unhang/*.so*

# Each library that is not of every system must come from the tarball, not from this machine.
strays=$(ldd "$root/bin/unhang" | sed -n 's/.* => \(.*\) (0x.*/\1/p' | grep -vE '/lib(c|m|stdc\+\+|gcc_s)\.so' |
  grep -vF "$root/" || true)
[ -z "$strays" ] || { echo "tarball: loaded from outside: $strays" >&2; exit 1; }
for package in libarchive13 libsimdjson14; do
  [ -s "$root/share/doc/unhang/third-party/$package.txt" ] || { echo "tarball: no licence of $package" >&2; exit 1; }
done

status=0
(cd / && "$root/bin/unhang" diagnose "$root/share/doc/unhang/examples/tensor_parallel_hang") >"$place/screen" || status=$?
if [ "$status" -ne 2 ] || ! grep -q 'rank 5' "$place/screen"; then
  cat "$place/screen"
  echo "tarball: the example gave exit status $status, and 2 with rank 5 was expected" >&2
  exit 1
fi
echo "tarball: runs from another place, $(find "$root/lib/unhang" -type f | wc -l) libraries carried, $(du -h "$tarball" | cut -f1) packed"
