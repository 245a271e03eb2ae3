// What the text of one statement says before any engine has seen it: the first of three layers (engine facts come
// second, a connection that cannot do more third). Pure; the grammar is SQLite's own.
import { type Expr, parseStmt, type PragmaStmt, type Stmt, traverse } from "sqlite3-parser";
import { isReservedName } from "./service_tables.ts";
import { allowedFunctions, allowedModules, allowedTableFunctions } from "./functions.ts";
import { pragmaTable, pragmaUse } from "./pragmas.ts";
import { type StatementClass, statementKinds, type StatementVerb } from "./statement_kinds.ts";

/** What is known from the text alone. */
export interface Syntax {
  readonly kind: Stmt["type"];
  readonly class: StatementClass;
  readonly verb: StatementVerb;
  /** Why `class` is `refused`: ends the sentence "… is not available". */
  readonly refusal: string | null;
  /** A WHERE of the UPDATE or DELETE itself. */
  readonly hasWhere: boolean;
  /** REPLACE or INSERT OR REPLACE. */
  readonly replaces: boolean;
  /** The object that the statement names as its target, unquoted. */
  readonly target: string | null;
  readonly functions: readonly string[];
  readonly parameterCount: number;
  readonly pragma: PragmaFacts | null;
  /** A SELECT with a LIMIT of its own. */
  readonly limited: boolean;
}

export interface PragmaFacts {
  readonly name: string;
  readonly sets: boolean;
  /** It sets `foreign_keys` off, which has to happen outside of a transaction. */
  readonly foreignKeysOff: boolean;
}

export type SyntaxResult =
  | { readonly ok: true; readonly syntax: Syntax }
  | {
    readonly ok: false;
    readonly reason: "syntax_error" | "multiple_statements" | "no_statement" | "named_parameter" | "nul";
    /** Without any part of the text beyond the offending token. */
    readonly message: string;
  };

/** Parses one statement. Never throws for any text. */
export function readSyntax(sql: string): SyntaxResult {
  if (sql.includes("\u0000") || !sql.isWellFormed()) {
    return { ok: false, reason: "nul", message: "Remove U+0000 and lone surrogates from the statement" };
  }
  const parsed = parseStmt(sql);
  if (parsed.status === "error") {
    const message = parsed.errors[0]?.message ?? "syntax error";
    if (message.startsWith("no SQL statement")) return { ok: false, reason: "no_statement", message };
    if (message.startsWith("expected end of input")) {
      return { ok: false, reason: "multiple_statements", message };
    }
    return { ok: false, reason: "syntax_error", message: withoutLiterals(message) };
  }
  return describe(parsed.root);
}

function describe(root: Stmt): SyntaxResult {
  const explained = root.type === "ExplainStmt" ? root.stmt : null;
  const inner = explained ?? root;
  const walk = walkStatement(root);
  if (walk.namedParameter) {
    return {
      ok: false,
      reason: "named_parameter",
      message: "Use ? or ?N for parameters; named ones are not available",
    };
  }
  const row = statementKinds[root.type];
  const pragma = inner.type === "PragmaStmt" ? pragmaFacts(inner) : null;
  const refusal = refusalOf(root, inner, walk);
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
      replaces: root.type === "InsertStmt" && root.orConflict === "Replace",
      target: targetOf(inner),
      functions: [...walk.functions].sort(),
      parameterCount: walk.parameterCount,
      pragma,
      limited: root.type === "SelectStmt" && root.body.limit !== undefined,
    },
  };
}

function pragmaFacts(statement: PragmaStmt): PragmaFacts {
  const name = statement.name.objName.text.toLowerCase();
  const sets = pragmaUse(name, statement.body !== undefined) === "set";
  return { name, sets, foreignKeysOff: sets && name === "foreign_keys" && !isOn(statement.body?.value) };
}

/** The words that SQLite takes for true; everything else turns a setting off. */
function isOn(value: Expr | undefined): boolean {
  if (value === undefined) return false;
  if (value.type === "NumericLiteral") return Number(value.value) !== 0;
  const word = value.type === "NameExpr"
    ? value.name.text
    : value.type === "StringLiteral" || value.type === "KeywordLiteral"
    ? value.value
    : value.type === "Id"
    ? value.name
    : "";
  return /^(on|yes|true)$/i.test(word);
}

interface Walk {
  readonly functions: ReadonlySet<string>;
  readonly tableFunctions: ReadonlySet<string>;
  /** Names that some part of the statement creates or writes, trigger bodies included. */
  readonly writes: ReadonlySet<string>;
  readonly parameterCount: number;
  readonly namedParameter: boolean;
  readonly foreignSchema: string | null;
}

