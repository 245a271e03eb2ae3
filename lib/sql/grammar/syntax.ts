// What the text of one statement says before any engine has seen it: the first of three layers. The engine's facts are
// the second, and a connection that cannot do more is the third. Pure; the grammar is SQLite's own.
import type { Stmt } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import { isPlainText } from "../../core/plain_text.ts";
import { type Rename, renameOf } from "./description_renames.ts";
import { allowedFunctions, allowedModules, closedFunctions } from "../words/functions.ts";
import { hasLongList, MAX_LIST } from "./has_long_list.ts";
import { type CommandValue, ownCommands } from "./module_commands.ts";
import { asksForTemporary, type PragmaFacts, pragmaFacts, pragmaTable, pragmaUse } from "./pragmas.ts";
import { madeTable, namesOf, targetOf } from "./named_objects.ts";
import { writtenRows } from "./schema_row_texts.ts";
import type { SchemaRows } from "./uncounted_rows.ts";
import type { PlannedWidths } from "./planned_widths.ts";
import { printable, withoutLiterals } from "../words/printable.ts";
import {
  isEngineTable,
  isReservedName,
  isServiceTable,
  readableServiceTables,
} from "../words/service_tables.ts";
import { type StatementClass, statementKinds, type StatementVerb } from "../words/statement_kinds.ts";
import { type TableAs, tableAs } from "./table_text.ts";
import { tellsRowsApart } from "./tells_rows_apart.ts";
import { type Walk, walkStatement } from "./walk_statement.ts";

/** What the text alone says. */
export interface Syntax {
  readonly kind: Stmt["type"];
  readonly class: StatementClass;
  readonly verb: StatementVerb;
  /** Why `class` is `refused`; ends the sentence "… is not available". */
  readonly refusal: string | null;
  /** Whether the UPDATE or DELETE itself has a WHERE. */
  readonly hasWhere: boolean;
  /** Whether that WHERE tells no rows apart, as `WHERE 1` and `WHERE id = id`. */
  readonly constantWhere: boolean;
  /** Whether it is a REPLACE, INSERT OR REPLACE or UPDATE OR REPLACE. */
  readonly replaces: boolean;
  /** The object that the statement names as its target, without quotes. */
  readonly target: string | null;
  readonly parameterCount: number;
  /** Whether one of them is `?N`. */
  readonly numberedParameter: boolean;
  /** Whether a part of it reads rows. */
  readonly readsRows: boolean;
  /** How often its parts name something in FROM. */
  readonly tableUses: number;
  readonly widths: PlannedWidths;
  readonly pragma: PragmaFacts | null;
  readonly rename: Rename | null;
  /** Whether it is a SELECT with a LIMIT of its own. */
  readonly limited: boolean;
  /** The parts of a CREATE TABLE AS. */
  readonly tableAs: TableAs | null;
  /** For a change of the schema: how to count the rows that it writes, where the text tells. */
  readonly schemaRows: SchemaRows | null;
  /** The value that it puts into a column named as its table: a command, where the table's module takes commands. */
  readonly commands: readonly CommandValue[] | null;
}

/** What the text says, or why it cannot be read. */
export type SyntaxResult = { readonly ok: true; readonly syntax: Syntax } | Unread;

/** Statements of one trigger: the time that the engine takes to make one grows with their square. */
const MAX_TRIGGER_STATEMENTS = 2_000;

/** Why a text cannot be read. */
export interface Unread {
  readonly ok: false;
  readonly reason:
    | "syntax_error"
    | "multiple_statements"
    | "no_statement"
    | "named_parameter"
    | "unknown_function"
    | "nul"
    | "too_big";
  /** Contains no part of the text except the offending token. */
  readonly message: string;
}

/** Parses one statement. Never throws for any text. */
export function readSyntax(sql: string): SyntaxResult {
  if (!isPlainText(sql)) return unread("nul", "Remove U+0000 and lone surrogates from the statement");
  if (hasLongList(sql)) return unread("too_big", `Use at most ${MAX_LIST} names in one list`);
  try {
    const parsed = parseStmt(sql);
    if (parsed.status === "error") return notOne(parsed.errors[0]?.message ?? "syntax error");
    const { root } = parsed;
    if (root.type === "CreateTriggerStmt" && root.commands.length > MAX_TRIGGER_STATEMENTS) {
      return unread("too_big", `Use at most ${MAX_TRIGGER_STATEMENTS} statements in one trigger`);
    }
    return describe(root, sql);
  } catch (error) {
    // The tree is walked by recursion; the engine's own limit on depth is far lower.
    if (!(error instanceof RangeError)) throw error;
    return unread("syntax_error", "Nest the statement less deeply");
  }
}

function unread(reason: Unread["reason"], message: string): Unread {
  return { ok: false, reason, message };
}

function notOne(message: string): SyntaxResult {
  if (message.startsWith("no SQL statement")) return unread("no_statement", message);
  if (message.startsWith("expected end of input")) return unread("multiple_statements", message);
  return unread("syntax_error", withoutLiterals(message));
}

