// Takes down what a call does to rows while it runs, each store in its own way.
import type { Footprint } from "../../engine/footprint/footprint.ts";
import type { Level } from "../../engine/guard.ts";
import type { ChangedRows } from "../../sql/uncounted_rows.ts";
import type { Work } from "./work.ts";

/** Open while its call runs, inside of the call's transaction. */
export interface Watch {
  /** Before the statement runs; outside of its savepoint. `changed`: rows that a change of the schema makes or removes. */
  begin(level: Level, changed: ChangedRows | null): Work<void>;
  /** The statement has run; what runs again is not listened to. Changes that the engine has counted and that are notes. */
  end(): Work<number>;
  /** The statement is undone, and so many notes with it. */
  undone(notes: number): void;
  /** Before the last statement is undone, where it is. */
  footprint(): Work<Footprint>;
  /** Whether the call has done what it was to do. */
  isExpected(): Work<boolean>;
}
