// Which reads are look-ups that end by themselves: by a whole key, where the compiled program runs each of its steps at most once,
// or of a short list, where it runs some of them once for each row up to a LIMIT. So its length bounds them. Only such reads may
// run where nobody could stop them.
import type { DatabaseSync } from "node:sqlite";
import { arrayRows, arrayStatement } from "./array_rows.ts";
import { noteCompiled } from "./compiled_texts.ts";
import type { Connection } from "./connection.ts";
import { type BoundRead, type LookupReads, withLimit } from "./rows_read/lookup_reads.ts";

/** One step of a compiled program, as EXPLAIN tells it (sqlite.org/opcode.html). */
export interface ProgramStep {
  readonly addr: number;
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
}

/** Characters of the longest text, steps of the longest program, columns of the widest row, and rows and values of a list. */
const MAX_TEXT = 4000;
const MAX_STEPS = 200;
const MAX_COLUMNS = 64;
const MAX_ROWS = 100;
const MAX_VALUES = 512;
/** Rows that an estimate may have beyond those that are returned. */
const MAX_BEYOND = 2;
/** The beginning and the end of a text with so few rows, which is no EXPLAIN; what is longer is not looked for. */
const SELECTS = /^\s*select\b/i;
const LIMITED = /\blimit\s+\d{1,3}[\s;]*$/i;
const END_CHARACTERS = 40;
/** One table and one of its indexes. */
const MAX_CURSORS = 2;

/** Steps that go on with the next one: each reads at most one row, and compares or copies values. */
const PLAIN_STEPS: ReadonlySet<string> = new Set([
  ...["Affinity", "Close", "Column", "Copy", "DeferredSeek", "Halt", "IdxRowid", "Int64"],
  ...["Integer", "Noop", "Null", "OpenRead", "Real", "RealAffinity", "ResultRow", "Rowid", "SCopy"],
  ...["String8", "Transaction", "Variable"],
]);
/** Steps that may go on with step `p2` instead. */
const JUMPS: ReadonlySet<string> = new Set([
  ...["DecrJumpZero", "Eq", "Ge", "Goto", "Gt", "IdxGE", "IdxGT", "IdxLE", "IdxLT", "IfNot", "IsNull"],
  ...["Last", "Le", "Lt", "MustBeInt", "Ne", "NotExists", "NotNull", "Rewind", "SeekGE", "SeekGT", "SeekLE"],
  ...["SeekLT", "SeekRowid"],
]);
/** Steps that go to the next row and on with step `p2`, or on with the next one behind the last row. */
const NEXT_ROWS: ReadonlySet<string> = new Set(["Next", "Prev"]);

/** Steps that begin at one end of a table or of an index. */
const SCANS: ReadonlySet<string> = new Set(["Last", "Rewind"]);

/** How many rows a program returns at most. */
export interface RowLimit {
  readonly most: number;
  /** The place of the value that says how many, from 1 on, which may be no more than `most`; null: the text says it. */
  readonly parameter: number | null;
}

/** The steps that run once for each row, and in their midst the one that counts and ends them. */
interface Loop extends RowLimit {
  readonly first: number;
  readonly counts: number;
  readonly last: number;
}

/**
 * How many rows the program returns at most, where it runs each of its steps at most once, or those of one loop once for each row up
 * to a LIMIT, and calls nothing. Null: it is another one. The first step leads to the last ones, which prepare constants and lead
 * back to the second; from there it only goes forward, but for that loop.
 */
export function rowLimitOf(steps: readonly ProgramStep[]): RowLimit | null {
  const [first] = steps;
  const last = steps.at(-1);
  if (first?.opcode !== "Init" || last?.opcode !== "Goto" || last.p2 !== 1) return null;
  if (steps.length > MAX_STEPS || steps[first.p2 - 1]?.opcode !== "Halt") return null;
  const all = (opcode: string) => steps.filter((step) => step.opcode === opcode);
  const [row, ...otherRows] = all("ResultRow");
  if (all("OpenRead").length > MAX_CURSORS || row === undefined || otherRows.length > 0) return null;
  const loop = steps.some(({ opcode }) => NEXT_ROWS.has(opcode)) ? loopOf(steps, row) : null;
  if (loop === undefined || (loop && loop.last >= first.p2)) return null;
  const isBounded = steps.slice(1, -1).every((step, at) =>
    step.addr === at + 1 && isBoundedStep(step, { prologue: first.p2, length: steps.length, loop })
  );
  if (!isBounded) return null;
  return loop ? { most: loop.most, parameter: loop.parameter } : { most: 1, parameter: null };
}

/** Undefined: some loop has no such end, or there are several. */
function loopOf(steps: readonly ProgramStep[], row: ProgramStep): Loop | undefined {
  const [next, ...others] = steps.filter(({ opcode }) => NEXT_ROWS.has(opcode));
  const [counts, ...otherCounts] = steps.filter(({ opcode }) => opcode === "DecrJumpZero");
  if (next === undefined || others.length > 0 || counts === undefined || otherCounts.length > 0) {
    return undefined;
  }
  const isInside = next.p2 <= row.addr && row.addr < counts.addr && counts.addr < next.addr;
  // The count is set once, before the loop, and nothing else writes it.
  const [limit, ...otherWrites] = steps.filter((step) => writes(step, counts.p1));
  const isBefore = limit !== undefined && (limit.addr < next.p2 || limit.addr > next.addr);
  if (!isInside || !isBefore) return undefined;
  const loop = { first: next.p2, counts: counts.addr, last: next.addr };
  const mayHave = Math.min(MAX_ROWS, Math.floor(MAX_VALUES / row.p2));
  if (limit.opcode === "Integer" && otherWrites.length === 0 && limit.p1 > 0 && limit.p1 <= mayHave) {
    return { ...loop, most: limit.p1, parameter: null };
  }
  const [check, ...more] = otherWrites;
  const isGiven = limit.opcode === "Variable" && check?.opcode === "MustBeInt" && more.length === 0 &&
    check.addr === limit.addr + 1;
  return isGiven ? { ...loop, most: mayHave, parameter: limit.p1 } : undefined;
}

