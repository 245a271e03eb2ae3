// Records what a call does to rows while it runs: temporary triggers, dropped at its end, report every change to a function
// of this child.
import { sha256 } from "../../../core/sha256.ts";
import { systemClock } from "../../../core/clock.ts";
import {
  type Footprint,
  type FootprintAsk,
  isUnknown,
  readNote,
  sameFootprint,
} from "../../../engine/footprint/footprint.ts";
import {
  changedNotes,
  indexNotes,
  indexView,
  isTakenWhole,
  NOTE_DIGEST,
  NOTE_NAME,
  type NoteParts,
  type NoteSink,
  noteTriggers,
  wholeNotes,
} from "../../../engine/footprint/row_notes.ts";
import { RowsRecorder } from "../../../engine/footprint/rows_recorder.ts";
import {
  definitionsText,
  plainShapes,
  readShapes,
  shapeQueries,
  type TableShape,
} from "../../../engine/footprint/table_shape.ts";
import type { Connection, EngineValue } from "../../../engine/connection.ts";
import type { ChangedRows } from "../../../sql/uncounted_rows.ts";
import type { Level } from "../../../engine/guard.ts";
import type { Watch } from "../../calls/watch.ts";
import { done, type Work } from "../../calls/work.ts";

const sink: NoteSink = {
  temporary: true,
  take: ({ table, kind, keyBefore, before, keyAfter, after, from = "" }: NoteParts) => {
    const values = [keyBefore, before, keyAfter, after].map((value) => value ?? "NULL");
    return `SELECT ${NOTE_NAME}(${[literal(table), literal(kind), ...values].join(", ")})${from}`;
  },
  digest: (blob) => `${NOTE_DIGEST}(${blob})`,
};

/** The record of one call, inside the call's transaction. `close` removes the triggers. */
export class FootprintWatch {
  readonly #recorder: RowsRecorder;
  readonly #tables: string;
  readonly #begun: ReturnType<RowsRecorder["mark"]>;
  #mark: ReturnType<RowsRecorder["mark"]>;
  #wholeBefore: TableShape[] | null = null;
  #listens = false;
  #fromSec = 0;
  #changed: ChangedRows | null = null;

  constructor(private readonly connection: Connection, private readonly ask: FootprintAsk) {
    this.#recorder = new RowsRecorder(ask.salt, ask);
    this.#begun = this.#mark = this.#recorder.mark();
    const names = JSON.stringify(ask.tables);
    this.#tables = sha256().update(names)
      .update(definitionsText(connection.internalRows(shapeQueries.definitions, names))).digest("hex");
    connection.guard.watched = true;
    // Replaces the functions of the call before, which report to that call's record.
    connection.database.function(NOTE_NAME, { varargs: true }, (...values) => this.#note(values));
    connection.database.function(NOTE_DIGEST, {}, digestOf);
  }

  /** Call before a statement, outside its savepoint. `changed`: the rows that a schema change makes or removes. */
  begin(level: Level, changed: ChangedRows | null): void {
    if (isUnknown(this.ask)) return;
    this.#changed = changed;
    // A schema change must not meet the triggers.
    if (level === "schema") {
      this.#dropTriggers();
      this.#mark = this.#recorder.mark();
      return this.#recordChanged("before");
    }
    const shapes = this.#shapes();
    if (this.connection.internalRow("SELECT 1 FROM temp.sqlite_schema LIMIT 1") === undefined) {
      for (const [at, shape] of shapes.entries()) {
        if (isTakenWhole(shape)) continue;
        for (const { sql } of noteTriggers(shape, at, sink)) this.connection.database.exec(sql);
      }
    }
    this.#fromSec = systemClock.now() / 1000;
    this.#listens = true;
    this.#wholeBefore ??= this.#recordWhole(shapes.filter(isTakenWhole), "before");
    this.#mark = this.#recorder.mark();
  }

  /** Call when the statement has failed and its changes are undone. */
  undone(): void {
    this.#recorder.backTo(this.#mark);
  }

  /** Call when the statement has run. What runs again for a preview is not recorded. */
  end(): void {
    this.#listens = false;
    this.#recordChanged("after");
  }

  /** Call when the call starts over in another transaction. */
  restart(): void {
    this.#recorder.backTo(this.#begun);
    this.#wholeBefore = null;
  }

  /** The footprint so far. Call before the last statement is undone. */
  footprint(): Footprint {
    const mark = this.#recorder.mark();
    this.#listens = true;
    this.#recordWhole(this.#wholeBefore ?? [], "after");
    this.#listens = false;
    const { salt } = this.ask;
    const footprint = { salt, tables: this.#tables, rows: this.#recorder.footprint };
    this.#recorder.backTo(mark);
    return footprint;
  }

  /** Whether the call has done what it was expected to do. */
  isExpected(): boolean {
    const { expects } = this.ask;
    return expects === null || sameFootprint(expects.footprint, this.footprint(), expects.tolerance);
  }

  close(): void {
    this.connection.guard.watched = false;
    this.#dropTriggers();
  }

  #shapes(): TableShape[] {
    const { tables, replaced } = this.ask;
    const { connection } = this;
    return readShapes(
      connection.internalRows(shapeQueries.columns, JSON.stringify(tables)),
      replaced.length === 0 ? [] : connection.internalRows(shapeQueries.uniques, JSON.stringify(replaced)),
      replaced,
    );
  }

  #recordChanged(side: ChangedRows["side"]): void {
    const changed = this.#changed;
    if (changed?.side !== side) return;
    const columns = this.connection.internalRows(shapeQueries.columns, JSON.stringify([changed.table]));
    this.#listens = true;
    for (const shape of plainShapes(columns)) {
      if (!shape.virtual) this.#recordRows(changedNotes(shape, side, sink));
    }
    this.#listens = false;
  }

  /** Records all rows of the tables. Returns the tables, which are recorded again after the call. */
  #recordWhole(shapes: readonly TableShape[], side: "before" | "after"): TableShape[] {
    for (const shape of shapes) {
      if (!shape.unlisted) this.#recordRows(wholeNotes(shape, side, sink));
      if (!shape.hasOwnIndex) continue;
      const { make, drop } = indexView(shape, sink);
      this.connection.database.exec(make);
      this.#recordRows(indexNotes(shape, side, sink));
      this.connection.database.exec(drop);
    }
    return [...shapes];
  }

  #recordRows({ from = "", ...parts }: NoteParts): void {
    // Counting runs the function for every row and builds no result.
    const note = sink.take(parts).slice("SELECT ".length);
    this.connection.database.prepare(`SELECT count(${note})${from}`).get();
  }

  #note(values: readonly EngineValue[]): null {
    if (!this.#listens) return null;
    const time = { fromSec: this.#fromSec, toSec: systemClock.now() / 1000 };
    this.#recorder.add(readNote(values), time);
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

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The record in the form in which work on the call uses it. */
export function watchOf(run: FootprintWatch): Work<Watch> {
  return done<Watch>({
    begin: (level, changed) => done(run.begin(level, changed)),
    end: () => {
      run.end();
      return done(0);
    },
    undone: () => run.undone(),
    footprint: () => done(run.footprint()),
    isExpected: () => done(run.isExpected()),
  });
}
