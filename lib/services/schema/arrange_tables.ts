// Where the tables of a schema stand in a picture of them, and how the lines between them run. Kept by schema version: a
// large schema takes a tenth of a second.
import type { StatementsContext } from "../query/run_statements.ts";
import type { SchemaFacts, TableFacts } from "./schema_facts.ts";
import { putNewest } from "../../core/put_newest.ts";

/** A table in the picture: its place, and the columns that are listed. */
export interface PlacedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly pk: boolean; readonly refers: boolean }[];
  /** Columns that are not listed. */
  readonly further: number;
  /** Of the left upper corner. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A line from a table to the one that it refers to, by however many keys. */
export interface PlacedReference {
  readonly from: string;
  readonly to: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** The picture. */
export interface Arrangement {
  readonly width: number;
  readonly height: number;
  readonly tables: readonly PlacedTable[];
  readonly references: readonly PlacedReference[];
  /** The table whose neighbours are shown, because all of them would be too many; null where all are shown. */
  readonly around: string | null;
}

/** More than these are no picture any more, and would keep the service from other work while it is arranged. */
const MOST_TABLES = 60;
const MOST_LINES = 80;
const MOST_COLUMNS = 8;
/** Sizes in pixels of text at 12 pixels. */
const sizes = { letter: 7.6, line: 18, head: 26, padding: 12, least: 96, most: 260 } as const;

/** Pictures that are kept: a few kilobytes each. */
const MOST_KEPT = 50;
const kept = new Map<string, Arrangement>();

/**
 * Arranges the tables, or where there are too many the one called `around` (the first with references, unless given)
 * with its neighbours. Errors: those of the store.
 */
export async function arrangeTables(
  ctx: StatementsContext,
  schema: SchemaFacts,
  around: string | null,
): Promise<Arrangement> {
  const { schemaVersion } = await ctx.tenants.open(ctx.target).schema();
  const all = schema.tables.length <= MOST_TABLES && linesOf(schema.tables).length <= MOST_LINES;
  const centre = all ? null : around ?? centreOf(schema);
  const key = JSON.stringify([ctx.target.databaseId, schemaVersion, centre]);
  const found = kept.get(key);
  if (found) return found;
  const made = await arrange(centre === null ? schema.tables : neighbours(schema, centre), centre);
  putNewest(kept, key, made, MOST_KEPT);
  return made;
}

function centreOf({ tables }: SchemaFacts): string {
  const [most] = tables.toSorted((a, b) => b.foreignKeys.length - a.foreignKeys.length);
  return most?.name ?? "";
}

function neighbours({ tables }: SchemaFacts, centre: string): TableFacts[] {
  const refersTo = (table: TableFacts, name: string) =>
    table.foreignKeys.some(({ toTable }) => toTable === name);
  const own = tables.find(({ name }) => name === centre);
  return tables.filter((one) =>
    one === own || refersTo(one, centre) || (own !== undefined && refersTo(own, one.name))
  ).slice(0, MOST_TABLES);
}

/** The tables at the ends of a line, by their places in the list. */
interface Line {
  readonly from: number;
  readonly to: number;
}

/** One for each pair of tables in which the first refers to the second. */
function linesOf(tables: readonly TableFacts[]): Line[] {
  const places = new Map(tables.map(({ name }, at) => [name, at]));
  return tables.flatMap(({ foreignKeys }, from) =>
    [...new Set(foreignKeys.map(({ toTable }) => places.get(toTable)))]
      .flatMap((to) => to === undefined ? [] : [{ from, to }])
  );
}

/** Where there are too many, only those of the table in the middle. */
function drawnLines(tables: readonly TableFacts[], around: string | null): Line[] {
  const lines = linesOf(tables);
  if (lines.length <= MOST_LINES) return lines;
  const centre = tables.findIndex(({ name }) => name === around);
  return lines.filter(({ from, to }) => from === centre || to === centre);
}

/** The library is loaded for the first picture: an idle service does without. */
async function arrange(tables: readonly TableFacts[], around: string | null): Promise<Arrangement> {
  const { Graph, layout } = await import("@dagrejs/dagre");
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 24, ranksep: 64, marginx: 8, marginy: 8 });
  // Any text may be the name of a table, so the graph knows them by number.
  const boxes = tables.map(boxOf);
  for (const [at, { width, height }] of boxes.entries()) graph.setNode(String(at), { width, height });
  const lines = drawnLines(tables, around);
  for (const { from, to } of lines) graph.setEdge(String(from), String(to), {});
  layout(graph);
  const placed = boxes.map((box, at): PlacedTable => {
    const { x = 0, y = 0 } = graph.node(String(at));
    return { ...box, x: x - box.width / 2, y: y - box.height / 2 };
  });
  const whole = graph.graph();
  return {
    width: Math.ceil(whole.width ?? 0),
    height: Math.ceil(whole.height ?? 0),
    tables: placed,
    references: lines.map(({ from, to }) => ({
      from: boxes[from]?.name ?? "",
      to: boxes[to]?.name ?? "",
      points: graph.edge(String(from), String(to))?.points ?? [],
    })),
    around,
  };
}

function boxOf(table: TableFacts): Omit<PlacedTable, "x" | "y"> {
  const refers = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
  const weight = ({ pk, name }: TableFacts["columns"][number]) => pk > 0 ? 0 : refers.has(name) ? 1 : 2;
  const listed = table.columns.toSorted((a, b) => weight(a) - weight(b)).slice(0, MOST_COLUMNS);
  const further = table.columns.length - listed.length;
  const letters = Math.max(table.name.length, ...listed.map(({ name }) => name.length + 3));
  const lines = listed.length + (further > 0 ? 1 : 0);
  return {
    name: table.name,
    columns: listed.map(({ name, pk }) => ({ name, pk: pk > 0, refers: refers.has(name) })),
    further,
    width: Math.min(sizes.most, Math.max(sizes.least, letters * sizes.letter + 2 * sizes.padding)),
    height: sizes.head + lines * sizes.line + sizes.padding / 2,
  };
}
