// Takes down what a call does to rows of a remote database. The server has neither functions of ours nor temporary
// objects, so triggers of the call's own transaction write notes into a table of it, and both are gone before the commit.
import { createHash } from "node:crypto";
import {
  type Footprint,
  type FootprintAsk,
  isUnknown,
  MAX_DIGESTED_ROWS,
  readNote,
  sameFootprint,
} from "../../engine/footprint/footprint.ts";
import {
  changedNotes,
  indexNotes,
  indexView,
  isTakenWhole,
  NOTE_NAME,
  type NoteParts,
  type NoteSink,
  noteTriggers,
  wholeNotes,
} from "../../engine/footprint/row_notes.ts";
import { RowsRecorder } from "../../engine/footprint/rows_recorder.ts";
import {
  definitionsText,
  plainShapes,
  readShapes,
  shapeQueries,
  type TableShape,
} from "../../engine/footprint/table_shape.ts";
import type { ChangedRows } from "../../sql/uncounted_rows.ts";
import type { Level } from "../../engine/guard.ts";
import type { Watch } from "../calls/watch.ts";
import type { Work } from "../calls/work.ts";
import { readNotes, rowsOfAll } from "./remote_notes.ts";

const MAKE_TABLE = `CREATE TABLE ${NOTE_NAME} (seq INTEGER PRIMARY KEY, tbl, kind, kb, b, ka, a)`;
const TEXTS = ["kb", "b", "ka", "a"] as const;
/** Of so many rows that nothing but their keys is compared. */
const IS_MANY = `(SELECT coalesce(max(seq), 0) FROM ${NOTE_NAME}) >= ${MAX_DIGESTED_ROWS}`;

const sink: NoteSink = {
  temporary: false,
  take: ({ table, kind, keyBefore, before, keyAfter, after, from = "" }) => {
    const whole = (value: string | undefined) =>
      value === undefined ? "NULL" : `CASE WHEN ${IS_MANY} THEN NULL ELSE ${value} END`;
    const values = [keyBefore ?? "NULL", whole(before), keyAfter ?? "NULL", whole(after)];
    return `INSERT INTO ${NOTE_NAME} (tbl, kind, ${TEXTS.join(", ")}) ` +
      `SELECT ${[literal(table), literal(kind), ...values].join(", ")}${from}`;
  },
  digest: null,
};

/** Errors of every method: `RemoteFailure` where the server refuses a step. */
export class RemoteFootprint implements Watch {
  readonly #recorder: RowsRecorder;
  #mark: ReturnType<RowsRecorder["mark"]>;
  #tables = "";
  #triggers: readonly string[] = [];
  #made = false;
  #taken = 0;
  #fromSec = 0;
  #changed: ChangedRows | null = null;
  #wholeBefore: readonly TableShape[] | null = null;

  private constructor(private readonly ask: FootprintAsk) {
    this.#recorder = new RowsRecorder(ask.salt, ask);
    this.#mark = this.#recorder.mark();
  }

  /** In the transaction of the call, before it runs. */
  static *open(ask: FootprintAsk): Work<RemoteFootprint> {
    const run = new RemoteFootprint(ask);
    const names = JSON.stringify(ask.tables);
    const [found] = yield* rowsOfAll([{ sql: shapeQueries.definitions, params: [names] }]);
    run.#tables = createHash("sha256").update(names).update(definitionsText(found ?? [])).digest("hex");
    return run;
  }

