// Renders many rows without keeping the service from other work: calls of the API are answered between the pieces.
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { ownTurn } from "../../../lib/core/own_turn.ts";
import type { Html } from "./html.ts";

/** Cells that are rendered at once: about a millisecond. An item of as many has a turn of its own. */
export const A_TURN = 300;

/** The rendered items, in order. `cells` is how many each of them has. */
export async function inTurns<Item>(
  items: readonly Item[],
  cells: number,
  render: (item: Item, index: number) => Html,
): Promise<HtmlEscapedString> {
  const pieces: string[] = [];
  let done = 0;
  for (const [index, item] of items.entries()) {
    const piece = await render(item, index);
    // One that holds parts which wait for something has a text only later, whatever its type says.
    pieces.push(await piece.toString());
    done += cells;
    if (done < A_TURN) continue;
    done = 0;
    await ownTurn();
  }
  // Each piece is HTML that a part has made, in which values are escaped.
  return raw(pieces.join(""));
}
