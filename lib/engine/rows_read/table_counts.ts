// Counts how many rows a table has and how many share one key, on the connection that ran the statement. A count is exact
// when it is made, and is made again when the file has changed, but never for more than a small share of the time.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../../core/clock.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";

/** Tables up to this size are counted after every change, which costs a small part of the scan that needs the count. */
const SMALL_TABLE_ROWS = 10_000;
/** A larger table is not counted again for this many times the duration of its last count. */
const REST_FACTOR = 20;
/** Up to this value the largest rowid is taken as the number of rows. */
const ROUGH_ROWS = 100_000;
/** Rows read to learn how many share a key, and milliseconds for which the result is used at least. */
const SAMPLE_ROWS = 4000;
const SAMPLE_AGE_MS = 10_000;
/** SQLite's own guess of the rows that share a key of an index without statistics. */
const UNKNOWN_PER_KEY = 10;

interface Count {
  readonly statement: StatementSync;
  rows: number;
  version: string;
  countedMs: number;
  tookMs: number;
}

/** The numbers of a database's rows, as an estimate asks for them. */
export interface RowCounts {
  rowsOf(table: string): number;
  roughRowsOf(table: string): number;
  perKey(table: string, columns: readonly string[], index: string | null): number;
}

/** The cached row counts of one connection. */
export class TableCounts implements RowCounts {
  readonly #counts = new Map<string, Count>();
  readonly #samples = new Map<string, { perKey: number; version: string; takenMs: number }>();
  #versionStatement: StatementSync | null = null;

  constructor(private readonly database: DatabaseSync, private readonly clock: Clock) {}

  /**
   * Counts the rows of a table by its stored name; 0 where it cannot be counted: the rows returned are then the least
   * estimate.
   */
  rowsOf(table: string): number {
    const version = this.#version();
    const known = this.#counts.get(table);
    if (known && (known.version === version || this.#rests(known))) return known.rows;
    return this.#count(table, version, known);
  }

  /** The number of rows from an earlier count or from the largest rowid; counts only where neither tells. */
  roughRowsOf(table: string): number {
    const known = this.#counts.get(table);
    if (known) return known.rows;
    try {
      const row = this.database.prepare(`SELECT max(rowid) AS rows FROM ${quoteIdentifier(table)}`).get();
      const largest = Number(row?.["rows"] ?? 0);
      // Keys that are random numbers or times are far larger than the number of rows.
      if (largest <= ROUGH_ROWS) return largest;
    } catch {
      // The table is one WITHOUT ROWID.
    }
    return this.rowsOf(table);
  }

  /** Mean number of rows that share one value of these columns, from one end of the index (or of the table). */
  perKey(table: string, columns: readonly string[], index: string | null): number {
    const key = JSON.stringify([table, columns]);
    const known = this.#samples.get(key);
    if (known && this.clock.monotonicMs() - known.takenMs < SAMPLE_AGE_MS) return known.perKey;
    const version = this.#version();
    if (known?.version === version) return known.perKey;
    const perKey = columns.includes("") ? UNKNOWN_PER_KEY : this.#sample(table, columns, index);
    this.#samples.set(key, { perKey, version, takenMs: this.clock.monotonicMs() });
    return perKey;
  }

  /** Drops all counts, because tables may be gone. */
  forget(): void {
    this.#counts.clear();
    this.#samples.clear();
  }

  #rests(count: Count): boolean {
    return count.rows > SMALL_TABLE_ROWS &&
      this.clock.monotonicMs() - count.countedMs < REST_FACTOR * count.tookMs;
  }

  #count(table: string, version: string, known: Count | undefined): number {
    const startedMs = this.clock.monotonicMs();
    try {
      const statement = known?.statement ??
        this.database.prepare(`SELECT count(*) AS rows FROM ${quoteIdentifier(table)}`);
      const rows = Number(statement.get()?.["rows"] ?? 0);
      const countedMs = this.clock.monotonicMs();
      this.#counts.set(table, { statement, rows, version, countedMs, tookMs: countedMs - startedMs });
      return rows;
    } catch {
      return known?.rows ?? 0;
    }
  }

  #sample(table: string, columns: readonly string[], index: string | null): number {
    const keys = columns.map(quoteIdentifier).join(", ");
    const present = columns.map((column) => `${quoteIdentifier(column)} IS NOT NULL`).join(" AND ");
    const from = `${quoteIdentifier(table)}${index === null ? "" : ` INDEXED BY ${quoteIdentifier(index)}`}`;
    const ordered = index === null ? "" : ` ORDER BY ${keys}`;
    const rows = `SELECT ${keys} FROM ${from} WHERE ${present}${ordered} LIMIT ${SAMPLE_ROWS}`;
    try {
      const sampled = this.database.prepare(
        `SELECT count(*) AS keys, sum(n) AS rows FROM (SELECT count(*) AS n FROM (${rows}) GROUP BY ${keys})`,
      ).get();
      const perKey = Number(sampled?.["rows"] ?? 0) / Math.max(1, Number(sampled?.["keys"] ?? 0));
      return perKey > 0 ? perKey : 1;
    } catch {
      return UNKNOWN_PER_KEY; // a partial index, or a collation that this connection does not know
    }
  }

  #version(): string {
    this.#versionStatement ??= this.database.prepare(
      "SELECT total_changes() AS own, data_version AS others FROM pragma_data_version",
    );
    const row = this.#versionStatement.get();
    return `${row?.["own"]} ${row?.["others"]}`;
  }
}
