// Takes notes of what a call does to rows in an engine child: temporary triggers, dropped at its end, tell a function of
// this child of every change. Nothing of it has to be waited for.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import { sha256 } from "../../../core/sha256.ts";
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { readNote } from "../../../engine/footprint/footprint.ts";
import {
  NOTE_DIGEST,
  NOTE_NAME,
  type NoteParts,
  type NoteSink,
  type noteTriggers,
} from "../../../engine/footprint/row_notes.ts";
import { quoteText } from "../../../sql/words/quote.ts";
import type { AddNote, NoteTaker } from "../../calls/footprint_watch.ts";
import { done, type OwnStep, type Work } from "../../calls/work.ts";

const sink: NoteSink = {
  temporary: true,
  take: ({ table, kind, keyBefore, before, keyAfter, after, from = "" }: NoteParts) => {
    const values = [keyBefore, before, keyAfter, after].map((value) => value ?? "NULL");
    return `SELECT ${NOTE_NAME}(${[quoteText(table), quoteText(kind), ...values].join(", ")})${from}`;
  },
  digest: (blob) => `${NOTE_DIGEST}(${blob})`,
};

/** Those of one call. `close` removes the triggers. */
export class ChildNotes implements NoteTaker {
  readonly sink = sink;
  /** They go to a function. */
  readonly noted = null;
  /** Whom the function tells; null: nobody. */
  #add: AddNote | null = null;
  #fromSec = 0;

  constructor(private readonly connection: Connection) {
    connection.guard.watched = true;
    // Replaces the functions of the call before, which tell that call's record.
    connection.database.function(NOTE_NAME, { varargs: true }, (...values) => this.#note(values));
    connection.database.function(NOTE_DIGEST, {}, digestOf);
  }

  rows(steps: readonly OwnStep[]): Work<readonly EngineValue[][][]> {
    return done(steps.map((step) => this.#rowsOf(step)));
  }

  hasTriggers(): Work<boolean> {
    return done(this.connection.internalRow("SELECT 1 FROM temp.sqlite_schema LIMIT 1") !== undefined);
  }

  makeTriggers(triggers: ReturnType<typeof noteTriggers>): Work<void> {
    return done(triggers.forEach(({ sql }) => this.connection.database.exec(sql)));
  }

  dropTriggers(): Work<void> {
    return done(this.#dropTriggers());
  }

  listen(add: AddNote): Work<void> {
    this.#fromSec = systemClock.now() / 1000;
    this.#add = add;
    return done(undefined);
  }

  heard(): Work<number> {
    this.#add = null;
    return done(0);
  }

  /** The function's notes are no rows. */
  undone(): void {}

  takeAll({ from = "", ...parts }: NoteParts, add: AddNote): Work<void> {
    const before = this.#add;
    this.#add = add;
    // Counting runs the function for every row and builds no result.
    const note = sink.take(parts).slice("SELECT ".length);
    this.connection.database.prepare(`SELECT count(${note})${from}`).get();
    this.#add = before;
    return done(undefined);
  }

  close(): void {
    this.connection.guard.watched = false;
    this.#dropTriggers();
  }

  #rowsOf({ sql, params }: OwnStep): EngineValue[][] {
    if (params) return this.connection.internalRows(sql, ...params.map(String));
    // What makes or drops something is not held ready for another time.
    this.connection.database.exec(sql);
    return [];
  }

  #note(values: readonly EngineValue[]): null {
    this.#add?.(readNote(values), { fromSec: this.#fromSec, toSec: systemClock.now() / 1000 });
    return null;
  }

  #dropTriggers(): void {
    const names = this.connection.internalRows("SELECT name FROM temp.sqlite_schema WHERE type = 'trigger'");
    for (const [name] of names) this.connection.database.exec(`DROP TRIGGER temp.${String(name)}`);
  }
}

function digestOf(value: EngineValue): string {
  return sha256().update(value instanceof Uint8Array ? value : String(value)).digest("hex");
}
