// Renders many rows without keeping the service from other work: calls of the API are answered between the pieces.
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Html } from "./html.ts";

/** Cells that are rendered at once: about a millisecond. */
const CELLS_A_TURN = 500;

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
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  // Each piece is HTML that a part has made, in which values are escaped.
  return raw(pieces.join(""));
}
