// A table of rows in a region that scrolls for itself.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** A column. */
export interface Column {
  readonly name: string;
  /** Figures stand at the right. */
  readonly numeric?: boolean;
  /** Its name is for those who listen only: a column of buttons. */
  readonly unseen?: boolean;
}

/** What a table shows. */
export interface GridProps {
  /** Names the region. */
  readonly label: string;
  readonly columns: readonly Column[];
  /** A cell for each column; the first one names its row. */
  readonly rows: readonly (readonly Child[])[];
  /** Further classes. */
  readonly kind?: string;
}

/** A table that can be reached and scrolled by keys. Its text is prose: `data` is written in the font of code. */
export function Grid({ label, columns, rows, kind = "list" }: GridProps): Html {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={`${label}, rows`}>
      <table class={`grid ${kind}`.trim()}>
        <thead>
          <tr>
            {columns.map(({ name, numeric = false, unseen = false }) => (
              <th scope="col" class={numeric ? "n" : undefined}>
                {unseen ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, at) => {
                const { name, numeric = false, unseen = false } = columns[at] ?? { name: "" };
                const look = numeric ? "n" : undefined;
                return at === 0
                  ? <th scope="row" class={look}>{cell}</th>
                  : <td class={look} data-label={unseen ? "" : name}>{cell}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
