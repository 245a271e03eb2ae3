// Renders many rows without keeping the service from other work: calls of the API are answered between the pieces.
import { setImmediate } from "node:timers/promises";
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Html } from "./html.ts";

/** Cells that are rendered at once: about a millisecond. */
const CELLS_A_TURN = 300;

let last: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop that nobody else renders in: several grids are made at the same time. */
function ownTurn(): Promise<unknown> {
  last = last.then(() => setImmediate());
  return last;
}

/** The rendered items, in order. `cells` is how many each of them has. */
export async function inTurns<Item>(
  items: readonly Item[],
  cells: number,
  render: (item: Item, index: number) => Html,
): Promise<HtmlEscapedString> {
  const pieces: string[] = [];
  let done = 0;
  for (const [index, item] of items.entries()) {
    pieces.push(String(await render(item, index)));
    done += cells;
    if (done < CELLS_A_TURN) continue;
    done = 0;
    await ownTurn();
  }
  // Each piece is HTML that a part has made, in which values are escaped.
  return raw(pieces.join(""));
}
