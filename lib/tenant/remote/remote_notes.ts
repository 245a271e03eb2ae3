// Notes of a remote database's rows, fetched in as few answers as the server gives.
import type { HranaStep, HranaValue, StepResult, StepRows } from "./hrana/hrana.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { hranaValue, stringOf } from "./hrana/remote_values.ts";
import { stepFailure } from "./hrana/step_failure.ts";

type Stmt = HranaStep["stmt"];
export type SendSteps = (statements: readonly Stmt[]) => Promise<readonly StepResult[]>;

/** Notes that are fetched at once. */
const NOTES_AT_ONCE = 10_000;
/** Characters of a note that are fetched at once where it is too large for one answer. */
const PIECE_LENGTH = 1_000_000;

/**
 * As many notes as the server sends at once, from a place on. `source` selects their parts, and takes the place and a
 * number of rows. They travel as one text, for a value of an answer costs more than all that is in it.
 */
export async function readNotes(
  send: SendSteps,
  source: string,
  place: number,
): Promise<readonly (readonly unknown[])[]> {
  for (let limit = NOTES_AT_ONCE;; limit = Math.ceil(limit / 10)) {
    const args = [hranaValue(place), hranaValue(limit)];
    const [step] = await send([{ sql: asText(source, "t"), args }]);
    if (step?.ok) return JSON.parse(stringOf(step.rows[0]?.[0]));
    const large = step?.ok === false && stepFailure(step).kind === "result_too_large";
    if (!large) throw refused(step);
    if (limit === 1) return await inPieces(send, source, args);
  }
}

/** One note that is too large for an answer. */
async function inPieces(
  send: SendSteps,
  source: string,
  args: readonly HranaValue[],
): Promise<readonly (readonly unknown[])[]> {
  for (let [text, at] = ["", 1];; at += PIECE_LENGTH) {
    const piece = asText(source, `substr(t, ${at}, ${PIECE_LENGTH})`);
    const [step] = await sendAll(send, [{ sql: piece, args }]);
    const read = stringOf(step?.rows[0]?.[0]);
    if (read === "") return JSON.parse(text);
    text += read;
  }
}

/** Errors: those of `send`, and `RemoteFailure` where the server refuses a step. */
export async function sendAll(send: SendSteps, statements: readonly Stmt[]): Promise<readonly StepRows[]> {
  const steps = await send(statements);
  return statements.map((_, at) => {
    const step = steps[at];
    if (!step?.ok) throw refused(step);
    return step;
  });
}

/** The transaction is another one's by now, or gone: nothing of it is kept. */
function refused(step: StepResult | undefined): RemoteFailure {
  return new RemoteFailure("lost_stream", step?.ok === false ? step.code : "");
}

/** Its rows as one JSON text `t`. */
function asText(source: string, select: string): string {
  return "WITH note(tbl, kind, kb, b, ka, a) AS (" + source + "), " +
    "one(t) AS (SELECT json_group_array(json_array(tbl, kind, kb, b, ka, a)) FROM note) " +
    `SELECT ${select} FROM one`;
}
