// The rows of stored answers in a tenant's own database, the same in every store: an answer in pieces under each key, or a
// row without an answer that only notes the key.

const forget = "DELETE FROM _service_meta_replay WHERE probe = ? AND key = ?";

/**
 * How the request hash begins of rows that a file has brought: that they are in is true of the state that has them. So a
 * restore leaves these answers with their state, while all others tell of calls that must not run again in any.
 */
export const OF_ROWS = "rows:";

/** The condition of answers that a restore carries over. */
export const carriedReplays = `request_hash NOT LIKE '${OF_ROWS}%'`;

/** The statements that write the rows. */
export const replayRows = {
  /** Stores one piece: probe, key, number of the piece, request hash, text, end of life. */
  insert: "INSERT INTO _service_meta_replay VALUES (NULL,?,?,?,?,?,?)",
  /** Deletes what is stored under a key: probe, key. */
  forget,
  /** Deletes a note, or an answer that has expired: probe, key, now. */
  forgetNote: `${forget} AND (answer = '' OR expires_at <= ?)`,
  /** Notes a key under which nothing is stored: probe, key, request hash, end of life, probe, key. */
  note: "INSERT INTO _service_meta_replay SELECT NULL, ?, ?, 0, ?, '', ? " +
    "WHERE NOT EXISTS (SELECT 1 FROM _service_meta_replay WHERE probe = ? AND key = ?)",
  /** Copies an answer to another key: the other's probe, key and request hash, then the probe and key that have it. */
  join: "INSERT INTO _service_meta_replay SELECT NULL, ?, ?, piece, ?, answer, expires_at " +
    "FROM _service_meta_replay WHERE probe = ? AND key = ? ORDER BY piece",
} as const;

/** The first 52 bits of a key, which is a hash in hex: a small index holds them; the rows are stored in the order of time. */
export function probeOf(key: string): number {
  return parseInt(key.slice(0, 13), 16);
}

/** An answer in pieces of at most `length` characters, never cut between the halves of a surrogate pair. */
export function* piecesOf(answer: string, length: number): Generator<string> {
  for (let start = 0; start < answer.length;) {
    let end = Math.min(answer.length, start + length);
    if (end < answer.length && (answer.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    yield answer.slice(start, end);
    start = end;
  }
}
