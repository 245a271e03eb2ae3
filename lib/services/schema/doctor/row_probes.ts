// Questions to the rows themselves: what kinds of values columns hold, and which foreign keys point at nothing. Of a
// large table only both ends are looked at, so that what the doctor costs does not grow with the data.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { rowsOf } from "../read_rows.ts";
import type { ColumnFacts, ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import { type Examined, probeKey, type RowFacts, valueBits } from "./examined.ts";
import { foreignKeyTarget, orphanCondition } from "./foreign_key_target.ts";
import { promisesNumbers } from "./integer_text_mix.ts";
import { rowIdOf } from "./rebuild_table.ts";

/** Rows of a table that are looked at, from each end. */
const END_ROWS = 5_000;
/** Columns of one question: the engine bounds the arguments of a function. */
const COLUMNS_PER_PROBE = 50;
/** Questions of one statement: the engine bounds the terms of a compound SELECT. */
const PROBES_PER_STATEMENT = 50;

type Answer = string | number | null;

interface Probe {
  /** One row with one column. */
  readonly sql: string;
  readonly note: (answer: Answer, notes: Notes) => void;
}

interface Notes {
  readonly values: Map<string, number>;
  readonly orphans: Set<string>;
  readonly duplicates: Set<string>;
}

export interface RowProbes {
  readonly statements: readonly string[];
  /** From the results of the statements; of no results, no facts. */
  readonly read: (results: readonly string[]) => RowFacts;
}

export function rowProbes(examined: Pick<Examined, "schema" | "indexes">): RowProbes {
  const probes = examined.schema.tables.filter(({ kind }) => kind === "table").flatMap((table) => [
    ...valueProbes(table),
    ...table.foreignKeys.flatMap((key) => keyProbe(examined, table, key)),
  ]);
  const statements: string[] = [];
  for (let start = 0; start < probes.length; start += PROBES_PER_STATEMENT) {
    const terms = probes.slice(start, start + PROBES_PER_STATEMENT)
      .map(({ sql }, at) => `SELECT ${start + at}, (${sql})`);
    statements.push(terms.join(" UNION ALL "));
  }
  const read = (results: readonly string[]) => {
    const notes: Notes = { values: new Map(), orphans: new Set(), duplicates: new Set() };
    for (const result of results) {
      for (const [number, answer] of rowsOf<[number, Answer]>(result)) probes[number]?.note(answer, notes);
    }
    return notes;
  };
  return { statements, read };
}

/** A sum of `valueBits` for each column where the kinds of its values matter. */
function valueProbes(table: TableFacts): Probe[] {
  const columns = table.columns.filter((column) =>
    !column.generated && (column.type === "" || promisesNumbers(column))
  );
  const probes: Probe[] = [];
  for (let start = 0; start < columns.length; start += COLUMNS_PER_PROBE) {
    const part = columns.slice(start, start + COLUMNS_PER_PROBE);
    const kinds = part.map(({ name }) => `group_concat(DISTINCT typeof(${quoteIdentifier(name)}))`);
    probes.push({
      sql: `SELECT json_array(${kinds.join(", ")}) FROM (${bothEnds(table, part.map(({ name }) => name))})`,
      note: (answer, { values }) => {
        const held: (string | null)[] = JSON.parse(String(answer ?? "[]"));
        for (const [at, column] of part.entries()) {
          values.set(probeKey(table.name, column.name), sumOfBits(held[at] ?? ""));
        }
      },
    });
  }
  return probes;
}

/** Of kinds as `typeof` names them, with commas between. */
function sumOfBits(kinds: string): number {
  return Object.entries(valueBits).reduce((sum, [kind, bit]) => kinds.includes(kind) ? sum + bit : sum, 0);
}

function keyProbe(
  examined: Pick<Examined, "schema" | "indexes">,
  table: TableFacts,
  key: ForeignKeyFacts,
): Probe[] {
  const target = foreignKeyTarget(examined, key);
  if (target.state === "sound") {
    if (key.columns.some((name) => table.columns.find((one) => one.name === name)?.generated)) return [];
    return [{
      sql: `SELECT EXISTS (SELECT 1 FROM (${bothEnds(table, key.columns)}) AS child WHERE ${
        orphanCondition("child", key)
      })`,
      note: (answer, { orphans }) =>
        void (answer === 1 && orphans.add(probeKey(table.name, ...key.columns, key.toTable))),
    }];
  }
  if (target.state !== "not_unique") return [];
  const names = key.toColumns.map(quoteIdentifier);
  return [{
    sql: `SELECT EXISTS (SELECT 1 FROM ${quoteIdentifier(key.toTable)} WHERE ${
      names.map((name) => `${name} IS NOT NULL`).join(" AND ")
    } GROUP BY ${names.join(", ")} HAVING count(*) > 1)`,
    note: (answer, { duplicates }) =>
      void (answer === 1 && duplicates.add(probeKey(key.toTable, ...key.toColumns))),
  }];
}

/** The first and the last rows; a table without any order of its own keeps only the first. */
function bothEnds(table: TableFacts, columns: readonly string[]): string {
  const select = `SELECT ${columns.map(quoteIdentifier).join(", ")} FROM ${quoteIdentifier(table.name)}`;
  const order = orderOf(table);
  const first = `SELECT * FROM (${select}${
    order.length > 0 ? ` ORDER BY ${order.join(", ")}` : ""
  } LIMIT ${END_ROWS})`;
  if (order.length === 0) return first;
  const last = `SELECT * FROM (${select} ORDER BY ${
    order.map((one) => `${one} DESC`).join(", ")
  } LIMIT ${END_ROWS})`;
  return `${first} UNION ALL ${last}`;
}

/** The order in which the table is stored. */
function orderOf(table: TableFacts): string[] {
  const rowId = rowIdOf(table);
  if (rowId !== null) return [rowId];
  if (!table.withoutRowid) return [];
  const key: ColumnFacts[] = table.columns.filter(({ pk }) => pk > 0);
  return key.toSorted((a, b) => a.pk - b.pk).map(({ name }) => quoteIdentifier(name));
}
