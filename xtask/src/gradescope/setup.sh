#!/usr/bin/env bash
# Gradescope runs this once, as root and with a network, when it builds the image of an assignment.
#
# It installs, unless they are there:
#
#   from Ubuntu's packages   ca-certificates, curl, gcc, libc6-dev
#   by rustup                Rust, with rust-src and llvm-tools: the compiler for GPU kernels
#
# Then it compiles the grader, and marks a class of one who handed in nothing. That compiles all
# that is compiled once, and runs each solution: afterwards run_autograder needs no network.
set -euo pipefail
root=${AUTOGRADER:-/autograder}
. "$root/source/settings.sh"

if ! command -v gcc >/dev/null || ! command -v curl >/dev/null || [ ! -e /usr/include/stdlib.h ]; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates curl gcc libc6-dev
fi
if ! command -v rustup >/dev/null; then
    init=$(mktemp -d)/rustup-init
    curl --proto '=https' --tlsv1.2 -sSf -o "$init" \
        "https://static.rust-lang.org/rustup/dist/$(uname -m)-unknown-linux-gnu/rustup-init"
    chmod +x "$init"
    "$init" -y --no-modify-path --profile minimal --default-toolchain none
fi
components=$(rustup component list --installed 2>/dev/null || true)
if ! grep -q '^rust-src' <<<"$components" || ! grep -q '^llvm-tools' <<<"$components"; then
    rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --component rust-src --component llvm-tools
fi

cd "$root/source/coalesce"
cargo build --locked --package learn
class=$(mktemp -d)
trap 'rm -rf "$class"' EXIT
mkdir "$class/nobody"
"${grade[@]}" "$class"
