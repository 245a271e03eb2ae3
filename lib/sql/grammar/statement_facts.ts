// The one result of understanding a statement: what its text says joined with what the engine says. Where the two
// disagree, the statement is refused.
import type { Rename } from "./description_renames.ts";
import type { Role } from "../../core/role.ts";
import { roleOfClass, type StatementClass, type StatementVerb } from "../words/statement_kinds.ts";
import { effectOf, type TableCommands, triggeredCommands } from "./module_commands.ts";
import type { PragmaFacts } from "./pragmas.ts";
import { type BuiltIndex, builtRows, removedRows } from "./schema_row_texts.ts";
import type { SchemaRows } from "./uncounted_rows.ts";
import { bufferedServiceTables } from "../words/service_tables.ts";
import type { SqlParameter } from "../words/sql_value.ts";
import type { Syntax } from "./syntax.ts";

/** What the engine reports when it compiles a statement; views, triggers and cascades are resolved. */
export interface EngineFacts {
  /** Sorted, without duplicates; spelled as in the schema. */
  readonly tablesRead: readonly string[];
  /** `table.column`. */
  readonly columnsRead: readonly string[];
  readonly tablesWritten: readonly string[];
  readonly columnsWritten: readonly string[];
  /** What happens to each table: `insert orders`, `update …`, `delete …`, `schema …`. */
  readonly actions: readonly string[];
  /** Tables whose rows are written, without views and virtual tables. */
  readonly rowTables: readonly string[];
  /** Tables from which a conflict may remove rows that are not counted. */
  readonly replacedTables: readonly string[];
  readonly functions: readonly string[];
  /** Tables in `tablesWritten` that belong to a virtual table. */
  readonly shadowTables: readonly string[];
  /** Tables that are inserted into and take commands by a hidden column with their own name. */
  readonly commandTables: readonly string[];
  /** Indexes that REINDEX rebuilds. */
  readonly builtIndexes: readonly BuiltIndex[];
  /** The texts of the triggers involved, where there are such tables. */
  readonly triggers: readonly string[];
}

/** All that is known about a statement. */
export interface StatementFacts extends EngineFacts {
  readonly class: StatementClass;
  readonly verb: StatementVerb;
  /** The lowest role that may run it; null where nobody may. */
  readonly role: Role | null;
  /** Why nobody may run it; ends the sentence "… is not available". */
  readonly refusal: string | null;
  readonly target: string | null;
  readonly hasWhere: boolean;
  /** Whether the WHERE is the same for every row. */
  readonly constantWhere?: boolean;
  /**
   * Whether a snapshot comes first: for any DDL, DELETE and UPDATE without a WHERE that tells rows apart, REPLACE, and
   * commands that empty an index.
   */
  readonly destructive: boolean;
  /** Commands, to be read with the values of the call (`withCommands`); null where the statement cannot give any. */
  readonly commands: readonly TableCommands[] | null;
  /** Tables that a command empties. */
  readonly emptied: readonly string[];
  readonly parameterCount: number;
  readonly pragma: PragmaFacts | null;
  readonly rename: Rename | null;
  /** How to count the rows that a change of the schema writes or removes; null where there are none. */
  readonly schemaRows: SchemaRows | null;
  /** Whether it reads a table of the service whose rows may still wait in memory. */
  readonly readsLog: boolean;
}

/** For a statement that the engine does not compile. */
export const noEngineFacts: EngineFacts = {
  tablesRead: [],
  columnsRead: [],
  tablesWritten: [],
  columnsWritten: [],
  actions: [],
  rowTables: [],
  replacedTables: [],
  functions: [],
  shadowTables: [],
  commandTables: [],
  builtIndexes: [],
  triggers: [],
};

/** Joins both. A PRAGMA never reaches the engine: pass `noEngineFacts`. */
export function joinFacts(syntax: Syntax, engine: EngineFacts): StatementFacts {
  const refusal = syntax.refusal ?? disagreement(syntax, engine);
  const statementClass = refusal === null ? syntax.class : "refused";
  return {
    ...engine,
    ...furtherActions(syntax, engine),
    class: statementClass,
    verb: syntax.verb,
    role: statementClass === "refused" ? null : roleOfClass[statementClass],
    refusal,
    target: syntax.target,
    hasWhere: syntax.hasWhere,
    constantWhere: syntax.constantWhere,
    destructive: statementClass !== "refused" && isDestructive(syntax),
    parameterCount: syntax.parameterCount,
    commands: commandsOf(syntax, engine),
    emptied: [],
    pragma: syntax.pragma,
    rename: syntax.rename,
    schemaRows: syntax.schemaRows ?? engineRows(syntax, engine),
    readsLog: engine.tablesRead.some((table) => bufferedServiceTables.has(table.toLowerCase())),
  };
}

