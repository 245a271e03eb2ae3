// Notes of a remote database's rows, fetched in as few answers as the server gives.
import type { EngineValue } from "../../engine/result_json.ts";
import type { Answer, OwnStep, Work } from "../calls/work.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";

/** Rows of one step. */
type Rows = readonly (readonly EngineValue[])[];

/** Notes that are fetched at once. */
const NOTES_AT_ONCE = 10_000;
/** Characters of a note that are fetched at once where it is too large for one answer. */
const PIECE_LENGTH = 1_000_000;

/**
 * As many notes as the server sends at once, behind the first `skipped`. `source` selects their parts, and takes that number
 * and a number of rows. They travel as one text, for a value of an answer costs more than all that is in it.
 */
export function* readNotes(source: string, skipped: number): Work<readonly (readonly unknown[])[]> {
  for (let limit = NOTES_AT_ONCE;; limit = Math.ceil(limit / 10)) {
    const params = [skipped, limit];
    const [answer] = yield { steps: [{ sql: asText(source, "t"), params }] };
    if (answer?.ok) return JSON.parse(String(answer.rows[0]?.[0]));
    if (answer?.failure.kind !== "result_too_large") throw refused(answer);
    if (limit === 1) return yield* inPieces(source, params);
  }
}

/** One note that is too large for an answer. */
function* inPieces(source: string, params: readonly number[]): Work<readonly (readonly unknown[])[]> {
  for (let [text, at] = ["", 1];; at += PIECE_LENGTH) {
    const [rows] = yield* rowsOfAll([{ sql: asText(source, `substr(t, ${at}, ${PIECE_LENGTH})`), params }]);
    const piece = String(rows?.[0]?.[0] ?? "");
    if (piece === "") return JSON.parse(text);
    text += piece;
  }
}

/** Rows of each step. Throws `RemoteFailure` where the server refuses one. */
export function* rowsOfAll(steps: readonly OwnStep[]): Work<readonly Rows[]> {
  const answers = yield { steps };
  return answers.map((answer) => {
    if (!answer.ok) throw refused(answer);
    return answer.rows;
  });
}

/** The transaction is another one's by now, or gone: nothing of it is committed. */
function refused(answer: Answer | undefined): RemoteFailure {
  return new RemoteFailure("lost_stream", answer?.ok === false ? answer.failure.kind : "");
}

/** Its rows as one JSON text `t`. */
function asText(source: string, select: string): string {
  return "WITH note(tbl, kind, kb, b, ka, a) AS (" + source + "), " +
    "one(t) AS (SELECT json_group_array(json_array(tbl, kind, kb, b, ka, a)) FROM note) " +
    `SELECT ${select} FROM one`;
}
