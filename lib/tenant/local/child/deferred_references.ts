// Foreign keys that the engine judges at a commit only: where statements of one transaction are to behave as if each had
// a commit of its own, or none is made, they are judged here.
import {
  BREAKABLE,
  type BrokenByTable,
  BrokenCount,
  COUNT_BROKEN,
  DEFERS,
} from "../../../engine/broken_count.ts";
import type { Connection } from "../../../engine/connection.ts";
import type { WireCall } from "./protocol.ts";

/** Whether a table has such a foreign key. */
export function defersReferences(connection: Connection): boolean {
  return connection.internalRow(`SELECT 1 FROM sqlite_schema WHERE ${DEFERS} LIMIT 1`) !== undefined;
}

/** Null where the call can break none. */
export function watchDeferred(
  connection: Connection,
  { level, foreignKeysOff, auditTables }: Pick<WireCall, "level" | "foreignKeysOff" | "auditTables">,
): DeferredReferences | null {
  if (foreignKeysOff) return null;
  // What changes the schema may make one.
  if (level === "schema") return new DeferredReferences(connection, null);
  const written = auditTables ?? "[]";
  return connection.internalRow(BREAKABLE, written) ? new DeferredReferences(connection, written) : null;
}

/** What the engine throws at a commit that would leave more references broken than there were. */
export class BrokenReference extends Error {
  readonly errcode = 787;

  constructor() {
    super("FOREIGN KEY constraint failed");
  }
}

export class DeferredReferences {
  readonly #count: BrokenCount;

  /** `written`: the tables that are, as a JSON list; null: any. */
  constructor(private readonly connection: Connection, private readonly written: string | null) {
    this.#count = new BrokenCount(countBroken(connection, written));
  }

  /** Whether there are more of them than at its making. */
  get broken(): boolean {
    return this.#count.broken;
  }

  /** Looks again: whether there are more of them than at the look before. */
  raised(): boolean {
    return this.#count.raisedTo(countBroken(this.connection, this.written));
  }
}

function countBroken(connection: Connection, written: string | null): BrokenByTable {
  return connection.internalRows(BREAKABLE, written).map(([name]) => countIn(connection, String(name)));
}

function countIn(connection: Connection, table: string): number | null {
  try {
    return Number(connection.internalRow(COUNT_BROKEN, table)?.[0] ?? 0);
  } catch {
    // A key that fits no index of the other table: the engine refuses each write that has to look there by itself.
    return null;
  }
}
