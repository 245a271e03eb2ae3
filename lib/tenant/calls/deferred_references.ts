// Foreign keys that the engine checks at a commit only: where statements of one transaction are to behave as if each had
// a commit of its own, or none is made, the references that lead nowhere are counted here. The engine lets a commit pass
// that leaves no more of them than there were. One that was broken before and then leads to another missing row counts as
// it did, so it passes here; the engine takes it for a new one and refuses the commit.
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import type { Level } from "../../engine/guard.ts";
import { rowsOrNull, type Work } from "./work.ts";

/** Tables that may have such a key. A table too many only costs time. */
export const DEFERS = "type = 'table' AND sql LIKE '%INITIALLY%DEFERRED%'";

/** Names of those whose references writing the tables in the JSON list `?1` can break; null: of all. */
export const BREAKABLE = `SELECT name FROM sqlite_schema t WHERE ${DEFERS} AND (?1 IS NULL OR EXISTS (` +
  "SELECT 1 FROM json_each(?1) w WHERE w.value = t.name COLLATE NOCASE " +
  'OR w.value COLLATE NOCASE IN (SELECT "table" FROM pragma_foreign_key_list(t.name))))';

/** Broken references of one table. */
const COUNT_BROKEN = "SELECT count(*) FROM pragma_foreign_key_check(?)";

/** What the engine says at a commit that would leave more references broken than there were. */
export const brokenReference: EngineFailure = plainFailure(
  "foreign_key_violation",
  "FOREIGN KEY constraint failed",
);

/** Broken references of each table; null: a key of it fits no index, so they cannot be counted. */
type BrokenByTable = readonly (number | null)[];

/** Counts them from one statement to the next, in the transaction of the call. */
export class DeferredReferences {
  #tables: readonly string[] | null = null;
  #first: number | null = null;
  #last = 0;
  #unread = 0;

  /** `written`: the tables that the call writes, as a JSON list. */
  constructor(private readonly call: { readonly level: Level; readonly written: string }) {}

  /** Whether there are more of them than at the first count. */
  get broken(): boolean {
    return this.#first !== null && this.#last > this.#first;
  }

  /** Counts them: whether there are more than at the count before. The first one tells nothing. */
  *raised(): Work<boolean> {
    const counts = yield* this.#count();
    const unread = counts.filter((count) => count === null).length;
    const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0);
    // What can be told for the first time was so before: the engine alone checks that change.
    const anew = this.#first === null || unread < this.#unread;
    const before = this.#last;
    this.#last = sum;
    this.#unread = unread;
    if (anew) this.#first = sum;
    return !anew && sum > before;
  }

  *#count(): Work<BrokenByTable> {
    // What changes the schema may make such a table, or give one another name.
    if (this.#tables === null || this.call.level === "schema") this.#tables = yield* this.#breakable();
    if (this.#tables.length === 0) return [];
    const answers = yield { steps: this.#tables.map((name) => ({ sql: COUNT_BROKEN, params: [name] })) };
    // It fails where a key fits no index: the engine refuses each write that needs that index by itself.
    return answers.map((answer) => answer.ok ? Number(answer.rows[0]?.[0] ?? 0) : null);
  }

  *#breakable(): Work<readonly string[]> {
    const { level, written } = this.call;
    const rows = yield* rowsOrNull({ sql: BREAKABLE, params: [level === "schema" ? null : written] });
    return rows?.map(([name]) => String(name)) ?? [];
  }
}
