// The row texts of a frame as results. Those of a long frame stay in UTF-8, as they came: as strings they would be megabytes of
// the service's heap for each answer, which only passes through, and its garbage would be collected many times a second.
import type { StatementEffect } from "../../../engine/statement_effect.ts";
import type { StatementResult } from "../../tenant_store.ts";
import type { ReplyFrame } from "./reply_frames.ts";

/** The row texts of a frame. */
export type RowTexts = Pick<ReplyFrame, "text" | "bytes" | "giveBack">;

const decoder = new TextDecoder();

/** A part of the texts. Positions are in bytes where the frame has bytes. */
export function textOf({ text, bytes }: RowTexts, start: number, end: number): string {
  return bytes === undefined ? text.slice(start, end) : decoder.decode(bytes.subarray(start, end));
}

/** The result of a statement whose text is a part of the texts. */
export function statementResult(
  texts: RowTexts,
  [start, end]: readonly [start: number, end: number],
  { rowsRead, rowsWritten, effect }: {
    readonly rowsRead: number;
    readonly rowsWritten: number;
    readonly effect: StatementEffect | undefined;
  },
): StatementResult {
  if (texts.bytes !== undefined) {
    const giveBack = end - start === texts.bytes.length ? texts.giveBack : undefined;
    return longResult(texts.bytes.subarray(start, end), { rowsRead, rowsWritten }, giveBack);
  }
  const json = texts.text.slice(start, end);
  return effect ? { json, rowsRead, rowsWritten, effect } : { json, rowsRead, rowsWritten };
}

/** A read, which has no effect. */
function longResult(
  bytes: Uint8Array<ArrayBuffer>,
  figures: { readonly rowsRead: number; readonly rowsWritten: number },
  giveBack: (() => void) | undefined,
): StatementResult {
  let text: string | null = null;
  let isGone = false;
  return {
    get json() {
      if (isGone) throw new TypeError("the memory of the result was given back");
      return text ??= decoder.decode(bytes);
    },
    bytes,
    giveBack: () => {
      isGone = true;
      giveBack?.();
    },
    ...figures,
  };
}
