// Merges a branch's row changes into one table of the trunk. Each change is first compared with the trunk's own row.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { lengthOf } from "./compare_sides.ts";
import { isDoubtful, storedValue } from "./stored_values.ts";
import { BYTES_AT_ONCE, inParts } from "./in_parts.ts";
import type { MergeRun } from "./merge_run.ts";
import { rowLength } from "./row_pages.ts";
import { type RowChange, sameRow, sameValue } from "./row_change.ts";
import type { TablePair } from "./table_pair.ts";
import {
  type LookUpForm,
  type NumberedKey,
  type OnClash,
  TrunkStatements,
  type Write,
} from "./trunk_statements.ts";
import { mayAll, mustAll, type Row, rowsOf, type Work } from "./work.ts";

/** The most changes that wait until others have freed a unique value. */
const MAX_POSTPONED = 50_000;

interface Decided {
  readonly write: Write;
  readonly change: RowChange;
  readonly ours: Row | null;
}

/** One table of the trunk during a merge. */
export class TrunkTable {
  readonly #statements: TrunkStatements;
  readonly #exactly: boolean;
  #postponed: Decided[] = [];
  /** Rows that the merge has inserted, minus those that it has deleted. */
  #grown = 0;
  /** The number of rows before the merge; null until a conflict may have removed some. */
  #rowsBefore: number | null = null;

  constructor(private readonly run: MergeRun, private readonly pair: TablePair) {
    this.#statements = new TrunkStatements(pair);
    this.#exactly = pair.branch?.reading === "bytes";
  }

