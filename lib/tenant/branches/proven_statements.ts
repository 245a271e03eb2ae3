// Proves that statements turn one schema into another by running them on an empty database in memory, and names what they
// do to each table in the engine's words (`actions` of its facts), so that rules apply to them as to a caller's statements.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import { engineFailure } from "../../engine/engine_failure.ts";
import { rowsCarried, schemaChanges, schemaRenames } from "../../sql/schema/schema_diff.ts";
import { objectsByKey, sameShape, type SchemaShape } from "../../sql/schema/schema_shape.ts";
import type { KnownRenames } from "../../sql/schema/table_lineage.ts";
import { readSchema } from "./read_schema.ts";
import { renamedTexts } from "./renamed_texts.ts";
import type { OpenTrial, TrialDatabase } from "./trial_database.ts";
import { A_TURN, type Answer, type Ask, type Work } from "./work.ts";
import { writtenRename } from "../../sql/grammar/description_renames.ts";
import { runWork } from "../../core/run_work.ts";

/** The statements that turn one schema into another. */
export interface SchemaPlan {
  readonly statements: readonly string[];
  /** The statements' actions on tables, as the engine reports them. */
  readonly actions: readonly string[];
}

/** Finds statements that turn one schema into the other: with renames where they prove right, else without. */
export function* provenStatements(
  open: OpenTrial,
  from: SchemaShape,
  to: SchemaShape,
  known: KnownRenames,
): Work<SchemaPlan> {
  const renames = schemaRenames(from, to, known);
  if (renames.length === 0) return planOf([], from, to);
  // The engine stores a new column name as the statement spells it, so either spelling may give the wanted text.
  const spelled = yield* attempt(open, from, to, renames.map(bare));
  // Nothing is shorter than the renames alone. The name of a table it stores in quotes, however the statement spells it.
  const isShortest = spelled?.statements.length === renames.length;
  if (spelled !== null && (isShortest || !renames.some(isOfColumn))) return spelled;
  const quoted = yield* attempt(open, from, to, renames);
  const proven = [spelled, quoted].filter((one) => one !== null);
  return proven.sort((a, b) => a.statements.length - b.statements.length)[0] ?? planOf([], from, to);
}

/** `from` is the schema after the renames. */
function planOf(renames: readonly string[], from: SchemaShape, to: SchemaShape): SchemaPlan {
  return {
    statements: [...renames, ...schemaChanges(from, to)],
    actions: [...renameActions(renames), ...schemaActions(from, to)],
  };
}

function isOfColumn(rename: string): boolean {
  return writtenRename(rename)?.column !== null;
}

/** Removes the quotes of a statement's last name where the name does not need them. */
function bare(sql: string): string {
  return sql.replace(/"([A-Za-z_]\w*)"$/, "$1");
}

/** Others have their turns between the statements. */
function* attempt(
  open: OpenTrial,
  from: SchemaShape,
  to: SchemaShape,
  renames: readonly string[],
): Work<SchemaPlan | null> {
  const trial = open();
  try {
    trial.exec(`PRAGMA user_version = ${from.userVersion}`);
    const texts = yield* renamedTexts(trial, from.objects, renames);
    if (texts === null) {
      for (const type of ["table", "index", "view", "trigger"]) {
        yield* inTurns(trial, from.objects.filter((one) => one.type === type).map(({ sql }) => sql));
      }
    }
    yield* inTurns(trial, texts ?? renames);
    const plan = planOf(renames, schemaOf(trial), to);
    yield* inTurns(trial, plan.statements.slice(renames.length));
    return sameShape(schemaOf(trial), to) ? plan : null;
  } catch {
    return null; // the engine cannot create this schema again, or a rename does not fit it
  } finally {
    trial.close();
  }
}

function* inTurns(trial: TrialDatabase, statements: readonly string[]): Work<void> {
  for (const sql of statements) {
    trial.exec(sql);
    yield A_TURN;
  }
}

function schemaOf(trial: TrialDatabase): SchemaShape {
  return runWork(readSchema("branch"), ({ statements }: Ask) =>
    statements.map(({ sql, params }): Answer => {
      try {
        return { ok: true, rows: trial.internalRows(sql, ...params.map(plain)) };
      } catch (error) {
        return { ok: false, failure: engineFailure(error, null), error };
      }
    }));
}

function plain(value: EngineValue): string | number | bigint | null {
  if (value instanceof Uint8Array) throw new TypeError("no schema is asked for by a blob");
  return value;
}

/** The actions of all changes except renames. A table that is rebuilt around its rows only changes its schema. */
export function schemaActions(from: SchemaShape, to: SchemaShape): string[] {
  const before = objectsByKey(from);
  const after = objectsByKey(to);
  const actions = new Set<string>();
  for (const [key, one] of before) {
    const newer = after.get(key);
    if (newer?.sql === one.sql) continue;
    actions.add(`schema ${one.table}`);
    // A trigger or an index of that name may belong to another table now.
    if (newer) actions.add(`schema ${newer.table}`);
    const holds = one.type === "table" || one.type === "view";
    const stays = newer !== undefined && (one.type !== "table" || rowsCarried(from, to, one, newer));
    if (holds && !stays) actions.add(`delete ${one.table}`);
  }
  for (const [key, one] of after) if (!before.has(key)) actions.add(`schema ${one.table}`);
  return [...actions].sort();
}

/** A renamed table changes under both of its names. */
function renameActions(renames: readonly string[]): string[] {
  return renames.flatMap((sql) => {
    const rename = writtenRename(sql);
    if (rename === null) return [];
    const { table, column, to } = rename;
    return column === null ? [`schema ${table}`, `schema ${to}`] : [`schema ${table}`];
  });
}
