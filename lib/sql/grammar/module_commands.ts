// Commands of virtual tables: an INSERT into the column that has the table's own name stores no row, but tells the
// table's module what to do (fts5). This file decides what such a command does; what the text does not say counts as
// the worst.
import { type AstNode, type Expr, type Select, traverse } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import type { SqlParameter } from "../words/sql_value.ts";

/** The value in that column. */
export type CommandValue =
  | { readonly is: "text"; readonly text: string }
  /** NULL, or the column is absent: then the INSERT is an ordinary one. */
  | { readonly is: "row" }
  /** `at` is the index of the parameter. */
  | { readonly is: "parameter"; readonly at: number }
  /** Only the engine knows. */
  | { readonly is: "unknown" };

/** What is inserted into a table that takes commands. */
export interface TableCommands {
  /** Spelled as in the schema. */
  readonly table: string;
  /** By the statement itself. */
  readonly own: readonly CommandValue[];
  /** By the triggers that it fires. */
  readonly triggered: readonly CommandValue[];
}

/** What a command does, in the words of rules. */
export interface CommandEffect {
  readonly actions: readonly ("insert" | "delete" | "schema")[];
  /** Whether it empties the table. */
  readonly empties: boolean;
}

const ROW: CommandEffect = { actions: ["insert"], empties: false };
const MAINTAINS: CommandEffect = { actions: ["schema"], empties: false };
const WORST: CommandEffect = { actions: ["delete", "schema"], empties: true };

/** Commands that remove rows, in any case. Every other command maintains the table or sets how it works. */
const EFFECTS: ReadonlyMap<string, CommandEffect> = new Map([
  ["delete", { actions: ["delete"], empties: false }],
  ["delete-all", { actions: ["delete"], empties: true }],
]);

/** What one command does. */
export function effectOf(value: CommandValue, params: readonly SqlParameter[]): CommandEffect {
  switch (value.is) {
    case "row":
      return ROW;
    case "unknown":
      return WORST;
    case "text":
      return EFFECTS.get(value.text.toLowerCase()) ?? MAINTAINS;
    case "parameter": {
      const bound = params[value.at];
      if (bound === null) return ROW;
      // The engine reads the bytes of a blob as text.
      return typeof bound === "string" ? effectOf({ is: "text", text: bound }, params) : WORST;
    }
  }
}

/** The value that an INSERT puts into the column named as its table; null where it does not name that column. */
export function ownCommands(root: AstNode): readonly CommandValue[] | null {
  if (root.type !== "InsertStmt" || root.body.type === "DefaultValuesInsertBody") return null;
  const at = commandColumn(root.tblName.objName.text, root.columns);
  return at === null ? null : valuesAt(root.body.select, at, parameterPlaces(root));
}

/** What triggers insert into a table that takes commands. A trigger that cannot be read inserts anything. */
export function triggeredCommands(table: string, triggers: readonly string[]): CommandValue[] {
  return triggers.flatMap((sql): CommandValue[] => {
    const parsed = parseStmt(sql);
    if (parsed.status === "error" || parsed.root.type !== "CreateTriggerStmt") return [{ is: "unknown" }];
    return parsed.root.commands.flatMap((command): readonly CommandValue[] => {
      if (command.type !== "InsertTriggerCmd" || !isSame(command.tblName.objName.text, table)) return [];
      const at = commandColumn(table, command.colNames);
      return at === null ? [{ is: "row" }] : valuesAt(command.select, at, new Map());
    });
  });
}

/**
 * The index of that column; -1, which no value has, where two columns match: only the engine knows which takes
 * commands.
 */
function commandColumn(
  table: string,
  columns: readonly { readonly text: string }[] | undefined,
): number | null {
  const indexes = (columns ?? []).flatMap(({ text }, at) => isSame(text, table) ? [at] : []);
  return indexes.length > 1 ? -1 : indexes[0] ?? null;
}

function valuesAt(
  { select, compounds }: Select,
  at: number,
  indexes: ReadonlyMap<number, number>,
): CommandValue[] {
  return [select, ...(compounds ?? []).map((one) => one.select)].flatMap((arm): CommandValue[] => {
    if (arm.type === "SelectValues") return arm.values.map(({ values }) => valueOf(values[at], indexes));
    const plain = arm.columns.every((column) => column.type === "ExprResultColumn");
    const column = plain ? arm.columns[at] : undefined;
    return [valueOf(column?.type === "ExprResultColumn" ? column.expr : undefined, indexes)];
  });
}

function valueOf(expr: Expr | undefined, indexes: ReadonlyMap<number, number>): CommandValue {
  switch (expr?.type) {
    case "StringLiteral":
      return { is: "text", text: expr.value };
    case "NullLiteral":
      return { is: "row" };
    case "ParenthesizedExpr":
      return expr.exprs.length === 1 ? valueOf(expr.exprs[0], indexes) : { is: "unknown" };
    case "VariableExpr": {
      const at = indexes.get(expr.span.offset);
      return at === undefined ? { is: "unknown" } : { is: "parameter", at };
    }
    default:
      return { is: "unknown" };
  }
}

/** The indexes of parameters, by their offset in the text. */
function parameterPlaces(root: AstNode): Map<number, number> {
  const found: { readonly offset: number; readonly name: string }[] = [];
  traverse(root, {
    enter(node) {
      if (node.type === "VariableExpr") found.push({ offset: node.span.offset, name: node.name });
    },
  });
  let highest = 0;
  return new Map(
    found.sort((a, b) => a.offset - b.offset).map(({ offset, name }) => {
      const number = name === "?" ? highest + 1 : Number(name.slice(1));
      highest = Math.max(highest, number);
      return [offset, number - 1];
    }),
  );
}

/** The engine ignores the case of A to Z only; ignoring more letters here is only stricter. */
function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