  /** Applies changes of one kind. No two concern the same row, so all are decided before any is written. */
  *apply(changes: readonly RowChange[]): Work<void> {
    for (const some of inParts(changes, lengthOf)) {
      const keys = some.map((change) => this.#keyOf(change.after ?? change.before));
      const present = yield* this.#find(keys);
      const decided = some.flatMap((change, at) => {
        const ours = present[at] ?? null;
        const write = this.#decide(change, keys[at] ?? [], ours);
        return write === null ? [] : [{ write, change, ours }];
      });
      for (const stuck of yield* this.#write(decided)) {
        if (this.#postponed.length < MAX_POSTPONED) this.#postponed.push(stuck);
        else yield* this.#clash(stuck);
      }
    }
  }

  /** Retries writes that blocked each other; those that still do are conflicts. */
  *settlePostponed(): Work<void> {
    let before = -1;
    while (this.#postponed.length > 0 && this.#postponed.length !== before) {
      before = this.#postponed.length;
      this.#postponed = yield* this.#write(this.#postponed);
    }
    const stuck = this.#postponed;
    this.#postponed = [];
    if (stuck.length > 0 && !(yield* this.#swap(stuck.map(({ write }) => write)))) {
      for (const one of stuck) yield* this.#clash(one);
    }
  }

  /** Counts the rows that REPLACE removed, which the engine does not report: those missing after all changes. */
  *countReplaced(): Work<void> {
    if (this.#rowsBefore === null) return;
    const missing = this.#rowsBefore + this.#grown - (yield* this.#count());
    if (missing > 0) this.#wrote("delete", missing);
  }

  #decide(change: RowChange, key: Row, ours: Row | null): Write | null {
    const { before, after } = change;
    if (after === null) {
      if (ours === null || (!sameRow(ours, before) && !this.#conflict(change, ours))) return null;
      return { kind: "delete", key };
    }
    if (ours !== null && sameRow(ours, after)) return null;
    if (ours === null) {
      return before === null || this.#conflict(change, ours) ? { kind: "insert", row: after } : null;
    }
    // Columns are merged one by one, because the two sides may have changed different columns.
    const indexes = after.flatMap((value, at) =>
      sameValue(value, before?.[at]) || sameValue(value, ours[at]) ? [] : [at]
    );
    if (indexes.length === 0) return null;
    const clear = before !== null && indexes.every((at) => sameValue(ours[at], before[at]));
    return clear || this.#conflict(change, ours) ? { kind: "update", key, indexes, row: after } : null;
  }

  /** Notes a conflict; true where the branch's side wins. */
  #conflict(change: RowChange, ours: Row | null, kind: "row" | "constraint" = "row"): boolean {
    this.run.conflict({
      kind,
      table: this.pair.table,
      key: this.#keyOf(change.after ?? change.before),
      ancestor: change.before,
      ours,
      theirs: change.after,
    });
    return this.run.onConflict === "theirs";
  }

  /** Writes the changes; returns those that clash on a unique value. */
  *#write(decided: readonly Decided[], or: OnClash = "ABORT"): Work<Decided[]> {
    const stuck: Decided[] = [];
    for (const some of inParts(decided, ({ change }) => lengthOf(change))) {
      if (or === "ABORT" && (yield* this.#insertAll(some.map(({ write }) => write)))) continue;
      const answers = yield* mayAll("trunk", some.map(({ write }) => this.#statements.write(write, or)));
      for (const [at, one] of some.entries()) {
        const answer = answers[at];
        if (answer?.ok) this.#wrote(one.write.kind, 1);
        else if (answer?.failure.kind === "unique_violation") stuck.push(one);
        else throw answer?.error;
      }
    }
    return stuck;
  }

  /** Inserts all rows together; false, with nothing done, where that is impossible. */
  *#insertAll(writes: readonly Write[]): Work<boolean> {
    const statement = this.#statements.insertAll(writes);
    if (statement === null) return false;
    const [answer] = yield* mayAll("trunk", [statement]);
    if (answer?.ok) this.#wrote("insert", writes.length);
    else if (answer?.failure.kind !== "unique_violation") throw answer?.error;
    return answer.ok;
  }

  #wrote(kind: Write["kind"], rows: number): void {
    this.run.wroteRows(kind, this.pair.table, rows);
    if (kind === "insert") this.#grown += rows;
    if (kind === "delete") this.#grown -= rows;
  }

  /** Deletes all the rows and inserts their new values, for rows that exchange values; false, with nothing done, if it fails. */
  *#swap(writes: readonly Write[]): Work<boolean> {
    if (yield* this.#hasOwnColumns()) return false;
    const present = yield* this.#find(
      writes.map((write) => write.kind === "insert" ? this.#keyOf(write.row) : write.key),
    );
    const whole = writes.flatMap((write, at): Row[] => {
      if (write.kind === "insert") return [write.row];
      const ours = present[at];
      if (!ours || write.kind === "delete") return [];
      return [updated(write, ours)];
    });
    yield* rowsOf("trunk", "SAVEPOINT swap");
    const out = whole.map((row) =>
      this.#statements.write({ kind: "delete", key: this.#keyOf(row) }, "ABORT")
    );
    const back = whole.map((row) => this.#statements.write({ kind: "insert", row }, "ABORT"));
    for (const some of inParts(out, () => 0)) yield* mustAll("trunk", some);
    let swapped = whole.length === writes.length;
    for (const some of swapped ? inParts(back, () => BYTES_AT_ONCE / 100) : []) {
      for (const answer of yield* mayAll("trunk", some)) {
        if (!answer.ok && answer.failure.kind !== "unique_violation") throw answer.error;
        swapped &&= answer.ok;
      }
    }
    if (swapped) { for (const { kind } of writes) this.#wrote(kind, 1); }
    else yield* rowsOf("trunk", "ROLLBACK TO swap");
    yield* rowsOf("trunk", "RELEASE swap");
    return swapped;
  }

  /** Settles a clash with another trunk row: the branch's row replaces it, or the trunk's row stays. */
  *#clash(decided: Decided): Work<void> {
    const { change, ours } = decided;
    if (!this.#conflict(change, ours, "constraint")) return;
    this.#rowsBefore ??= (yield* this.#count()) - this.#grown;
    yield* this.#write([yield* this.#broughtBack(decided)], "REPLACE");
  }

  /** Turns an update into an insert where an earlier conflict has removed the row. */
  *#broughtBack(decided: Decided): Work<Decided> {
    const { write, ours } = decided;
    if (write.kind !== "update" || ours === null) return decided;
    const [present] = yield* this.#find([write.key]);
    return present ? decided : { ...decided, write: { kind: "insert", row: updated(write, ours) } };
  }

  *#count(): Work<number> {
    const [[count] = []] = yield* rowsOf("trunk", `SELECT count(*) FROM ${quoted(this.pair.table)}`);
    return Number(count);
  }

  *#find(keys: readonly Row[]): Work<(Row | null)[]> {
    this.run.rowsRead += keys.length;
    const found: (Row | null)[] = keys.map(() => null);
    const numbered = keys.map((key, at) => [BigInt(at), ...key] as const);
    for (const some of inParts(numbered, rowLength)) {
      for (const part of yield* this.#inAnswers(some)) {
        let rows: readonly Row[] = yield* this.#lookUp(part, { exactly: this.#exactly });
        if (!this.#exactly && rows.some((row) => row.some(isDoubtful))) {
          rows = yield* this.#lookUp(part, { exactly: true });
        }
        for (const [at, ...row] of rows) found[Number(at)] = row;
      }
    }
    return found;
  }

  /** The keys of rows that there are, in parts that fit into an answer: a server ends the transaction where one does not. */
  *#inAnswers(keys: readonly NumberedKey[]): Work<Iterable<readonly NumberedKey[]>> {
    if (this.pair.branch?.reading === "values") return [keys];
    const [sizes = []] = yield* mustAll("trunk", [this.#statements.sizes(keys)]);
    const bytes = new Map(sizes.map(([at, size]) => [at, Number(size)]));
    return inParts(keys.filter(([at]) => bytes.has(at)), ([at]) => bytes.get(at) ?? 0);
  }

  *#lookUp(keys: readonly NumberedKey[], form: LookUpForm): Work<readonly Row[]> {
    const [answer] = yield* mayAll("trunk", [this.#statements.lookUp(keys, form)]);
    if (answer?.ok) return form.exactly ? answer.rows.map((row) => row.map(storedValue)) : answer.rows;
    // All rows together may be more than a remote engine sends at once.
    if (answer?.failure.kind !== "result_too_large" || keys.length === 1) throw answer?.error;
    const rows: Row[] = [];
    for (const key of keys) rows.push(...(yield* this.#lookUp([key], form)));
    return rows;
  }

  /** Whether the trunk's table has columns of its own, which a deleted and reinserted row would lose. */
  *#hasOwnColumns(): Work<boolean> {
    const sql = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden = 0";
    const [row] = yield* rowsOf("trunk", sql, this.pair.table);
    return Number(row?.[0]) > this.pair.columns.length;
  }

  #keyOf(row: Row): Row {
    return this.pair.key.map((at) => row[at] ?? null);
  }
}

function updated({ indexes, row }: Write & { readonly kind: "update" }, ours: Row): Row {
  return ours.map((value, at) => indexes.includes(at) ? row[at] ?? null : value);
}
