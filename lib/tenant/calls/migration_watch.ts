// What a migration file has to leave as it was, and its record: asked of the database in the file's own transaction, before
// its first statement and behind its last one.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import { insertRecord, noteObjects, OBJECTS, objectsText } from "../../sql/service/migration_records.ts";
import { foldName } from "../../sql/words/names.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import type { KeptRows, MigrationAsk } from "../call_records.ts";
import { failureOf, numbersIn, type OwnStep, type Work } from "./work.ts";

const TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
/** Columns that lose their values when a row goes that they refer to. */
const LOOSE = `SELECT t.name, f."from" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f ` +
  "WHERE t.schema = 'main' AND t.type = 'table' AND f.on_delete IN ('SET NULL', 'SET DEFAULT')";
const REFERRING =
  "SELECT DISTINCT t.name FROM pragma_table_list t, pragma_foreign_key_list(t.name) WHERE t.schema = 'main'";
const BROKEN = "SELECT count(*) FROM pragma_foreign_key_check(?)";

/** Tables that a failure names. */
const MAX_TOLD = 5;

/** The rows of a table, and the values in columns of it. */
interface Counted {
  readonly table: string;
  readonly columns: readonly string[];
  readonly counts: readonly number[];
}

/** What was asked; what cannot be read must not count as nothing. */
type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: EngineFailure };

/** One run of one file. */
export class MigrationWatch {
  #counted: readonly Counted[] = [];
  #broken: ReadonlyMap<string, number | null> = new Map();

  constructor(
    private readonly ask: MigrationAsk,
    private readonly call: { readonly foreignKeysOff: boolean },
  ) {}

  /** Counts, and writes the record. Answers why the file may not be applied: another one was, `moved`. */
  *begin(): Work<EngineFailure | null> {
    const { record, after, keeps } = this.ask;
    const [inserted] = yield { steps: [insertRecord(record, after)] };
    if (!inserted?.ok) {
      const failure = failureOf(inserted);
      return failure.kind === "not_null_violation" ? plainFailure("moved", "") : failure;
    }
    if (keeps !== null) {
      const counted = yield* countKept(keeps, this.call.foreignKeysOff);
      if (!counted.ok) return counted.failure;
      this.#counted = counted.value;
    }
    if (!this.call.foreignKeysOff) return null;
    const broken = yield* countBroken();
    if (!broken.ok) return broken.failure;
    this.#broken = broken.value;
    return null;
  }

  /** Answers what the file has done that it must not. Otherwise notes what the schema consists of now. */
  *end(): Work<EngineFailure | null> {
    const lost = (yield* this.#lostRows()) ?? (yield* this.#brokenReference());
    if (lost !== null) return lost;
    const [objects] = yield { steps: [{ sql: OBJECTS }] };
    if (!objects?.ok) return failureOf(objects);
    const noted = yield { steps: noteObjects(objectsText(objects.rows)) };
    const failed = noted.find(({ ok }) => !ok);
    return failed ? failureOf(failed) : null;
  }

  *#lostRows(): Work<EngineFailure | null> {
    const { keeps } = this.ask;
    if (keeps === null || this.#counted.length === 0) return null;
    const tables = yield* namesOf(TABLES);
    if (!tables.ok) return tables.failure;
    const names = new Set(tables.value.map(foldName));
    const kept = this.#counted.flatMap((one) => {
      const name = finalName(one.table, names, keeps);
      return name === null ? [] : [{ ...one, name }];
    });
    const counts = yield { steps: kept.map(({ name, columns }) => ({ sql: countText(name, columns) })) };
    // Columns that the file has renamed or dropped cannot be counted any more; the rows still can.
    const again = kept.filter((_, at) => !counts[at]?.ok).map(({ name }) => name);
    const rows = again.length === 0
      ? []
      : yield { steps: again.map((name) => ({ sql: countText(name, []) })) };
    const failed = rows.find(({ ok }) => !ok);
    if (failed) return failureOf(failed);
    const lost = kept.flatMap(({ name, table, columns, counts: before }, at) => {
      const after = numbersIn(counts[at]) ?? numbersIn(rows[again.indexOf(name)]);
      const less = before.findIndex((count, column) => (after?.[column] ?? count) < count);
      if (less < 0) return [];
      const what = less === 0 ? "rows" : `values of ${columns[less - 1]}`;
      return { table, message: `${table} would have ${after?.[less]} of its ${before[less]} ${what}` };
    });
    const [first] = lost;
    if (first === undefined) return null;
    const message = lost.slice(0, MAX_TOLD).map((one) => one.message).join(", ");
    return { kind: "rows_lost", message, table: first.table, columns: [] };
  }

  *#brokenReference(): Work<EngineFailure | null> {
    if (!this.call.foreignKeysOff) return null;
    const now = yield* countBroken();
    if (!now.ok) return now.failure;
    for (const [table, count] of now.value) {
      const before = this.#broken.get(table);
      // A key that fitted no index before could not be counted then.
      if (before === null || (count !== null && count <= (before ?? 0))) continue;
      const message = count === null
        ? `foreign key mismatch - a key of "${table}" refers to columns without a unique index`
        : "FOREIGN KEY constraint failed";
      return { kind: "foreign_key_violation", message, table, columns: [] };
    }
    return null;
  }
}

