// A few figures side by side.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** One figure. */
export interface Tile {
  readonly name: string;
  readonly value: Child;
  /** What the figure is seen against. */
  readonly about?: Child;
  readonly warn?: boolean;
}

/** A list of figures with a name for those who do not see where it stands. */
export function Tiles({ label, tiles }: { label: string; tiles: readonly Tile[] }): Html {
  return (
    <dl class="tiles" aria-label={label}>
      {tiles.map(({ name, value, about, warn = false }) => (
        <div>
          <dt>{name}</dt>
          <dd class={warn ? "warn" : undefined}>{value}</dd>
          {about === undefined ? null : <dd>{about}</dd>}
        </div>
      ))}
    </dl>
  );
}
