// Records what a call does to rows while it runs, inside its transaction. What is recorded, and when, is decided here for
// every store; how a store learns of the rows is its `NoteTaker`'s.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import { sha256 } from "../../core/sha256.ts";
import {
  type Footprint,
  type FootprintAsk,
  isUnknown,
  sameFootprint,
} from "../../engine/footprint/footprint.ts";
import type { RowNote } from "../../engine/footprint/footprint.ts";
import {
  changedNotes,
  indexNotes,
  indexView,
  isTakenWhole,
  type NoteParts,
  type NoteSink,
  noteTriggers,
  wholeNotes,
} from "../../engine/footprint/row_notes.ts";
import { RowsRecorder, type RunTime } from "../../engine/footprint/rows_recorder.ts";
import {
  definitionsText,
  plainShapes,
  readShapes,
  shapeQueries,
  type TableShape,
} from "../../engine/footprint/table_shape.ts";
import type { Level } from "../../engine/guard.ts";
import type { ChangedRows } from "../../sql/grammar/uncounted_rows.ts";
import type { OwnStep, Work } from "./work.ts";

/** Takes one note. `time`: when the change may have been made. */
export type AddNote = (note: RowNote, time: RunTime) => void;

/** How notes of rows are taken in one store. */
export interface NoteTaker {
  readonly sink: NoteSink;
  /** Rows of each step. Throws where one fails. */
  rows(steps: readonly OwnStep[]): Work<readonly (readonly (readonly EngineValue[])[])[]>;
  hasTriggers(): Work<boolean>;
  /** SQL of the number of notes in the transaction, where the engine counts each as a change; null: it counts none. */
  readonly noted: string | null;
  makeTriggers(triggers: ReturnType<typeof noteTriggers>): Work<void>;
  dropTriggers(): Work<void>;
  /** A statement is about to run; its changes go to `add`. */
  listen(add: AddNote): Work<void>;
  /** The statement has run; what runs again is not listened to. Returns how many changes the engine has counted that were notes. */
  heard(): Work<number>;
  /** So many notes were undone with their statement. */
  undone(notes: number): void;
  /** Takes a note of each row of a query. */
  takeAll(parts: NoteParts, add: AddNote): Work<void>;
}

type Side = ChangedRows["side"];

/** The record of one call. */
export class FootprintWatch {
  readonly #recorder: RowsRecorder;
  readonly #begun: ReturnType<RowsRecorder["mark"]>;
  #mark: ReturnType<RowsRecorder["mark"]>;
  /** Tables that are recorded whole, before the call and after it; null: not yet. */
  #wholeBefore: readonly TableShape[] | null = null;
  #changed: ChangedRows | null = null;

  private constructor(
    private readonly ask: FootprintAsk,
    private readonly taker: NoteTaker,
    /** Digest of the tables' definitions. */
    private readonly tables: string,
  ) {
    this.#recorder = new RowsRecorder(ask.salt, ask);
    this.#begun = this.#mark = this.#recorder.mark();
  }

  /** In the transaction of the call, before it runs. */
  static *open(ask: FootprintAsk, taker: NoteTaker): Work<FootprintWatch> {
    const names = JSON.stringify(ask.tables);
    const [found] = yield* taker.rows([{ sql: shapeQueries.definitions, params: [names] }]);
    const tables = sha256().update(names).update(definitionsText(found ?? [])).digest("hex");
    return new FootprintWatch(ask, taker, tables);
  }

  /** Before a statement, outside of its savepoint. `changed`: the rows that a schema change makes or removes. */
  *begin(level: Level, changed: ChangedRows | null): Work<void> {
    if (isUnknown(this.ask)) return;
    this.#changed = changed;
    // A schema change must not meet the triggers.
    if (level === "schema") yield* this.taker.dropTriggers();
    else yield* this.#listen();
    this.#mark = this.#recorder.mark();
    yield* this.#recordChanged("before");
  }

  /** As `NoteTaker` has it, for the statement that has begun. */
  get noted(): string | null {
    return this.taker.noted;
  }

  /** The statement has run. Returns how many changes the engine has counted that were notes. */
  *end(): Work<number> {
    yield* this.#recordChanged("after");
    return yield* this.taker.heard();
  }

  /** The statement is undone, and so many notes with it. */
  undone(notes: number): void {
    this.#recorder.backTo(this.#mark);
    this.taker.undone(notes);
  }

  /** The call starts over in another transaction. */
  restart(): void {
    this.#recorder.backTo(this.#begun);
    this.#wholeBefore = null;
  }

  /** The footprint so far. Before the last statement is undone, where it is. */
  *footprint(): Work<Footprint> {
    const mark = this.#recorder.mark();
    for (const shape of this.#wholeBefore ?? []) yield* this.#recordWhole(shape, "after");
    const footprint = { salt: this.ask.salt, tables: this.tables, rows: this.#recorder.footprint };
    this.#recorder.backTo(mark);
    return footprint;
  }

  /** Whether the call has done what it was expected to do. */
  *isExpected(): Work<boolean> {
    const { expects } = this.ask;
    return expects === null || sameFootprint(expects.footprint, yield* this.footprint(), expects.tolerance);
  }

  *#listen(): Work<void> {
    const { taker } = this;
    const hasTriggers = yield* taker.hasTriggers();
    if (!hasTriggers || this.#wholeBefore === null) {
      const shapes = yield* this.#shapes();
      if (this.#wholeBefore === null) {
        this.#wholeBefore = shapes.filter(isTakenWhole);
        for (const shape of this.#wholeBefore) yield* this.#recordWhole(shape, "before");
      }
      const triggers = shapes.flatMap((shape, at) =>
        isTakenWhole(shape) ? [] : noteTriggers(shape, at, taker.sink)
      );
      if (!hasTriggers && triggers.length > 0) yield* taker.makeTriggers(triggers);
    }
    yield* taker.listen(this.#add);
  }

  *#shapes(): Work<TableShape[]> {
    const { tables, replaced } = this.ask;
    const [columns = [], uniques = []] = yield* this.taker.rows([
      { sql: shapeQueries.columns, params: [JSON.stringify(tables)] },
      ...(replaced.length === 0 ? [] : [{ sql: shapeQueries.uniques, params: [JSON.stringify(replaced)] }]),
    ]);
    return readShapes(columns, uniques, replaced);
  }

  *#recordChanged(side: Side): Work<void> {
    const { taker } = this;
    const changed = this.#changed;
    if (changed?.side !== side) return;
    const names = JSON.stringify([changed.table]);
    const [columns] = yield* taker.rows([{ sql: shapeQueries.columns, params: [names] }]);
    for (const shape of plainShapes(columns ?? [])) {
      if (!shape.virtual) yield* taker.takeAll(changedNotes(shape, side, taker.sink), this.#add);
    }
  }

  *#recordWhole(shape: TableShape, side: Side): Work<void> {
    const { taker } = this;
    if (!shape.unlisted) yield* taker.takeAll(wholeNotes(shape, side, taker.sink), this.#add);
    if (!shape.hasOwnIndex) return;
    const { make, drop } = indexView(shape, taker.sink);
    yield* taker.rows([{ sql: make }]);
    yield* taker.takeAll(indexNotes(shape, side, taker.sink), this.#add);
    yield* taker.rows([{ sql: drop }]);
  }

  readonly #add: AddNote = (note, time) => this.#recorder.add(note, time);
}