/** The name under which the table is found in the end; null: the file has dropped it. */
function finalName(table: string, names: ReadonlySet<string>, { renamed }: KeptRows): string | null {
  const folded = foldName(table);
  // A table may be named as a member that every object has.
  const name = Object.hasOwn(renamed, folded) ? renamed[folded] ?? table : table;
  return names.has(foldName(name)) ? name : null;
}

function* countKept(
  { mayLose, mayChange }: KeptRows,
  foreignKeysOff: boolean,
): Work<Read<readonly Counted[]>> {
  // Where foreign keys are off, no row that goes changes another one.
  const loose = foreignKeysOff ? { ok: true, value: [] } as const : yield* read(LOOSE);
  if (!loose.ok) return loose;
  const tables = yield* namesOf(TABLES);
  if (!tables.ok) return tables;
  const kept = tables.value.filter((name) => !isReservedName(name) && !mayLose.includes(foldName(name)));
  const asked = kept.map((table) => {
    const columns = mayChange.includes(foldName(table))
      ? []
      : loose.value.flatMap(([of, column]) => of === table ? [String(column)] : []);
    return { table, columns: [...new Set(columns)] };
  });
  const answers = yield { steps: asked.map(({ table, columns }) => ({ sql: countText(table, columns) })) };
  const value = asked.flatMap((one, at) => {
    const counts = numbersIn(answers[at]);
    // A table that cannot be read now cannot be compared.
    return counts === undefined ? [] : [{ ...one, counts }];
  });
  return { ok: true, value };
}

function countText(table: string, columns: readonly string[]): string {
  const counts = ["count(*)", ...columns.map((column) => `count(${quoteIdentifier(column)})`)];
  return `SELECT ${counts.join(", ")} FROM ${quoteIdentifier(table)}`;
}

/** Rows of each table whose reference leads nowhere; null: a key of it fits no index, so they cannot be counted. */
function* countBroken(): Work<Read<ReadonlyMap<string, number | null>>> {
  const referring = yield* namesOf(REFERRING);
  if (!referring.ok) return referring;
  const tables = referring.value;
  const steps: OwnStep[] = tables.map((table) => ({ sql: BROKEN, params: [table] }));
  const answers = yield { steps };
  return {
    ok: true,
    value: new Map(tables.map((table, at) => [table, numbersIn(answers[at])?.[0] ?? null])),
  };
}

function* namesOf(sql: string): Work<Read<readonly string[]>> {
  const names = yield* read(sql);
  return names.ok ? { ok: true, value: names.value.map(([name]) => String(name)) } : names;
}

function* read(sql: string): Work<Read<readonly (readonly EngineValue[])[]>> {
  const [answer] = yield { steps: [{ sql }] };
  return answer?.ok ? { ok: true, value: answer.rows } : { ok: false, failure: failureOf(answer) };
}
