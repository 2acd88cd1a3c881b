# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Sourced by the scripts of this folder: where things are, and how the scripts talk.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

# Notes go to stderr, so that what a script prints on stdout can be used by another one.
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# fail STATUS SENTENCE
fail() {
    local status=$1
    shift
    printf '%s: error: %s\n' "${0##*/}" "$*" >&2
    exit "$status"
}

# Prints the comment block at the head of the calling script: it is the script's help.
show_help() { sed -n '3,/^[^#]/{/^# \{0,1\}/s///p}' "$0"; }

# configure PRESET: quiet, the log is shown only when something is wrong.
configure() {
    local log="$root/build/$1/configure.log"
    mkdir -p "$root/build/$1"
    say "configuring (preset $1)"
    if ! cmake -S "$root" --preset "$1" >"$log" 2>&1; then
        cat "$log" >&2
        fail 1 "CMake could not configure build/$1; the reason stands above."
    fi
}

# build PRESET [TARGET...]
build() {
    local preset=$1
    shift
    say "building (preset $preset${*:+: $*})"
    (cd "$root" && cmake --build --preset "$preset" ${1:+--target "$@"}) >&2 ||
        fail 1 "the build failed; the reason stands above."
}
