// Rows before and after a write, beside each other; on a narrow screen each is a card.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import type { Html } from "./html.ts";
import { Value } from "./value.tsx";
import { visibleText } from "./visible_text.ts";

type Rows = readonly (readonly JsonValue[])[];

/** The rows of a preview, in the same order before and after; `after` is empty for rows that go. */
export interface RowDiffProps {
  readonly table: string;
  readonly columns: readonly string[];
  readonly before: Rows;
  readonly after: Rows;
}

/**
 * The first column, which mostly names the row, then those that change, each before and after, then all others: what is
 * decided is seen without scrolling.
 */
export function RowDiff({ table, columns, before, after }: RowDiffProps): Html {
  const goes = after.length === 0;
  const comes = before.length === 0;
  const changes = columns.map((_, at) =>
    !goes && !comes && before.some((row, index) => !same(row[at] ?? null, after[index]?.[at] ?? null))
  );
  const rows = comes ? after : before;
  const nameOf = (at: number) => visibleText(columns[at] ?? "");
  const places = columns.map((_, at) => at);
  const order = [
    ...places.slice(0, changes[0] ? 0 : 1),
    ...places.filter((at) => changes[at]),
    ...places.slice(1).filter((at) => !changes[at]),
  ];
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={`Rows of ${table}`}>
      <table class="grid diff">
        <thead>
          <tr>
            {order.map((at) =>
              changes[at]
                ? (
                  <>
                    <th scope="col">{`${nameOf(at)}, before`}</th>
                    <th scope="col">{`${nameOf(at)}, after`}</th>
                  </>
                )
                : <th scope="col">{nameOf(at)}</th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr class={goes ? "goes" : comes ? "comes" : undefined}>
              {order.map((at) => (
                <Cells
                  name={nameOf(at)}
                  before={row[at] ?? null}
                  after={changes[at] ? after[index]?.[at] ?? null : undefined}
                  look={goes ? "before" : comes ? "after" : undefined}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellsProps {
  readonly name: string;
  readonly before: JsonValue;
  /** Undefined where the column does not change. */
  readonly after: JsonValue | undefined;
  readonly look: string | undefined;
}

function Cells({ name, before, after, look }: CellsProps): Html {
  if (after === undefined) {
    return (
      <td class={look} data-label={name}>
        <Value value={before} />
      </td>
    );
  }
  return (
    <>
      <td class="before" data-label={`${name}, before`}>
        <Value value={before} />
      </td>
      <td class="after" data-label={`${name}, after`}>
        <Value value={after} />
      </td>
    </>
  );
}

function same(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
