#!/usr/bin/env bash
# Comments on a pull request, or changes its own comment that is there: FOLDER has comment.md,
# PULL_REQUEST is its number, and GH_TOKEN who comments, a bot. Without the permission, as in a pull request
# from a fork, it says so and ends well: the comment is in the run's summary, too.
set -euo pipefail

comments=repos/$GITHUB_REPOSITORY/issues
known=$(gh api --paginate "$comments/$PULL_REQUEST/comments" \
    --jq '.[] | select(.user.type == "Bot" and (.body | rtrimstr("\n") | endswith("<!-- coalesce -->"))) | .id' 2>/dev/null | head -n 1 || true)
if [ -n "$known" ]; then
    send=(--method PATCH "$comments/comments/$known")
else
    send=(--method POST "$comments/$PULL_REQUEST/comments")
fi
if ! gh api "${send[@]}" --field body=@"$FOLDER/comment.md" >/dev/null 2>"$FOLDER/comment.err"; then
    echo "::notice::The pull request has no comment: $(head -n 1 "$FOLDER/comment.err"). Give the job \`pull-requests: write\`."
fi
