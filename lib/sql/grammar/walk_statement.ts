// What is inside a parsed statement at any depth: in sub-selects, CTEs, and the bodies of views and triggers.
import { type Stmt, traverse } from "sqlite3-parser";
import { type PlannedWidths, WidthCounter } from "./planned_widths.ts";

/** All that one walk finds. */
export interface Walk {
  /** Lower case. */
  readonly functions: ReadonlySet<string>;
  /** Lower case. */
  readonly tableFunctions: ReadonlySet<string>;
  /** Names that a part of the statement creates, writes or refers to, also inside trigger bodies. */
  readonly writes: ReadonlySet<string>;
  /** Names used as those of a table, view, index or trigger. */
  readonly objects: ReadonlySet<string>;
  readonly parameterCount: number;
  readonly namedParameter: boolean;
  /** `?N` */
  readonly numberedParameter: boolean;
  /** Whether a part of it reads rows: of a table, a table-valued function or a CTE. */
  readonly readsRows: boolean;
  /** How often one names a table, a view, a CTE or a table-valued function in FROM. */
  readonly tableUses: number;
  readonly widths: PlannedWidths;
  /** A schema other than `main` with which a name is qualified. */
  readonly foreignSchema: string | null;
}

/** Walks the whole tree once. */
export function walkStatement(root: Stmt): Walk {
  const functions = new Set<string>();
  const tableFunctions = new Set<string>();
  const writes = new Set<string>();
  const objects = new Set<string>();
  let parameterCount = 0;
  let namedParameter = false;
  let numberedParameter = false;
  let readsRows = false;
  let tableUses = 0;
  const counter = new WidthCounter();
  let foreignSchema: string | null = null;
  traverse(root, {
    leave: (node) => counter.leave(node),
    enter(node) {
      counter.enter(node);
      switch (node.type) {
        case "FunctionCallExpr":
        case "FunctionCallStarExpr":
          functions.add(node.name.name.toLowerCase());
          break;
        case "LikeExpr":
          functions.add(node.op.toLowerCase());
          break;
        case "TableSelectTable":
          tableUses++;
          break;
        case "TableCallSelectTable":
          tableUses++;
          tableFunctions.add(node.tblName.objName.text.toLowerCase());
          break;
        case "FromClause":
        case "With":
          readsRows = true;
          break;
        case "InTableExpr":
          readsRows = true;
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
          // Renaming a virtual table also renames its tables `<name>_…`.
          writes.add(node.name.text).add(`${node.name.text}_`);
          break;
        case "QualifiedName": {
          objects.add(node.objName.text);
          const schema = node.dbName?.text;
          if (schema !== undefined && schema.toLowerCase() !== "main") foreignSchema = schema;
          break;
        }
        case "VariableExpr": {
          const digits = /^\?(0*[1-9]\d*)?$/.exec(node.name);
          if (!digits) namedParameter = true;
          else if (digits[1]) numberedParameter = true;
          if (digits) {
            parameterCount = digits[1] ? Math.max(parameterCount, Number(digits[1])) : parameterCount + 1;
          }
          break;
        }
      }
    },
  });
  return {
    functions,
    tableFunctions,
    writes,
    objects,
    parameterCount,
    namedParameter,
    numberedParameter,
    readsRows,
    tableUses,
    widths: counter.widths,
    foreignSchema,
  };
}
