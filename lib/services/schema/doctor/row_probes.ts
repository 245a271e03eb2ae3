// Questions about the rows: what kinds of values columns hold, and which foreign keys point at nothing. Only both
// ends of a large table are read, so that the doctor's cost does not grow with the data. The questions of last time
// are remembered: while the schema stays the same, one call reads the schema and asks them.
import { hash } from "node:crypto";
import { ownTurn } from "../../../core/own_turn.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { rowsOf } from "../../query/read_result.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import { isNoHash, usersColumns } from "./account_checks.ts";
import { type Examined, probeKey, type RowFacts, valueBits } from "./examined.ts";
import { foreignKeyTarget, orphanCondition } from "./foreign_keys.ts";
import { nullableNumber, promisesNumbers } from "./new_definition.ts";
import { rowIdOf } from "./rebuild_table.ts";
import { keyFacts } from "../key_columns.ts";

/** Rows that are read from each end of a table. */
const END_ROWS = 5_000;
/** Columns of one question: the engine limits the arguments of a function. */
const COLUMNS_PER_PROBE = 50;
/** Questions of one statement: the engine limits the terms of a compound SELECT. */
const PROBES_PER_STATEMENT = 50;
/** Tables after which other work has its turn: some milliseconds. */
const TABLES_A_TURN = 200;

type Answer = string | number | null;

interface Probe {
  /** A SELECT of one row with one column. */
  readonly sql: string;
  readonly note: (answer: Answer, notes: Notes) => void;
}

interface Notes {
  readonly values: Map<string, number>;
  readonly orphans: Set<string>;
  readonly duplicates: Set<string>;
  readonly plain: Set<string>;
}

/** The questions about a schema, and how to read their answers. */
export interface RowProbes {
  readonly statements: readonly string[];
  /** Reads the results of the statements; no results give no facts. */
  readonly read: (results: readonly string[]) => RowFacts;
}

/** The questions that a schema gives rise to. Of thousands of tables other work has its turns between them. */
export async function rowProbes(
  examined: Pick<Examined, "schema" | "byName" | "indexes">,
): Promise<RowProbes> {
  const probes: Probe[] = [];
  for (const [at, table] of examined.schema.tables.entries()) {
    if (at % TABLES_A_TURN === TABLES_A_TURN - 1) await ownTurn();
    if (table.kind !== "table") continue;
    probes.push(
      ...valueProbes(table),
      ...accountProbes(table),
      ...table.foreignKeys.flatMap((key) => keyProbe(examined, table, key)),
    );
  }
  const statements: string[] = [];
  for (let start = 0; start < probes.length; start += PROBES_PER_STATEMENT) {
    const terms = probes.slice(start, start + PROBES_PER_STATEMENT)
      .map(({ sql }, at) => `SELECT ${start + at}, (${sql})`);
    statements.push(terms.join(" UNION ALL "));
  }
  const read = (results: readonly string[]) => {
    const notes: Notes = { values: new Map(), orphans: new Set(), duplicates: new Set(), plain: new Set() };
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
    !column.generated && (column.type === "" || promisesNumbers(column) || column === nullableNumber(table))
  );
  const probes: Probe[] = [];
  for (let start = 0; start < columns.length; start += COLUMNS_PER_PROBE) {
    const part = columns.slice(start, start + COLUMNS_PER_PROBE);
    const kinds = part.map(({ name }) => `group_concat(DISTINCT typeof(${quoteIdentifier(name)}))`);
    probes.push({
      sql: `SELECT json_array(${kinds.join(", ")}) FROM (${bothEnds(table, part.map(({ name }) => name))})`,
      note: (answer, { values }) => {
        const held = kindsOf(answer);
        for (const [at, column] of part.entries()) {
          values.set(probeKey(table.name, column.name), sumOfBits(held[at] ?? ""));
        }
      },
    });
  }
  return probes;
}

/**
 * Guarantee: the answer of a value probe is a JSON array of kinds as `typeof` names them; null where there are no
 * rows.
 */
function kindsOf(answer: Answer): (string | null)[] {
  return JSON.parse(String(answer ?? "[]"));
}

/** Takes the kinds as `typeof` names them, separated by commas. */
function sumOfBits(kinds: string): number {
  return Object.entries(valueBits).reduce((sum, [kind, bit]) => kinds.includes(kind) ? sum + bit : sum, 0);
}

function accountProbes(table: TableFacts): Probe[] {
  const users = usersColumns(table);
  if (users === null) return [];
  const email = quoteIdentifier(users.email);
  const ends = bothEnds(table, [users.email, users.hash]);
  return [{
    sql: `SELECT EXISTS (SELECT 1 FROM (${ends}) WHERE ${isNoHash(users.hash)})`,
    note: (answer, { plain }) => void (answer === 1 && plain.add(table.name)),
  }, {
    // Spellings, because a short table is read twice from its ends.
    sql:
      `SELECT EXISTS (SELECT 1 FROM (${ends}) GROUP BY lower(${email}) HAVING count(DISTINCT ${email}) > 1)`,
    note: (answer, { duplicates }) =>
      void (answer === 1 && duplicates.add(probeKey(table.name, `lower(${users.email})`))),
  }];
}

function keyProbe(
  examined: Pick<Examined, "byName" | "indexes">,
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

/** The first and the last rows. A table without an order of its own has only the first. */
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
  return keyFacts(table.columns).map(({ name }) => quoteIdentifier(name));
}

interface RememberedProbes {
  /** Digest of what the questions follow from. */
  readonly digest: string;
  readonly probes: RowProbes;
}

/** Databases whose questions are remembered. */
const MAX_DATABASES = 200;

/** The questions that the rows of each database were asked last time. */
export class ProbeMemory {
  readonly #byDatabase = new Map<string, RememberedProbes>();

  get(databaseId: string): RememberedProbes | null {
    return this.#byDatabase.get(databaseId) ?? null;
  }

  /** Forgets the oldest when there are too many. */
  keep(databaseId: string, remembered: RememberedProbes): void {
    this.forget(databaseId);
    for (const oldest of this.#byDatabase.keys()) {
      if (this.#byDatabase.size < MAX_DATABASES) break;
      this.#byDatabase.delete(oldest);
    }
    this.#byDatabase.set(databaseId, remembered);
  }

  forget(databaseId: string): void {
    this.#byDatabase.delete(databaseId);
  }
}

/** The digest of what the questions follow from. */
export function digestOf(results: readonly string[]): string {
  return hash("sha256", JSON.stringify(results));
}
