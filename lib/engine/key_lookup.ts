// Which reads are look-ups by a whole key that end by themselves: their compiled program runs each of its steps at most once,
// so that its length bounds them. Only such reads may run where nobody could stop them.
import type { DatabaseSync } from "node:sqlite";
import { arrayRows, arrayStatement } from "./array_rows.ts";
import { noteCompiled } from "./compiled_texts.ts";
import type { SchemaFacts } from "./schema_facts.ts";

/** One step of a compiled program, as EXPLAIN tells it (sqlite.org/opcode.html). */
export interface ProgramStep {
  readonly addr: number;
  readonly opcode: string;
  readonly p2: number;
  readonly p3: number;
}

/** Characters of the longest text, steps of the longest program, and columns of the widest row. */
const MAX_TEXT = 4000;
const MAX_STEPS = 200;
const MAX_COLUMNS = 64;
/** One table and one of its indexes. */
const MAX_CURSORS = 2;

/** Steps that go on with the next one: each reads at most one row, and compares or copies values. */
const PLAIN_STEPS: ReadonlySet<string> = new Set([
  ...[
    "Affinity",
    "Close",
    "Column",
    "Copy",
    "DeferredSeek",
    "Halt",
    "IdxRowid",
    "Int64",
    "Integer",
    "Noop",
    "Null",
  ],
  ...[
    "OpenRead",
    "Real",
    "RealAffinity",
    "ResultRow",
    "Rowid",
    "SCopy",
    "String8",
    "Transaction",
    "Variable",
  ],
]);
/** Steps that may go on with step `p2` instead. */
const JUMPS: ReadonlySet<string> = new Set([
  ...[
    "DecrJumpZero",
    "Eq",
    "Ge",
    "Goto",
    "Gt",
    "IdxGT",
    "IfNot",
    "IsNull",
    "Le",
    "Lt",
    "MustBeInt",
    "Ne",
    "NotExists",
  ],
  ...["NotNull", "SeekGE", "SeekRowid"],
]);

/**
 * Whether the program runs each of its steps at most once, reads one row at most and calls nothing. The first step leads to
 * the last ones, which prepare constants and lead back to the second; from there it only goes forward.
 */
export function isBoundedProgram(steps: readonly ProgramStep[]): boolean {
  const [first] = steps;
  const last = steps.at(-1);
  if (first?.opcode !== "Init" || last?.opcode !== "Goto" || last.p2 !== 1) return false;
  if (steps.length > MAX_STEPS || steps[first.p2 - 1]?.opcode !== "Halt") return false;
  const count = (opcode: string) => steps.filter((step) => step.opcode === opcode).length;
  if (count("OpenRead") > MAX_CURSORS || count("ResultRow") !== 1) return false;
  return steps.slice(1, -1).every((step, at) =>
    step.addr === at + 1 && isBoundedStep(step, first.p2, steps.length)
  );
}

function isBoundedStep({ addr, opcode, p2, p3 }: ProgramStep, prologue: number, length: number): boolean {
  if (JUMPS.has(opcode)) {
    // Where a step before the prologue led into it, the program would begin again. 0: a failure instead of a jump.
    const most = addr < prologue ? prologue - 1 : length - 1;
    return (opcode === "MustBeInt" && p2 === 0) || (p2 > addr && p2 <= most);
  }
  if (opcode === "OpenRead" && p3 !== 0) return false;
  return PLAIN_STEPS.has(opcode) && (opcode !== "ResultRow" || p2 <= MAX_COLUMNS);
}

/** The steps of a statement. Throws what the engine throws. */
export function programOf(database: DatabaseSync, sql: string): ProgramStep[] {
  // Rows as objects take five times as long (42 µs where these take 8).
  return arrayRows(arrayStatement(database, `EXPLAIN ${sql}`).all()).map(([addr, opcode, _p1, p2, p3]) => ({
    addr: Number(addr),
    opcode: String(opcode),
    p2: Number(p2),
    p3: Number(p3),
  }));
}

/** Whether a read that has just run here is such a look-up. Asked once for all databases with the same schema. */
export function isKeyLookup(
  { database, facts }: { readonly database: DatabaseSync; readonly facts: SchemaFacts | null },
  sql: string,
): boolean {
  // What is not shared has virtual tables, statistics or a long schema, and takes the usual way.
  if (facts === null || sql.length > MAX_TEXT || !facts.estimates.readsOneRow(sql)) return false;
  const known = facts.lookups.get(sql);
  if (known !== undefined) return known;
  const isLookup = isBoundedProgram(programOf(database, sql));
  noteCompiled(database, sql);
  facts.lookups.set(sql, isLookup);
  return isLookup;
}
