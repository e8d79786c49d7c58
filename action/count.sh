#!/usr/bin/env bash
# Counts what the kernels of this checkout do and what those of its base did, and compares. The
# variables are the inputs of action.yml: RUN, SETUP, FLAGS, ALLOW, BASE, COALESCE; FOLDER is where
# the results go. The exit code is 1 if a kernel has a fault, a goal is missed or a counter is worse
# than is allowed, and that of RUN if it fails; 2 if something cannot be done, as SETUP.
set -euo pipefail

fail() {
    echo "error: $*" >&2
    exit 2
}

[ -n "${RUN:-}" ] || fail "name a command in RUN"
[ -n "${FOLDER:-}" ] || fail "name a folder in FOLDER"
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
# What an earlier run has left; the folder may have other files.
(cd "$FOLDER" && rm -f {base,head}.json {base,report,errors}.txt report.html coalesce.sarif junit.xml comment.md)

if [ -z "${COALESCE:-}" ]; then
    repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    cargo install --locked --quiet --path "$repository/crates/coalesce" --root "$FOLDER/../coalesce-program"
    COALESCE=$FOLDER/../coalesce-program/bin/coalesce
fi
program=$(command -v -- "$COALESCE") || fail "COALESCE: $COALESCE is no program"
COALESCE=$(realpath -- "$program")

# With quotes, but nothing is evaluated.
xargs -r printf '%s\0' <<<"${FLAGS:-}" >"$FOLDER/flags" 2>/dev/null || fail "FLAGS: a quote has no end: $FLAGS"
mapfile -d '' -t flags <"$FOLDER/flags"
rm "$FOLDER/flags"
read -r -a allowed <<<"${ALLOW:-}"
allows=()
for allow in "${allowed[@]}"; do
    allows+=(--allow "$allow")
done

# Readies the current folder.
setup() {
    [ -z "${SETUP:-}" ] || bash -euo pipefail -c "$SETUP"
}

# Runs the command in the current folder, with these flags of `coalesce run`.
count() {
    "$COALESCE" run "${flags[@]}" "$@" -- bash -euo pipefail -c "$RUN"
}

# The base is counted in a working tree of its own, with the paths of the head. Faults there are not
# this change's.
base=$FOLDER/base.json
why="There is no base to compare with."
if [ -n "${BASE:-}" ]; then
    git rev-parse --quiet --verify --end-of-options "$BASE^{commit}" >/dev/null 2>&1 ||
        git fetch --quiet --depth 1 --end-of-options origin "$BASE" ||
        fail "the commit $BASE cannot be fetched"
    tree=$(mktemp -d)
    trap 'git worktree remove --force "$tree/base" 2>/dev/null || true; rm -rf "$tree"' EXIT
    git worktree add --quiet --detach "$tree/base" "$(git rev-parse --verify --end-of-options "$BASE^{commit}")"
    here=$(git rev-parse --show-prefix)
    # Without the file the program itself failed: what it counted until then is no baseline.
    (cd "$tree/base/$here" && setup && count --save-baseline "$base") >"$FOLDER/base.txt" 2>&1 || true
    [ -f "$base" ] || why="The base could not be counted, so nothing is compared; base.txt says why."
fi

setup || fail "SETUP fails"
against=()
[ ! -f "$base" ] || against=(--baseline "$base" "${allows[@]}")
status=0
count "${against[@]}" --save-baseline "$FOLDER/head.json" --output "$FOLDER/report.txt" --report "$FOLDER/report.html" \
    --sarif "$FOLDER/coalesce.sarif" --junit "$FOLDER/junit.xml" 2>"$FOLDER/errors.txt" || status=$?
[ ! -f "$FOLDER/report.txt" ] || cat "$FOLDER/report.txt"
cat "$FOLDER/errors.txt" >&2

# What the file `head.json` is missing for: the program failed.
case "$status,$([ -f "$base" ] && echo compared),$([ -f "$FOLDER/head.json" ] && echo counted)" in
    0,compared,*) title="nothing is worse" ;;
    0,*) title="no faults, nothing compared" ;;
    *,counted) title="worse, or with faults" ;;
    *) title="the command fails" ;;
esac
{
    echo "### Kernels: $title"
    echo
    if [ -f "$base" ] && [ -f "$FOLDER/head.json" ]; then
        (cd "$FOLDER" && "$COALESCE" compare base.json head.json "${allows[@]}" --format markdown 2>/dev/null) || true
    else
        echo "$why"
    fi
    echo
    echo "<details><summary>The report, with lines and pictures</summary>"
    echo
    # Four spaces make code of any text, also of one that has a fence. A comment has a limit.
    { cat "$FOLDER/report.txt" "$FOLDER/errors.txt" 2>/dev/null || true; } | sed 's/^/    /' | { head -c 50000; cat >/dev/null; }
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
