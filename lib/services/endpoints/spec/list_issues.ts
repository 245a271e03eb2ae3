// Whether `list` fits its specification: inputs that ask for a page, and columns that the statement answers with.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import type { Issue } from "../../../core/errors.ts";
import { classify } from "../../../query/classify.ts";
import { foldName } from "../../../sql/words/names.ts";
import { unknownValue } from "../../../sql/words/sql_value.ts";
import { boundStatement, type EndpointStatement } from "./bind_inputs.ts";
import { cursorColumns, type ListConfig, listOrder, listStatements } from "./list_statements.ts";
import type { SpecParts } from "./spec_parts.ts";
import { columnsOf, type SpecContext, tenantOf } from "./understand_statements.ts";

/** Rows of a page at most. */
const MAX_ROWS = 1000;
/** Orders of a list at most: each compiles in four forms when it is saved. */
const MAX_SORTS = 200;

/** One issue for each thing that does not fit. `statement`: the owner's, which compiles. Errors: those of the store. */
export async function listIssues(
  ctx: SpecContext,
  { list, input = [] }: SpecParts,
  statement: EndpointStatement,
): Promise<Issue[]> {
  if (list === undefined) return [];
  if (/\?/.test(statement.written) && statement.inputs.length > 0 && statement.sql === statement.written) {
    return [{ path: "sql", message: "Write :name for every input of a list" }];
  }
  const issues = inputIssues(list, input);
  const columns = (await columnsOf(ctx, statement)).map(foldName);
  const sortAt = input.findIndex((field) => field?.name === "sort");
  const sorts = input[sortAt]?.enum ?? [];
  const named = [
    ...list.key.map((column, at) => ({ column, path: `list.key[${at}]` })),
    ...(list.filters ?? []).map(({ column }, at) => ({ column, path: `list.filters[${at}].column` })),
    ...sorts.map((sort) => ({ column: sort.replace(/^-/, ""), path: `input[${sortAt}].enum` })),
  ];
  for (const { column, path } of named) {
    if (columns.filter((one) => one === foldName(column)).length === 1) continue;
    issues.push({
      path,
      message: `Name a column of the answer, which has it once; ${column.slice(0, 64)} is none`,
    });
  }
  return issues.length > 0 ? issues : await textIssues(ctx, { list, sorts }, statement);
}

function inputIssues(list: ListConfig, input: readonly (FieldSpec | null)[]): Issue[] {
  const issues: Issue[] = [];
  const controls: readonly (readonly [name: string, fits: (field: FieldSpec) => boolean, wanted: string])[] =
    [
      [
        "sort",
        ({ type, enum: values }) => type === "text" && values !== undefined && values.length <= MAX_SORTS,
        `a text with an enum of up to ${MAX_SORTS} columns`,
      ],
      [
        "limit",
        ({ type, min = 0, max = Infinity }) => type === "integer" && min >= 1 && max <= MAX_ROWS,
        `an integer with min 1 or more and max ${MAX_ROWS} or less`,
      ],
      ["cursor", ({ type }) => type === "text", "a text"],
      ["total", ({ type }) => type === "boolean", "a boolean"],
    ];
  for (const [name, fits, wanted] of controls) {
    const at = input.findIndex((field) => field?.name === name);
    const field = input[at];
    if (field && !fits(field)) issues.push({ path: `input[${at}]`, message: `Make ${name} ${wanted}` });
  }
  const used = new Set<string>();
  for (const [at, { input: name, is }] of (list.filters ?? []).entries()) {
    const isThere = input.includes(null) || input.some((field) => field?.name === name);
    const isControl = controls.some(([control]) => control === name);
    if (!isThere || isControl || name.startsWith("$") || used.has(name)) {
      issues.push({
        path: `list.filters[${at}].input`,
        message: "Name an input of the caller that no other filter has",
      });
    }
    const type = input.find((field) => field?.name === name)?.type;
    if (is === "null" && type !== undefined && type !== "boolean") {
      issues.push({
        path: `list.filters[${at}].is`,
        message: `Make ${name} a boolean; null asks for yes or no`,
      });
    }
    used.add(name);
  }
  return issues;
}

/**
 * All filters at once, in each order, behind rows with a value and without one: what compiles there compiles with less, and so
 * do the number of rows and the question about rows without a key, which are made of the same parts.
 */
async function textIssues(
  ctx: SpecContext,
  { list, sorts }: { readonly list: ListConfig; readonly sorts: readonly string[] },
  statement: EndpointStatement,
): Promise<Issue[]> {
  const base = boundStatement(statement, []);
  const filters = (list.filters ?? []).map(({ column, is = "=" }) => ({ column, is, value: unknownValue }));
  const statements = [null, ...sorts].flatMap((sort) => {
    const order = listOrder(list, sort);
    return [unknownValue, null].flatMap((first) => {
      const after = [first, ...cursorColumns(order).slice(1).map(() => unknownValue)];
      return listStatements({ base, order, filters, rows: 1, after, total: false }).pages;
    });
  });
  const { query, database } = ctx;
  const { facts, misunderstood } = await classify(query, database.id, tenantOf(ctx), statements);
  if (misunderstood === null && facts.every((one) => one.class === "read")) return [];
  return [{ path: "sql", message: "Write a SELECT that can stand in FROM (…); a list is made around it" }];
}
