// One table of the trunk while a branch's rows come into it: each change is compared with the trunk's own row first.
import { quoteIdentifier as quoted } from "../../../sql/quote.ts";
import type { StatementSync } from "node:sqlite";
import type { EngineValue } from "./connection.ts";
import { jsonRow } from "./diff.ts";
import { engineFailure } from "./engine_failure.ts";
import type { MergeRun } from "./merge_run.ts";
import { type Row, type RowChange, sameRow, sameValue } from "./row_changes.ts";
import type { TablePair } from "./table_pair.ts";

/** Changes that wait until others have freed a value which must be unique. */
const MAX_POSTPONED = 50_000;

/** What is to be written for one change, once it is decided. */
type Write =
  | { readonly kind: "insert" | "replace"; readonly row: Row }
  | { readonly kind: "update"; readonly key: Row; readonly places: readonly number[]; readonly row: Row };

export class TrunkTable {
  readonly #name: string;
  readonly #columns: readonly string[];
  readonly #isKey: string;
  readonly #statements = new Map<string, StatementSync>();
  #postponed: { readonly write: Write; readonly change: RowChange; readonly ours: Row | null }[] = [];

  constructor(private readonly run: MergeRun, private readonly pair: TablePair) {
    this.#name = quoted(pair.table);
    this.#columns = pair.columns.map(quoted);
    this.#isKey = pair.key.map((at) => `${this.#columns[at]} = ?`).join(" AND ");
  }

  apply(change: RowChange): void {
    const key = this.#keyOf(change.after ?? change.before);
    if (key.includes(null)) {
      this.run.refusal = `Give every row a primary key first; one of ${this.pair.table} has NULL in it`;
      return;
    }
    const ours = this.#find(key);
    if (change.kind === "removed") return this.#remove(change, key, ours);
    if (ours !== null && sameRow(ours, change.after)) return;
    if (change.kind === "added") return this.#add(change, key, ours);
    this.#change(change, key, ours);
  }

  /** Tries again what stood in each other's way; what still does is a conflict. */
  settlePostponed(): void {
    let before = -1;
    while (this.#postponed.length > 0 && this.#postponed.length !== before) {
      before = this.#postponed.length;
      const again = this.#postponed;
      this.#postponed = [];
      for (const one of again) if (!this.#try(one.write)) this.#postponed.push(one);
    }
    const stuck = this.#postponed;
    this.#postponed = [];
    if (stuck.length > 0 && !this.#swap(stuck.map(({ write }) => write))) {
      for (const { write, change, ours } of stuck) this.#clash(write, change, ours);
    }
  }

  #remove(change: RowChange & { readonly kind: "removed" }, key: Row, ours: Row | null): void {
    if (ours === null) return;
    if (!sameRow(ours, change.before) && !this.#conflict(change, ours)) return;
    this.#execute(`DELETE FROM ${this.#name} WHERE ${this.#isKey}`, key);
  }

  #add(change: RowChange & { readonly kind: "added" }, key: Row, ours: Row | null): void {
    if (ours === null) return this.#write({ kind: "insert", row: change.after }, change, ours);
    if (!this.#conflict(change, ours)) return;
    const places = change.after.flatMap((value, at) => sameValue(value, ours[at]) ? [] : [at]);
    this.#write({ kind: "update", key, places, row: change.after }, change, ours);
  }

  /** Columns are merged one by one: the two sides may have changed different ones. */
  #change(change: RowChange & { readonly kind: "changed" }, key: Row, ours: Row | null): void {
    const { before, after } = change;
    if (ours === null) {
      if (this.#conflict(change, ours)) this.#write({ kind: "insert", row: after }, change, ours);
      return;
    }
    const changed = after.flatMap((value, at) => sameValue(value, before[at]) ? [] : [at]);
    const places = changed.filter((at) => !sameValue(ours[at], after[at]));
    if (places.length === 0) return;
    if (places.some((at) => !sameValue(ours[at], before[at])) && !this.#conflict(change, ours)) return;
    this.#write({ kind: "update", key, places, row: after }, change, ours);
  }

  /** Notes a conflict. True where the branch's side is to be taken. */
  #conflict(change: RowChange, ours: Row | null, kind: "row" | "constraint" = "row"): boolean {
    const { onConflict } = this.run.request;
    this.run.conflict({
      ...{ kind, table: this.pair.table, key: jsonRow(this.#keyOf(change.after ?? change.before)) },
      ancestor: change.before && jsonRow(change.before),
      ours: ours && jsonRow(ours),
      theirs: change.after && jsonRow(change.after),
    }, onConflict !== "abort");
    return onConflict === "theirs";
  }

  #write(write: Write, change: RowChange, ours: Row | null): void {
    if (this.#try(write)) return;
    if (this.#postponed.length < MAX_POSTPONED) this.#postponed.push({ write, change, ours });
    else this.#clash(write, change, ours);
  }

  /** False when a value that must be unique is still taken. */
  #try(write: Write, or = ""): boolean {
    try {
      if (write.kind === "update") {
        const sets = write.places.map((at) => `${this.#columns[at]} = ?`).join(", ");
        const values = write.places.map((at) => write.row[at] ?? null);
        this.#execute(`UPDATE ${or} ${this.#name} SET ${sets} WHERE ${this.#isKey}`, [
          ...values,
          ...write.key,
        ]);
      } else {
        const marks = write.row.map(() => "?").join(", ");
        this.#execute(
          `INSERT ${or} INTO ${this.#name} (${this.#columns.join(", ")}) VALUES (${marks})`,
          write.row,
        );
      }
      return true;
    } catch (error) {
      if (engineFailure(error, null).kind === "unique_violation") return false;
      throw error;
    }
  }

