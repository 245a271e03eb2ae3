// Answers that may be as long as all specifications of a database.
import type { Context } from "hono";
import { InTurn } from "../../lib/core/in_turn.ts";
import { jsonWithReals } from "../../lib/sql/words/row_form.ts";
import { wholeAnswer } from "./answers.ts";
import type { Env } from "./env.ts";

/** How such an answer is made. */
export interface LongAnswer {
  readonly namespaceSlug: string;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: () => Promise<string>;
}

/** Those that are being made, by namespace. */
const inTurn = new InTurn();

/** Makes one such answer of a namespace after the other: each may have tens of megabytes in hand. */
export function oneAtATime(namespaceSlug: string, make: () => Promise<Response>): Promise<Response> {
  return inTurn.run(namespaceSlug, make);
}

/**
 * It is held as results are, and the next one of the namespace is made when it no longer is on its way to the disk: made at the
 * same time, many would be in memory.
 */
export function sendLongAnswer(
  c: Context<Env>,
  { namespaceSlug, headers, text }: LongAnswer,
): Promise<Response> {
  return oneAtATime(namespaceSlug, async () => {
    await c.env?.answersSettled?.();
    return wholeAnswer(c, await text(), { status: 200, headers: { ...headers } });
  });
}

/** The same of data of the API, which may be rows. */
export function sendLongData(
  c: Context<Env>,
  { namespaceSlug }: Pick<LongAnswer, "namespaceSlug">,
  data: () => Promise<object>,
): Promise<Response> {
  const text = async () => jsonWithReals({ success: true, data: await data() });
  return sendLongAnswer(c, { namespaceSlug, headers: { "content-type": "application/json" }, text });
}
