#!/usr/bin/env bash
# Counts what the kernels of this checkout do and what those of its base did, and compares. The
# variables are the inputs of action.yml: RUN, SETUP, FLAGS, ALLOW, BASE, COALESCE; FOLDER is where
# the results go. The exit code is 1 if a kernel has a fault, a goal is missed or a counter is worse
# than is allowed, and 2 if something cannot be done.
set -euo pipefail

fail() {
    echo "error: $*" >&2
    exit 2
}

[ -n "${RUN:-}" ] || fail "name a command in RUN"
[ -n "${FOLDER:-}" ] || fail "name a folder in FOLDER"
rm -rf "$FOLDER"
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)

if [ -z "${COALESCE:-}" ]; then
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    cargo install --locked --quiet --path "$repository/crates/coalesce" --root "$FOLDER/../coalesce-program"
    COALESCE=$FOLDER/../coalesce-program/bin/coalesce
fi
COALESCE=$(realpath "$COALESCE")

read -r -a flags <<<"${FLAGS:-}"
read -r -a allowed <<<"${ALLOW:-}"
allows=()
for allow in "${allowed[@]}"; do
    allows+=(--allow "$allow")
done

# Runs the command in the current folder, with these flags of `coalesce run`.
count() {
    { [ -z "${SETUP:-}" ] || bash -euo pipefail -c "$SETUP"; } &&
        "$COALESCE" run "${flags[@]}" "$@" -- bash -euo pipefail -c "$RUN"
}

# The base is counted in a working tree of its own, so that its paths are those of the head. What is
# wrong there is not this change's fault.
base=$FOLDER/base.json
if [ -n "${BASE:-}" ]; then
    git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$BASE" ||
        fail "the commit $BASE cannot be fetched"
    tree=$(mktemp -d)
    trap 'git worktree remove --force "$tree/base" 2>/dev/null || true; rm -rf "$tree"' EXIT
    git worktree add --quiet --detach "$tree/base" "$BASE"
    here=$(git rev-parse --show-prefix)
    if ! (cd "$tree/base/$here" && count --save-baseline "$base") >"$FOLDER/base.txt" 2>&1; then
        echo "note: the base was counted with an error, see base.txt" >&2
    fi
fi

against=()
[ ! -f "$base" ] || against=(--baseline "$base" "${allows[@]}")
status=0
count "${against[@]}" --save-baseline "$FOLDER/head.json" --output "$FOLDER/report.txt" --report "$FOLDER/report.html" \
    --sarif "$FOLDER/coalesce.sarif" --junit "$FOLDER/junit.xml" 2>"$FOLDER/errors.txt" || status=$?
[ ! -f "$FOLDER/report.txt" ] || cat "$FOLDER/report.txt"
cat "$FOLDER/errors.txt" >&2

{
    if [ "$status" -eq 0 ]; then echo "### Kernels: nothing is worse"; else echo "### Kernels: worse, or with faults"; fi
    echo
    if [ -f "$base" ] && [ -f "$FOLDER/head.json" ]; then
        (cd "$FOLDER" && "$COALESCE" compare base.json head.json "${allows[@]}" --format markdown 2>/dev/null) || true
    else
        echo "There is no base to compare with."
    fi
    echo
    echo "<details><summary>The report, with lines and pictures</summary>"
    echo
    # Four spaces make code of any text, also of one that has a fence.
    cat "$FOLDER/report.txt" "$FOLDER/errors.txt" 2>/dev/null | head -c 50000 | sed 's/^/    /'
    echo
    echo "</details>"
    if [ -n "${GITHUB_RUN_ID:-}" ]; then
        echo
        echo "[report.html is among the files of this run.]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID)"
    fi
    echo
    echo "<!-- coalesce -->"
} >"$FOLDER/comment.md"
exit "$status"