function walkStatement(root: Stmt): Walk {
  const functions = new Set<string>();
  const tableFunctions = new Set<string>();
  const writes = new Set<string>();
  let parameterCount = 0;
  let namedParameter = false;
  let foreignSchema: string | null = null;
  traverse(root, {
    enter(node) {
      switch (node.type) {
        case "FunctionCallExpr":
        case "FunctionCallStarExpr":
          functions.add(node.name.name.toLowerCase());
          break;
        case "LikeExpr":
          functions.add(node.op.toLowerCase());
          break;
        case "TableCallSelectTable":
          tableFunctions.add(node.tblName.objName.text.toLowerCase());
          break;
        case "InTableExpr":
          if (node.args) tableFunctions.add(node.rhs.objName.text.toLowerCase());
          break;
        case "InsertTriggerCmd":
        case "UpdateTriggerCmd":
        case "DeleteTriggerCmd":
          writes.add(node.tblName.objName.text);
          break;
        case "ForeignKeyClause":
          writes.add(node.tblName.text);
          break;
        case "RenameToAlterTableBody":
          writes.add(node.name.text);
          break;
        case "QualifiedName": {
          const schema = node.dbName?.text;
          if (schema !== undefined && schema.toLowerCase() !== "main") foreignSchema = schema;
          break;
        }
        case "VariableExpr": {
          const digits = /^\?(\d*)$/.exec(node.name);
          if (!digits) namedParameter = true;
          else parameterCount = digits[1] ? Math.max(parameterCount, Number(digits[1])) : parameterCount + 1;
          break;
        }
      }
    },
  });
  return { functions, tableFunctions, writes, parameterCount, namedParameter, foreignSchema };
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
  if (walk.foreignSchema !== null) return `The schema ${printable(walk.foreignSchema)}`;
  if ("temporary" in inner && inner.temporary) return "A temporary object (it would not outlive the call)";
  if (inner.type === "CreateVirtualTableStmt" && !allowedModules.has(inner.moduleName.text.toLowerCase())) {
    return `The virtual-table module ${printable(inner.moduleName.text)}`;
  }
  return reservedTarget(inner) ?? reserved(walk.writes) ?? badFunction(walk);
}

function reservedTarget(statement: Stmt): string | null {
  for (const name of namesOf(statement)) if (isReservedName(name)) return `Writing ${printable(name)}`;
  return null;
}

function reserved(names: ReadonlySet<string>): string | null {
  for (const name of names) if (isReservedName(name)) return `Writing or referring to ${printable(name)}`;
  return null;
}

function badFunction(walk: Walk): string | null {
  for (const name of walk.functions) {
    if (!allowedFunctions.has(name)) return `The function ${printable(name)}`;
  }
  for (const name of walk.tableFunctions) {
    const pragma = name.startsWith("pragma_") ? pragmaTable.get(name.slice(7)) : undefined;
    if (!pragma && !allowedTableFunctions.has(name)) return `The table-valued function ${printable(name)}`;
  }
  return null;
}

/** Names that a statement itself creates, changes or drops. */
function namesOf(statement: Stmt): string[] {
  switch (statement.type) {
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
    case "CreateTableStmt":
    case "CreateVirtualTableStmt":
    case "AlterTableStmt":
    case "DropTableStmt":
      return [statement.tblName.objName.text];
    case "CreateIndexStmt":
      return [statement.idxName.objName.text, statement.tblName.text];
    case "CreateViewStmt":
    case "DropViewStmt":
      return [statement.viewName.objName.text];
    case "CreateTriggerStmt":
      return [statement.triggerName.objName.text, statement.tblName.objName.text];
    case "DropIndexStmt":
      return [statement.idxName.objName.text];
    case "DropTriggerStmt":
      return [statement.triggerName.objName.text];
    default:
      return [];
  }
}

function targetOf(statement: Stmt): string | null {
  const names = namesOf(statement);
  return (statement.type === "CreateIndexStmt" || statement.type === "CreateTriggerStmt"
    ? names[1]
    : names[0]) ?? null;
}

function kindName(statement: Stmt): string {
  return statement.type.replace(/Stmt$/, "").toUpperCase();
}

/** The parser quotes the token it stopped at; a literal there is a value of somebody's. */
function withoutLiterals(message: string): string {
  return message.replace(/"(?:[xX]?'[^]*|[0-9.][^"]*)"?/, "a literal").slice(0, 200);
}

/** A name as a message may show it: letters, digits and underscores of a bounded length. */
function printable(name: string): string {
  return name.replace(/[^\p{L}\p{N}_]/gu, "?").slice(0, 64);
}
