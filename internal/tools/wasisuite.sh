#!/bin/bash
# Puts the programs of the wasi-testsuite (preview1) into build/wasisuite, a folder for each language. The programs are built by the
# project itself, in the branch prod/testsuite-base of its repository. $1 is another repository with the commit, such as a mirror.
set -eu -o pipefail
from=${1:-https://github.com/WebAssembly/wasi-testsuite}
commit=9f80ca35444cfd9e63100725615140a346652e6c # 2026-08-18
want=a753d1b9944803d816d61c8eb98a2e968abd2e71c7d01dec0af1e1a10cbe38b2
out=build/wasisuite
sum() { (cd "$1" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1); }
if [ -d "$out" ] && [ "$(sum "$out")" = "$want" ]; then exit 0; fi
mkdir -p build
next=$(mktemp -d build/wasisuite.XXXXXX)
trap 'rm -rf "$next"' EXIT
git init -q "$next/git"
git -C "$next/git" fetch -q --depth 1 "$from" "$commit" ||
  { echo "wasisuite: can't fetch $commit from $from: make wasisuite WASISUITE=REPOSITORY takes a mirror" >&2; exit 1; }
mkdir "$next/files"
for of in assemblyscript c rust; do
  mkdir "$next/files/$of"
  git -C "$next/git" archive "$commit:tests/$of/testsuite/wasm32-wasip1" | tar -x -C "$next/files/$of"
done
got=$(sum "$next/files")
[ "$got" = "$want" ] || { echo "wasisuite: the files have the SHA-256 $got, want $want" >&2; exit 1; }
rm -rf "$out"
mv "$next/files" "$out"