function describe(root: Stmt, sql: string): SyntaxResult {
  const explained = root.type === "ExplainStmt" ? root.stmt : null;
  const inner = explained ?? root;
  const walk = walkStatement(root);
  if (walk.namedParameter) {
    return unread("named_parameter", "Use ? or ?N for parameters; named ones are not available");
  }
  const row = statementKinds[root.type];
  const pragma = inner.type === "PragmaStmt" ? pragmaFacts(inner) : null;
  const refusal = refusalOf(root, inner, walk);
  // The engine would not check the body of a view or a trigger before it is used.
  const unknown = [...walk.functions].find((name) => !allowedFunctions.has(name));
  if (refusal === null && unknown !== undefined) {
    return unread("unknown_function", `no such function: ${printable(unknown)}`);
  }
  return {
    ok: true,
    syntax: {
      kind: root.type,
      class: refusal ? "refused" : pragma?.sets ? "schema" : row.class,
      verb: inner.type === "InsertStmt" && inner.orConflict === "Replace" && root === inner
        ? "replace"
        : row.verb,
      refusal,
      hasWhere: (inner.type === "UpdateStmt" || inner.type === "DeleteStmt") &&
        inner.whereClause !== undefined,
      constantWhere: (inner.type === "UpdateStmt" || inner.type === "DeleteStmt") &&
        inner.whereClause !== undefined && !tellsRowsApart(inner.whereClause),
      replaces: (root.type === "InsertStmt" || root.type === "UpdateStmt") && root.orConflict === "Replace",
      target: targetOf(inner),
      parameterCount: walk.parameterCount,
      numberedParameter: walk.numberedParameter,
      readsRows: walk.readsRows,
      tableUses: walk.tableUses,
      widths: walk.widths,
      pragma,
      rename: renameOf(root),
      limited: root.type === "SelectStmt" && root.body.limit !== undefined,
      tableAs: tableAs(root, sql),
      schemaRows: writtenRows(root, sql),
      commands: ownCommands(root),
    },
  };
}

function refusalOf(root: Stmt, inner: Stmt, walk: Walk): string | null {
  if (statementKinds[inner.type].class === "refused") return kindName(inner);
  if (inner.type === "PragmaStmt") {
    const name = inner.name.objName.text.toLowerCase();
    if (root !== inner) return "EXPLAIN of a PRAGMA";
    if (pragmaUse(name, inner.body !== undefined) === "refused") {
      return pragmaTable.has(name) ? `Setting PRAGMA ${name}` : `PRAGMA ${printable(name)}`;
    }
  }
  if (inner.type === "AnalyzeStmt" && /^temp$/i.test(inner.objName?.objName.text ?? "")) {
    return "The schema temp";
  }
  if (walk.foreignSchema !== null && !(inner.type === "PragmaStmt" && asksForTemporary(inner))) {
    return `The schema ${printable(walk.foreignSchema)}`;
  }
  if ("temporary" in inner && inner.temporary) return "A temporary object (it would not outlive the call)";
  if (inner.type === "CreateVirtualTableStmt" && !allowedModules.has(inner.moduleName.text.toLowerCase())) {
    return `The virtual-table module ${printable(inner.moduleName.text)}`;
  }
  return reservedTarget(inner) ?? reserved(walk.writes) ?? closedTable(inner, walk) ?? badFunction(walk);
}

/** Service tables that nobody may read. The engine would not check the body of a view before it is used. */
function closedTable(inner: Stmt, walk: Walk): string | null {
  for (const name of walk.objects) {
    if (isServiceTable(name) && !readableServiceTables.has(name.toLowerCase())) {
      return `Reading ${printable(name)}`;
    }
  }
  const named = inner.type === "CreateVirtualTableStmt" &&
    inner.args?.some((argument) => argument.toLowerCase().includes("_service_meta_"));
  return named ? "A virtual table over the service's own tables" : null;
}

function reservedTarget(statement: Stmt): string | null {
  for (const name of namesOf(statement)) if (isReservedName(name)) return `Writing ${printable(name)}`;
  const made = madeTable(statement);
  return made !== null && isEngineTable(made) ? `A table or view with the name ${printable(made)}` : null;
}

function reserved(names: ReadonlySet<string>): string | null {
  for (const name of names) if (isReservedName(name)) return `Writing or referring to ${printable(name)}`;
  return null;
}

function badFunction(walk: Walk): string | null {
  for (const name of walk.functions) if (closedFunctions.has(name)) return `The function ${printable(name)}`;
  // The engine decides about others: a full-text table can be called like a function too.
  for (const name of walk.tableFunctions) {
    if (name.startsWith("pragma_") && !pragmaTable.has(name.slice(7))) {
      return `The table-valued function ${printable(name)}`;
    }
  }
  return null;
}

function kindName(statement: Stmt): string {
  return statement.type.replace(/Stmt$/, "").toUpperCase();
}