  /** Before a statement of the level runs. `changed`: rows that a change of the schema makes or removes. */
  *begin(level: Level, changed: ChangedRows | null): Work<void> {
    if (isUnknown(this.ask)) return;
    // A change of the schema would have to change the triggers too.
    if (level === "schema") yield* this.#dropTriggers();
    else if (this.#triggers.length === 0) yield* this.#makeTriggers();
    this.#changed = changed;
    this.#mark = this.#recorder.mark();
    if (level !== "schema") this.#fromSec = yield* this.#now();
    yield* this.#takeChanged("before");
  }

  /** A statement has run. Returns how many changes the engine has counted that were notes. */
  *end(): Work<number> {
    yield* this.#takeChanged("after");
    if (this.#triggers.length === 0) return 0;
    const time = { fromSec: this.#fromSec, toSec: yield* this.#now() };
    const first = this.#taken;
    const source = `SELECT tbl, kind, ${
      TEXTS.join(", ")
    } FROM ${NOTE_NAME} WHERE seq > ?1 ORDER BY seq LIMIT ?2`;
    for (;;) {
      const notes = yield* readNotes(source, this.#taken);
      if (notes.length === 0) break;
      for (const note of notes) this.#recorder.add(readNote(note), time);
      this.#taken += notes.length;
    }
    return this.#taken - first;
  }

  /** The statement is undone, and its notes with it. */
  undone(taken: number): void {
    this.#recorder.backTo(this.#mark);
    this.#taken -= taken;
  }

  /** Before the last statement is undone, where it is. */
  *footprint(): Work<Footprint> {
    const mark = this.#recorder.mark();
    for (const shape of this.#wholeBefore ?? []) yield* this.#takeWhole(shape, "after");
    const footprint = { salt: this.ask.salt, tables: this.#tables, rows: this.#recorder.footprint };
    this.#recorder.backTo(mark);
    return footprint;
  }

  /** Whether the call has done what it was to do. */
  *isExpected(): Work<boolean> {
    const { expects } = this.ask;
    return expects === null || sameFootprint(expects.footprint, yield* this.footprint(), expects.tolerance);
  }

  /** What takes away everything that was made. */
  get ending(): readonly string[] {
    return this.#made ? [...this.#drops(), `DROP TABLE ${NOTE_NAME}`] : [];
  }

  *#makeTriggers(): Work<void> {
    const { tables, replaced } = this.ask;
    const [columns, uniques] = yield* rowsOfAll([
      { sql: shapeQueries.columns, params: [JSON.stringify(tables)] },
      { sql: shapeQueries.uniques, params: [JSON.stringify(replaced)] },
    ]);
    const shapes = readShapes(columns ?? [], uniques ?? [], replaced);
    if (this.#wholeBefore === null) {
      this.#wholeBefore = shapes.filter(isTakenWhole);
      for (const shape of this.#wholeBefore) yield* this.#takeWhole(shape, "before");
    }
    const made = shapes.flatMap((shape, at) => isTakenWhole(shape) ? [] : noteTriggers(shape, at, sink));
    if (made.length === 0) return;
    const table = this.#made ? [] : [{ sql: MAKE_TABLE }];
    yield* rowsOfAll([...table, ...made.map(({ sql }) => ({ sql }))]);
    this.#made = true;
    this.#triggers = made.map(({ name }) => name);
  }

  *#dropTriggers(): Work<void> {
    if (this.#triggers.length > 0) yield* rowsOfAll(this.#drops().map((sql) => ({ sql })));
    this.#triggers = [];
  }

  #drops(): string[] {
    return this.#triggers.map((name) => `DROP TRIGGER ${name}`);
  }

  *#now(): Work<number> {
    const [now] = yield* rowsOfAll([{ sql: "SELECT unixepoch('subsec')" }]);
    return Number(now?.[0]?.[0]);
  }

  *#takeChanged(side: ChangedRows["side"]): Work<void> {
    const changed = this.#changed;
    if (changed?.side !== side) return;
    const names = JSON.stringify([changed.table]);
    const [columns] = yield* rowsOfAll([{ sql: shapeQueries.columns, params: [names] }]);
    for (const shape of plainShapes(columns ?? [])) {
      if (!shape.virtual) yield* this.#takeAll(changedNotes(shape, side, sink));
    }
  }

  *#takeWhole(shape: TableShape, side: "before" | "after"): Work<void> {
    if (!shape.unlisted) yield* this.#takeAll(wholeNotes(shape, side, sink));
    if (!shape.hasOwnIndex) return;
    const { make, drop } = indexView(shape, sink);
    yield* rowsOfAll([{ sql: make }]);
    yield* this.#takeAll(indexNotes(shape, side, sink));
    yield* rowsOfAll([{ sql: drop }]);
  }

  *#takeAll({ from = "", table, kind, keyBefore, before, keyAfter, after }: NoteParts): Work<void> {
    const values = [keyBefore, before, keyAfter, after].map((value) => value ?? "NULL");
    const source = `SELECT ${
      [literal(table), literal(kind), ...values].join(", ")
    }${from} LIMIT ?2 OFFSET ?1`;
    for (let at = 0;;) {
      const notes = yield* readNotes(source, at);
      if (notes.length === 0) return;
      for (const note of notes) this.#recorder.add(readNote(note), { fromSec: 0, toSec: 0 });
      at += notes.length;
    }
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
