// Rows before and after a change, the key first; on a small screen each row is a card.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import type { Html } from "./html.ts";
import { inTurns } from "./in_turns.ts";
import { PageRoom } from "./page_room.tsx";
import { isNumeric } from "./value.tsx";
import { ChangedValue } from "./changed_value.tsx";
import { visibleText } from "./visible_text.ts";

/** One row; null where it was not there before, or is not there afterwards. */
export interface DiffRow {
  readonly before: readonly JsonValue[] | null;
  readonly after: readonly JsonValue[] | null;
}

/** What a grid shows. */
export interface DiffGridProps {
  /** Names the region. */
  readonly label: string;
  readonly columns: readonly string[];
  /** Columns of the primary key. */
  readonly keys: readonly string[];
  readonly rows: readonly DiffRow[];
  /** All columns; otherwise those that change, with the key and what a reader knows the row by. */
  readonly all: boolean;
  /** Of the page, where it shows more than this. */
  readonly room?: PageRoom;
}

interface ShownColumn {
  readonly at: number;
  readonly name: string;
  readonly numeric: boolean;
  readonly changes: boolean;
}

/** The rows of a preview, which are in the same order before and after; those of a deletion have no after. */
export function diffRows(
  { before, after }: {
    readonly before: readonly (readonly JsonValue[])[];
    readonly after: readonly (readonly JsonValue[])[];
  },
): DiffRow[] {
  const count = Math.max(before.length, after.length);
  return Array.from({ length: count }, (_, at) => ({ before: before[at] ?? null, after: after[at] ?? null }));
}

/** How many of the columns change in any row. */
export function changingColumns({ columns, rows }: Pick<DiffGridProps, "columns" | "rows">): number {
  return columns.filter((_, at) => rows.some((row) => changesAt(row, at))).length;
}

/** A value that is compared takes as long as so many that are only shown. */
const CELLS_A_VALUE = 3;

/** The table, in a region that scrolls for itself. */
export async function DiffGrid(props: DiffGridProps): Promise<Awaited<Html>> {
  const { label, rows, room = new PageRoom() } = props;
  const { still, changing } = columnsOf(props);
  const cells = CELLS_A_VALUE * (still.length + 2 * changing.length);
  const body = await inTurns(
    rows,
    cells,
    (row) => <Row row={row} still={still} changing={changing} room={room} />,
  );
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table class="grid diff">
        <thead>
          <tr>
            {still.map(({ name, numeric }) => (
              <th
                scope="col"
                rowspan={changing.length === 0 ? 1 : 2}
                class={numeric ? "n" : undefined}
              >
                {visibleText(name)}
              </th>
            ))}
            {changing.map(({ name }) => (
              <th colspan={2} class="group" scope="colgroup">{visibleText(name)}</th>
            ))}
          </tr>
          {changing.length === 0 ? null : (
            <tr>
              {changing.map(({ numeric }) => (
                <>
                  <th scope="col" class={numeric ? "before n" : "before"}>before</th>
                  <th scope="col" class={numeric ? "after n" : "after"}>after</th>
                </>
              ))}
            </tr>
          )}
        </thead>
        <tbody>{body}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly row: DiffRow;
  readonly still: readonly ShownColumn[];
  readonly changing: readonly ShownColumn[];
  readonly room: PageRoom;
}

function Row({ row: { before, after }, still, changing, room }: RowProps): Html {
  const whole = before ?? after ?? [];
  const look = before === null ? "after" : after === null ? "before" : "";
  // The column changes in another row: only what changes has a colour.
  const sameAt = (at: number) => look === "" && !changesAt({ before, after }, at) ? " same" : "";
  return (
    <tr>
      {still.map(({ at, name, numeric }, place) => {
        const value = <ChangedValue value={whole[at] ?? null} room={room} />;
        if (place === 0) {
          return <th scope="row" class={classes("", numeric)} data-label={visibleText(name)}>{value}</th>;
        }
        return (
          <td
            class={classes(look, numeric)}
            data-label={place === 1 && look === "" ? undefined : visibleText(name)}
          >
            {value}
          </td>
        );
      })}
      {changing.map(({ at, name, numeric }) => (
        <>
          <td class={classes(`before${sameAt(at)}`, numeric)} data-label={`${visibleText(name)} before`}>
            {before === null
              ? null
              : <ChangedValue value={before[at] ?? null} other={after?.[at] ?? null} room={room} />}
          </td>
          <td
            class={classes(`after${sameAt(at)}`, numeric)}
            data-label={before === null ? visibleText(name) : "after"}
          >
            {after === null
              ? null
              : <ChangedValue value={after[at] ?? null} other={before?.[at] ?? null} room={room} />}
          </td>
        </>
      ))}
    </tr>
  );
}

function classes(look: string, numeric: boolean): string | undefined {
  const all = `${look} ${numeric ? "n" : ""}`.trim();
  return all === "" ? undefined : all;
}

function columnsOf({ columns, keys, rows, all }: DiffGridProps): Record<"still" | "changing", ShownColumn[]> {
  const whole = columns.map((name, at): ShownColumn => ({
    at,
    name,
    numeric: isNumeric(rows.flatMap(({ before, after }) => [before?.[at] ?? null, after?.[at] ?? null])),
    changes: rows.some((row) => changesAt(row, at)),
  }));
  const order = (column: ShownColumn) => {
    const place = keys.indexOf(column.name);
    return place < 0 ? keys.length : place;
  };
  const still = whole.filter(({ changes }) => !changes).sort((a, b) => order(a) - order(b));
  const changing = whole.filter(({ changes }) => changes);
  const only = rows.every(({ before, after }) => before === null || after === null);
  if (all || only || changing.length === 0) return { still, changing };
  const known = still.filter(({ name }) => keys.includes(name));
  // Without a key in sight the first columns have to tell which row it is.
  const name = still.find((column) => !keys.includes(column.name) && !column.numeric);
  return {
    still: name === undefined ? known.length > 0 ? known : still.slice(0, 1) : [...known, name],
    changing,
  };
}

function changesAt({ before, after }: DiffRow, at: number): boolean {
  if (before === null || after === null) return false;
  return JSON.stringify(before[at] ?? null) !== JSON.stringify(after[at] ?? null);
}
