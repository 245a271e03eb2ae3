// Commands of virtual tables: an INSERT that fills the column named as its table stores no row, but tells the table's
// module what to do (fts5). Here it is told what such a command does; what the text does not say is taken for the worst.
import { type AstNode, type Expr, parseStmt, type Select, traverse } from "sqlite3-parser";
import type { SqlParameter } from "./sql_value.ts";

/** What stands in that column. */
export type CommandValue =
  | { readonly is: "text"; readonly text: string }
  /** NULL, or the column is left out: the INSERT is one. */
  | { readonly is: "row" }
  /** `at`: place of the parameter, from 0. */
  | { readonly is: "parameter"; readonly at: number }
  /** Only the engine can tell. */
  | { readonly is: "unknown" };

/** What is inserted into one table that takes commands. */
export interface TableCommands {
  /** As the schema spells it. */
  readonly table: string;
  /** By the statement itself. */
  readonly own: readonly CommandValue[];
  /** By the triggers that it sets off. */
  readonly triggered: readonly CommandValue[];
}

/** What a command does: the words that rules have for it. */
export interface CommandEffect {
  readonly actions: readonly ("insert" | "delete" | "schema")[];
  /** Nothing is left in the table. */
  readonly empties: boolean;
}

const ROW: CommandEffect = { actions: ["insert"], empties: false };
const MAINTAINS: CommandEffect = { actions: ["schema"], empties: false };
const WORST: CommandEffect = { actions: ["delete", "schema"], empties: true };

/** The engine compares these words without regard to case. Every other one maintains the table or sets how it works. */
const EFFECTS: ReadonlyMap<string, CommandEffect> = new Map([
  ["delete", { actions: ["delete"], empties: false }],
  ["delete-all", { actions: ["delete"], empties: true }],
]);

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

/** Of a text that is one INSERT, what it puts into the column named as its table; null where it does not name that. */
export function ownCommands(root: AstNode): readonly CommandValue[] | null {
  if (root.type !== "InsertStmt" || root.body.type === "DefaultValuesInsertBody") return null;
  const at = commandColumn(root.tblName.objName.text, root.columns);
  return at === null ? null : valuesAt(root.body.select, at, parameterPlaces(root));
}

/** What triggers insert into a table that takes commands; one that cannot be read inserts anything. */
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

/** Its place; -1, where no value is, where two may be meant: which of them takes commands is the engine's to say. */
function commandColumn(
  table: string,
  columns: readonly { readonly text: string }[] | undefined,
): number | null {
  const places = (columns ?? []).flatMap(({ text }, at) => isSame(text, table) ? [at] : []);
  return places.length > 1 ? -1 : places[0] ?? null;
}

function valuesAt(
  { select, compounds }: Select,
  at: number,
  places: ReadonlyMap<number, number>,
): CommandValue[] {
  return [select, ...(compounds ?? []).map((one) => one.select)].flatMap((arm): CommandValue[] => {
    if (arm.type === "SelectValues") return arm.values.map(({ values }) => valueOf(values[at], places));
    const plain = arm.columns.every((column) => column.type === "ExprResultColumn");
    const column = plain ? arm.columns[at] : undefined;
    return [valueOf(column?.type === "ExprResultColumn" ? column.expr : undefined, places)];
  });
}

function valueOf(expr: Expr | undefined, places: ReadonlyMap<number, number>): CommandValue {
  switch (expr?.type) {
    case "StringLiteral":
      return { is: "text", text: expr.value };
    case "NullLiteral":
      return { is: "row" };
    case "ParenthesizedExpr":
      return expr.exprs.length === 1 ? valueOf(expr.exprs[0], places) : { is: "unknown" };
    case "VariableExpr": {
      const at = places.get(expr.span.offset);
      return at === undefined ? { is: "unknown" } : { is: "parameter", at };
    }
    default:
      return { is: "unknown" };
  }
}

/** Places of parameters, from 0, by where they stand in the text. */
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

/** The engine compares names without regard to the case of A to Z; a letter more here only makes it stricter. */
function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
