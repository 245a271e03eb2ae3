// The rows that tell followers of a database that it has changed: one for each commit, written in its transaction.
import { isReservedName } from "../words/service_tables.ts";

/** What can happen to a table, by the bit that stands for it. `restore`: another state has taken the place of the former. */
const bits = { insert: 1, update: 2, delete: 4, schema: 8, restore: 16 } as const;

/** What a change has done, as followers read it. */
export type ChangeKind = keyof typeof bits;

/** A query for the place of the newest change: its number and its epoch. There is no row before the first change. */
export const newestChangeQuery = "SELECT seq, epoch FROM _service_meta_change ORDER BY seq DESC LIMIT 1";

/** A query for when the newest change began, by its own row or that of the audit trail. */
export const newestChangeTimeQuery =
  "SELECT max(ifnull((SELECT at FROM _service_meta_change ORDER BY seq DESC LIMIT 1), 0), " +
  "ifnull((SELECT ts FROM _service_meta_audit ORDER BY id DESC LIMIT 1), 0)) AS at";

/** A statement with its values. */
type Statement = readonly [sql: string, params: (string | number)[]];

/**
 * What the statements of a call may do to rows and tables, as bits; 0: nothing that concerns followers. `actions` are those
 * of the engine (`insert orders`).
 */
export function kindsOfActions(actions: readonly string[], changesSchema: boolean): number {
  let kinds = changesSchema ? bits.schema : 0;
  for (const action of actions) {
    const space = action.indexOf(" ");
    if (!isReservedName(action.slice(space + 1))) kinds |= bitOf(action.slice(0, space));
  }
  return kinds;
}

function bitOf(action: string): number {
  return action === "insert" || action === "update" || action === "delete" ? bits[action] : bits.schema;
}

/** The kinds that the bits stand for. */
export function namesOfKinds(kinds: number): ChangeKind[] {
  const names: readonly ChangeKind[] = ["insert", "update", "delete", "schema", "restore"];
  return names.filter((name) => (kinds & bits[name]) !== 0);
}

/** What a statement of a call may change beyond those before it. */
export interface ChangeStep {
  /** Its place in the call, counted from 0. */
  readonly from: number;
  readonly tables: readonly string[];
  readonly kinds: number;
}

/** What one call has changed. */
export interface CallChange {
  /** Names as a JSON array. */
  readonly tables: string;
  readonly kinds: number;
  readonly rows: number;
  /** Unix milliseconds. */
  readonly at: number;
}

/** What the calls of one transaction have changed together. */
export class CommitChange {
  readonly #tables = new Set<string>();
  #kinds = 0;
  #rows = 0;
  #at = 0;

  /** A call that has changed neither rows nor the schema counts for nothing. */
  add({ tables, kinds, rows, at }: CallChange): void {
    if (kinds === 0 || rows === 0 && (kinds & bits.schema) === 0) return;
    this.#tables.add(tables);
    this.#kinds |= kinds;
    this.#rows += rows;
    this.#at = Math.max(this.#at, at);
  }

  /** What writes the row of the transaction, to run in it; null: there is nothing to tell. */
  get insert(): Statement | null {
    if (this.#kinds === 0) return null;
    return [INSERT, [this.#at, this.#at, this.#names, this.#kinds, this.#rows]];
  }

  /** Calls mostly write the same tables, whose text then stands for all. */
  get #names(): string {
    const [first = "[]"] = this.#tables;
    if (this.#tables.size === 1) return first;
    const names: string[][] = Array.from(this.#tables, (text) => JSON.parse(text));
    return JSON.stringify([...new Set(names.flat())].sort());
  }
}

/** The newest row is never deleted, so the numbers that the engine gives rise. The first change of a database begins its epoch. */
const INSERT = "INSERT INTO _service_meta_change VALUES (NULL, " +
  "ifnull((SELECT epoch FROM _service_meta_change ORDER BY seq DESC LIMIT 1), ?), ?, ?, ?, ?)";

/** Where a database's changes had come to. */
export interface ChangePlace {
  readonly seq: number;
  readonly epoch: number;
}

/**
 * Statements for a state that takes the place of another: its only change is that it did, in an epoch of its own. `former`
 * null: nobody knows how far the other one had come, which the time makes up for, because an epoch is one.
 */
export function restartChanges(
  former: ChangePlace | null,
  { tables, nowMs }: { readonly tables: readonly string[]; readonly nowMs: number },
): Statement[] {
  const seq = (former?.seq ?? 0) + 1;
  const epoch = Math.max((former?.epoch ?? 0) + 1, nowMs);
  return [
    ["DELETE FROM _service_meta_change", []],
    [
      "INSERT INTO _service_meta_change VALUES (?, ?, ?, ?, ?, 0)",
      [seq, epoch, nowMs, JSON.stringify(tables), bits.restore],
    ],
  ];
}