  /** Rows that exchange values: all of them out, then all of them in. False, and nothing done, where that is not it. */
  #swap(writes: readonly Write[]): boolean {
    if (this.#hasOwnColumns) return false;
    const writer = this.run.trunk.writer();
    const rowsWritten = this.run.rowsWritten;
    const whole = writes.map((write): Row | null => {
      if (write.kind !== "update") return write.row;
      const present = this.#find(write.key);
      return present && present.map((value, at) => write.places.includes(at) ? write.row[at] ?? null : value);
    });
    writer.internalRun("SAVEPOINT swap");
    try {
      for (const row of whole) {
        if (row) this.#execute(`DELETE FROM ${this.#name} WHERE ${this.#isKey}`, this.#keyOf(row));
      }
      if (whole.every((row) => row !== null && this.#try({ kind: "insert", row }))) {
        this.run.rowsWritten = rowsWritten + whole.length;
        return true;
      }
      this.run.rowsWritten = rowsWritten;
      writer.internalRun("ROLLBACK TO swap");
      return false;
    } finally {
      writer.internalRun("RELEASE swap");
    }
  }

  /** Another row of the trunk has the value: the branch's side takes it, the trunk's side keeps it. */
  #clash(write: Write, change: RowChange, ours: Row | null): void {
    if (this.#conflict(change, ours, "constraint")) this.#try(write, "OR REPLACE");
  }

  #find(key: Row): Row | null {
    this.run.rowsRead++;
    return rowOf(
      this.#prepare(`SELECT ${this.#columns.join(", ")} FROM ${this.#name} WHERE ${this.#isKey}`).get(...key),
    );
  }

  #execute(sql: string, values: Row): void {
    this.#prepare(sql).run(...values);
    this.run.rowsWritten++;
    this.run.written.add(this.pair.table);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.run.trunk.writer().database.prepare(sql);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** A row that is taken out and put back would lose what only the trunk's table has a column for. */
  get #hasOwnColumns(): boolean {
    const row = this.run.trunk.writer().internalRow(
      "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden = 0",
      this.pair.table,
    );
    return Number(row?.[0]) > this.#columns.length;
  }

  #keyOf(row: Row): EngineValue[] {
    return this.pair.key.map((at) => row[at] ?? null);
  }
}

/** With `setReturnArrays(true)` a row is an array of engine values; the type of `node:sqlite` does not say so. */
function rowOf(row: unknown): Row | null {
  return Array.isArray(row) ? row : null;
}
