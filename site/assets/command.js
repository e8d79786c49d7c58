// A command to copy. Its words come from the page's address or from what somebody typed, so they are quoted for a shell.

/// A word as a shell takes it: quoted, unless it has plain characters only. What cannot be seen is not copied.
export function quoted(word) {
  const seen = word.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return /^[\w\-+=:,./@%]+$/.test(seen) ? seen : `'${seen.replaceAll("'", "'\\''")}'`;
}

/// The command with these arguments of `host`.
export const command = (words) => ["cargo run -p host --", ...words.map(quoted)].join(" ");