/** Whether the engine reports tables that the text does not name. */
function engineRows({ kind, target }: Syntax, { actions, builtIndexes }: EngineFacts): SchemaRows | null {
  if (kind === "ReindexStmt") return builtRows(builtIndexes);
  if (kind !== "DropTableStmt" || target === null) return null;
  const isThere = actions.some((action) => action.toLowerCase() === `delete ${target.toLowerCase()}`);
  return isThere ? removedRows(target) : null;
}

/** An INSERT that cannot be read may give any command. */
function commandsOf(syntax: Syntax, engine: EngineFacts): TableCommands[] | null {
  if (syntax.class !== "write" || engine.commandTables.length === 0) return null;
  const target = syntax.target?.toLowerCase();
  return engine.commandTables.map((table) => {
    const isTarget = syntax.kind === "InsertStmt" && table.toLowerCase() === target;
    const own = isTarget ? syntax.commands ?? [{ is: "row" } as const] : [];
    const triggered = triggeredCommands(table, engine.triggers);
    return { table, own, triggered: own.length + triggered.length > 0 ? triggered : [{ is: "unknown" }] };
  });
}

/**
 * The facts with what the commands do, given the bound values. A trigger that an admin has written requires no higher
 * role from callers who fire it, unless their values choose the command.
 */
export function withCommands(facts: StatementFacts, params: readonly SqlParameter[]): StatementFacts {
  if (facts.commands === null || facts.class !== "write") return facts;
  const actions = new Set(facts.actions);
  const emptied: string[] = [];
  let { verb, hasWhere } = facts;
  let maintains = false;
  for (const { table, own, triggered } of facts.commands) {
    actions.delete(`insert ${table}`);
    const effects = own.map((value) => effectOf(value, params));
    const all = [...effects, ...triggered.map((value) => effectOf(value, params))];
    for (const action of all.flatMap((effect) => effect.actions)) actions.add(`${action} ${table}`);
    if (all.some(({ empties }) => empties)) emptied.push(table);
    maintains ||= effects.some((effect) => effect.actions.includes("schema")) ||
      triggered.some(({ is }) => is === "unknown");
    if (effects.length > 0 && effects.every((effect) => effect.actions.includes("delete"))) {
      verb = "delete";
      hasWhere = effects.every(({ empties }) => !empties);
    }
  }
  const raised = maintains ? { class: "schema", role: roleOfClass.schema } as const : {};
  return {
    ...facts,
    ...raised,
    verb,
    hasWhere,
    emptied,
    actions: [...actions].sort(),
    destructive: facts.destructive || emptied.length > 0,
  };
}

/** A renamed table changes under both names. A conflict that replaces deletes rows without the engine reporting it. */
function furtherActions(
  { replaces, rename }: Syntax,
  { actions, rowTables, replacedTables }: EngineFacts,
): Pick<EngineFacts, "actions" | "replacedTables"> {
  if (rename?.column === null) return { actions: [...actions, `schema ${rename.to}`].sort(), replacedTables };
  if (!replaces) return { actions, replacedTables };
  const written = actions.flatMap((action) => /^(?:insert|update) (.*)$/s.exec(action)?.[1] ?? []);
  const removed = written.map((table) => `delete ${table}`);
  return {
    actions: [...new Set([...actions, ...removed])].sort(),
    replacedTables: rowTables.filter((table) => written.includes(table)),
  };
}

function disagreement(syntax: Syntax, engine: EngineFacts): string | null {
  if (engine.shadowTables.length > 0) return "Writing a table that belongs to a virtual table";
  if (syntax.class === "read" && syntax.verb !== "explain" && engine.tablesWritten.length > 0) {
    return "A statement that reads and writes in a way the service does not know";
  }
  return null;
}

function isDestructive(syntax: Syntax): boolean {
  if (syntax.class === "schema") return syntax.pragma === null;
  const isUnbounded = !syntax.hasWhere || syntax.constantWhere;
  if (syntax.kind === "DeleteStmt") return isUnbounded;
  if (syntax.kind === "UpdateStmt") return isUnbounded || syntax.replaces;
  return syntax.replaces;
}