/** Whether the step sets this register, other than by counting it down. */
function writes({ opcode, p1, p2, p3 }: ProgramStep, register: number): boolean {
  switch (opcode) {
    case "Column":
      return p3 === register;
    case "Affinity":
      return register >= p1 && register < p1 + p2;
    case "MustBeInt":
    case "RealAffinity":
      return p1 === register;
    case "Copy":
      return register >= p2 && register <= p2 + p3;
    case "Null":
      return register >= p2 && register <= Math.max(p2, p3);
    case "IdxRowid":
    case "Int64":
    case "Integer":
    case "Real":
    case "Rowid":
    case "SCopy":
    case "String8":
    case "Variable":
      return p2 === register;
    default:
      return false;
  }
}

function isBoundedStep(
  { addr, opcode, p2, p3 }: ProgramStep,
  { prologue, length, loop }: {
    readonly prologue: number;
    readonly length: number;
    readonly loop: Loop | null;
  },
): boolean {
  if (NEXT_ROWS.has(opcode)) return loop !== null && addr === loop.last && p2 > 0;
  if (JUMPS.has(opcode)) {
    // Where a step before the prologue led into it, the program would begin again. 0: a failure instead of a jump.
    const most = addr < prologue ? prologue - 1 : length - 1;
    return (opcode === "MustBeInt" && p2 === 0) ||
      (p2 > addr && p2 <= most && !leavesOutCount(addr, p2, loop));
  }
  if (opcode === "OpenRead" && p3 !== 0) return false;
  return PLAIN_STEPS.has(opcode) && (opcode !== "ResultRow" || p2 <= MAX_COLUMNS);
}

/** Whether a jump leads to where the loop goes on with its next row, past the step that counts. */
function leavesOutCount(from: number, to: number, loop: Loop | null): boolean {
  if (loop === null || to > loop.last) return false;
  return from < loop.first ? to > loop.first : to > loop.counts;
}

/** The steps of a statement. Throws what the engine throws. */
export function programOf(database: DatabaseSync, sql: string): ProgramStep[] {
  // Rows as objects take five times as long (42 µs where these take 8).
  return arrayRows(arrayStatement(database, `EXPLAIN ${sql}`).all()).map(([addr, opcode, p1, p2, p3]) => ({
    addr: Number(addr),
    opcode: String(opcode),
    p1: Number(p1),
    p2: Number(p2),
    p3: Number(p3),
  }));
}

/**
 * What a look-up reads, which the service compiles as `withLimit` has it; null: a read that has just run here is none, or is a
 * list that runs for the first time. Asked once for all databases with the same schema.
 */
export function lookupReads(connection: Connection, read: BoundRead): LookupReads | null {
  const { facts } = connection;
  const { sql } = read;
  // What is not shared has virtual tables, statistics or a long schema, and takes the usual way.
  if (facts === null || sql.length > MAX_TEXT) return null;
  const fixed = withLimit(read);
  const known = facts.lookups.get(fixed.sql);
  if (known !== undefined) return known;
  const isLimited = LIMITED.test(fixed.sql.slice(-END_CHARACTERS)) && SELECTS.test(sql);
  if (!facts.estimates.readsOneRow(sql)) {
    if (!isLimited) return null;
    const isFirst = facts.lists.get(fixed.sql) === undefined;
    facts.lists.set(fixed.sql, true);
    if (isFirst) return null;
  }
  const reads = readsOf(connection, read, fixed.sql);
  facts.lookups.set(fixed.sql, reads);
  return reads;
}

function readsOf(connection: Connection, { sql, params }: BoundRead, fixedSql: string): LookupReads | null {
  const steps = programOf(connection.database, sql);
  const limit = rowLimitOf(steps);
  const fixed = sql === fixedSql ? limit : rowLimitOf(programOf(connection.database, fixedSql));
  noteCompiled(connection.database, sql);
  if (limit === null || fixed === null || fixed.parameter !== null) return null;
  // What stands in the text now was the value of the LIMIT, which was the last one.
  const isByValue = sql !== fixedSql;
  if (limit.parameter !== (isByValue ? params.length : null)) return null;
  return readsUpTo(fixed.most, {
    isByValue,
    isScan: steps.some(({ opcode }) => SCANS.has(opcode)),
    readFor: (returned) => connection.rowsRead(sql, returned, 0),
  });
}

/** Null: the rows that are read do not follow from those that are returned. */
function readsUpTo(
  most: number,
  { isByValue, isScan, readFor }: {
    readonly isByValue: boolean;
    readonly isScan: boolean;
    readonly readFor: (returned: number) => number;
  },
): LookupReads | null {
  // An estimate knows no values: it takes any row for the last one.
  const full = isByValue ? 1 : most;
  const over = readFor(full) - full;
  if (over > MAX_BEYOND || readFor(most) > most + MAX_BEYOND) return null;
  const beyond = readFor(0);
  if (beyond <= MAX_BEYOND && readFor(full - 1) === full - 1 + beyond) return [most, full, beyond, over];
  // A table that is read from its one end, of which no row is left out, has no more rows than it returns, where those are fewer.
  return isScan ? [most, full, 0, over] : null;
}
