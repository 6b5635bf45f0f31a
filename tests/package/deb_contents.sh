#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The .deb in build/packages (scripts/package deb) holds what it should, where Debian expects it.
set -euo pipefail
cd "$(dirname "$0")/../.."

deb=$(echo build/packages/*.deb)
[ -f "$deb" ] || { echo "deb_contents: no .deb in build/packages; run scripts/package deb" >&2; exit 66; }

faults=0
fault() { echo "deb_contents: $*" >&2; faults=$((faults + 1)); }

contents=$(dpkg-deb -c "$deb" | awk '{print $6}')
for path in bin/unhang share/man/man1/unhang.1.gz share/man/man1/unhang-diagnose.1.gz share/man/man1/unhang-explain.1.gz \
  share/bash-completion/completions/unhang share/zsh/vendor-completions/_unhang share/fish/vendor_completions.d/unhang.fish \
  share/doc/unhang/copyright share/doc/unhang/changelog.gz share/doc/unhang/README.md share/doc/unhang/docs/dependencies.md \
  share/doc/unhang/examples/tensor_parallel_hang/README.md share/unhang/verdict-1.json; do
  grep -qx "./usr/$path" <<<"$contents" || fault "lacks /usr/$path"
done
if grep -vE '^\./(usr/?)?$|^\./usr/(bin|share)/' <<<"$contents"; then fault "holds the paths above, outside /usr/bin and /usr/share"; fi

depends=$(dpkg-deb -f "$deb" Depends)
names=$(tr ',' '\n' <<<"$depends" | awk '{print $1}')
for package in libc6 libstdc++6 libarchive13 libsimdjson14; do
  grep -qxF "$package" <<<"$names" || fault "does not depend on $package: $depends"
done

# A second look at the program itself: it must not look for libraries anywhere but in the system.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
dpkg-deb -x "$deb" "$tree"
if objdump -p "$tree/usr/bin/unhang" | grep -E 'RPATH|RUNPATH'; then fault "unhang has the library path above"; fi

echo "deb_contents: $(wc -l <<<"$contents") paths, $faults faults"
[ "$faults" -eq 0 ]
