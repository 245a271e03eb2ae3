// Takes notes of what a call does to rows of a remote database. The server has neither functions of ours nor temporary
// objects, so triggers of the call's own transaction write them into a table of it, and both are gone before the commit.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import { MAX_DIGESTED_ROWS } from "../../../engine/footprint/footprint.ts";
import { readNote } from "../../../engine/footprint/footprint.ts";
import {
  NOTE_NAME,
  type NoteParts,
  type NoteSink,
  type noteTriggers,
} from "../../../engine/footprint/row_notes.ts";
import { quoteText } from "../../../sql/words/quote.ts";
import type { AddNote, NoteTaker } from "../../calls/footprint_watch.ts";
import { type Answer, done, type OwnStep, type Work } from "../../calls/work.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";

const MAKE_TABLE = `CREATE TABLE ${NOTE_NAME} (seq INTEGER PRIMARY KEY, tbl, kind, kb, b, ka, a)`;
const TEXTS = ["kb", "b", "ka", "a"] as const;
const NOTED = `(SELECT coalesce(max(seq), 0) FROM ${NOTE_NAME})`;
/** Of so many rows that nothing but their keys is compared. */
const IS_MANY = `${NOTED} >= ${MAX_DIGESTED_ROWS}`;
/** Notes behind the first `?1`, of which at most `?2`. */
const NOTES = `SELECT tbl, kind, ${TEXTS.join(", ")} FROM ${NOTE_NAME} WHERE seq > ?1 ORDER BY seq LIMIT ?2`;
/** Notes that are fetched at once. */
const NOTES_AT_ONCE = 10_000;
/** Characters of a note that are fetched at once where it is too large for one answer. */
const PIECE_LENGTH = 1_000_000;

const sink: NoteSink = {
  temporary: false,
  take: ({ table, kind, keyBefore, before, keyAfter, after, from = "" }) => {
    const whole = (value: string | undefined) =>
      value === undefined ? "NULL" : `CASE WHEN ${IS_MANY} THEN NULL ELSE ${value} END`;
    const values = [keyBefore ?? "NULL", whole(before), keyAfter ?? "NULL", whole(after)];
    return `INSERT INTO ${NOTE_NAME} (tbl, kind, ${TEXTS.join(", ")}) ` +
      `SELECT ${[quoteText(table), quoteText(kind), ...values].join(", ")}${from}`;
  },
  digest: null,
};

/** Those of one call. Errors of every method: `RemoteFailure` where the server refuses a step. */
export class RemoteNotes implements NoteTaker {
  readonly sink = sink;
  #triggers: readonly string[] = [];
  #hasTable = false;
  /** Notes in the table that were fetched. */
  #fetched = 0;
  #add: AddNote = () => {};
  #fromSec = 0;

  rows(steps: readonly OwnStep[]): Work<readonly Rows[]> {
    return rowsOfAll(steps);
  }

  hasTriggers(): Work<boolean> {
    return done(this.#triggers.length > 0);
  }

  get noted(): string | null {
    return this.#triggers.length > 0 ? NOTED : null;
  }

  *makeTriggers(triggers: ReturnType<typeof noteTriggers>): Work<void> {
    const table = this.#hasTable ? [] : [{ sql: MAKE_TABLE }];
    yield* rowsOfAll([...table, ...triggers.map(({ sql }) => ({ sql }))]);
    this.#hasTable = true;
    this.#triggers = triggers.map(({ name }) => name);
  }

  *dropTriggers(): Work<void> {
    if (this.#triggers.length > 0) yield* rowsOfAll(this.#drops().map((sql) => ({ sql })));
    this.#triggers = [];
  }

  *listen(add: AddNote): Work<void> {
    this.#add = add;
    this.#fromSec = yield* engineTime();
  }

  *heard(): Work<number> {
    if (this.#triggers.length === 0) return 0;
    const time = { fromSec: this.#fromSec, toSec: yield* engineTime() };
    const first = this.#fetched;
    for (;;) {
      const notes = yield* readNotes(NOTES, this.#fetched);
      if (notes.length === 0) return this.#fetched - first;
      for (const note of notes) this.#add(readNote(note), time);
      this.#fetched += notes.length;
    }
  }

  undone(notes: number): void {
    this.#fetched -= notes;
  }

  *takeAll(parts: NoteParts, add: AddNote): Work<void> {
    const { from = "", table, kind, keyBefore, before, keyAfter, after } = parts;
    const values = [keyBefore, before, keyAfter, after].map((value) => value ?? "NULL");
    const columns = [quoteText(table), quoteText(kind), ...values].join(", ");
    for (let at = 0;;) {
      const notes = yield* readNotes(`SELECT ${columns}${from} LIMIT ?2 OFFSET ?1`, at);
      if (notes.length === 0) return;
      for (const note of notes) add(readNote(note), { fromSec: 0, toSec: 0 });
      at += notes.length;
    }
  }

  /** What takes away everything that was made. */
  get ending(): readonly string[] {
    return this.#hasTable ? [...this.#drops(), `DROP TABLE ${NOTE_NAME}`] : [];
  }

  #drops(): string[] {
    return this.#triggers.map((name) => `DROP TRIGGER ${name}`);
  }
}

function* engineTime(): Work<number> {
  const [now] = yield* rowsOfAll([{ sql: "SELECT unixepoch('subsec')" }]);
  return Number(now?.[0]?.[0]);
}

/** Rows of one step. */
type Rows = readonly (readonly EngineValue[])[];

/**
 * As many notes as the server sends at once, behind the first `skipped`. `source` selects their parts, and takes that number
 * and a number of rows. They travel as one text, for a value of an answer costs more than all that is in it.
 */
function* readNotes(source: string, skipped: number): Work<readonly (readonly unknown[])[]> {
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
function* rowsOfAll(steps: readonly OwnStep[]): Work<readonly Rows[]> {
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
