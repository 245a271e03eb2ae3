// Names and values below each other: parameters of a statement, facts of a record.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** One row; `kind` stands between the two: a type, a unit. */
export interface Pair {
  readonly name: Child;
  readonly kind?: Child;
  readonly value: Child;
}

/** A list of rows. */
export function Pairs({ pairs }: { pairs: readonly Pair[] }): Html {
  return (
    <dl class="pairs">
      {pairs.map(({ name, kind, value }) => (
        <div>
          <dt>{name}</dt>
          <dd>{kind ?? ""}</dd>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
