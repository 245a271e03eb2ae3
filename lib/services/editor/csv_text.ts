// A result as CSV, in pieces, so that a large one does not keep the service from other work.
import { csvText } from "../../core/csv_text.ts";
import { ownTurn } from "../../core/own_turn.ts";
import type { JsonValue } from "../../engine/statement_effect.ts";
import { rowChunks } from "./row_chunks.ts";

/** Rows that are written at once. */
const CHUNK_ROWS = 200;

/**
 * The result as a stream of CSV (RFC 4180, UTF-8): a header, then the rows. NULL is an empty field and the empty text is `""`; a
 * blob is `\x` and hexadecimal digits, because an import would read digits alone as base64. A text that a spreadsheet would run
 * as a formula has an apostrophe before it: whoever opens the file runs nothing that somebody else has stored.
 */
export function csvStream(json: string): ReadableStream<Uint8Array> {
  const chunks = rowChunks(json, CHUNK_ROWS);
  const encoder = new TextEncoder();
  let headed = false;
  return new ReadableStream({
    async pull(controller) {
      // Others are served between two pieces.
      await ownTurn();
      if (!headed) {
        headed = true;
        controller.enqueue(encoder.encode(`${chunks.columns.map(textField).join(",")}\r\n`));
        return;
      }
      const { value, done } = chunks.rows.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.map((row) => `${row.map(field).join(",")}\r\n`).join("")));
    },
  });
}

function field(value: JsonValue): string {
  if (value === null) return "";
  if (typeof value === "object") return `\\x${Uint8Array.fromBase64(value.$blob).toHex()}`;
  return typeof value === "string" ? textField(value) : String(value);
}

function textField(text: string): string {
  return csvText(text, { safe: true });
}
