// Carries what one child reads to the other that builds, as fast as that takes it. Rows pass unread, in pieces of any size;
// everything else is looked at.
import {
  endBytes,
  FRAME_HEAD,
  frameBytes,
  ITEM_FRAME,
  ROWS_FRAME,
} from "../../tenant/transfer/frame_form.ts";
import type { TransferRun } from "../../tenant/transfer/transfer_room.ts";
import { checkItem, refused } from "./check_item.ts";

/** Bytes of an item that is no rows: a statement, as JSON has it. */
const MAX_ITEM_BYTES = 8 * 1024 * 1024;

/** Resolves when the reader has ended. Errors: `import_refused`; what writing to a builder that has ended throws. */
export async function passItems(reader: TransferRun, builder: TransferRun): Promise<void> {
  const input = builder.process.stdin.getWriter();
  const frames = new Frames();
  try {
    for await (const chunk of reader.process.stdout) {
      for (const piece of frames.take(chunk)) await input.write(piece);
    }
    // A reader that has ended in the middle has written no whole list.
    if (frames.isWhole && (await reader.ended).state === "done") await input.write(endBytes());
  } finally {
    await input.close().catch(() => {});
  }
}

/** Cuts bytes into frames. */
class Frames {
  #head = new Uint8Array(FRAME_HEAD);
  #headFilled = 0;
  /** Bytes of the frame that are still to come. */
  #left = 0;
  #item: Uint8Array<ArrayBuffer> | null = null;

  /** Whether no frame has begun. */
  get isWhole(): boolean {
    return this.#headFilled === 0 && this.#left === 0;
  }

  /** What is to be written for these bytes. Errors: `import_refused`. */
  *take(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
    for (let at = 0; at < chunk.length;) {
      if (this.#left === 0) {
        const count = Math.min(FRAME_HEAD - this.#headFilled, chunk.length - at);
        this.#head.set(chunk.subarray(at, at + count), this.#headFilled);
        this.#headFilled += count;
        at += count;
        if (this.#headFilled === FRAME_HEAD) yield* this.#begin();
        continue;
      }
      const piece = chunk.slice(at, at + this.#left);
      at += piece.length;
      if (this.#item === null) yield piece;
      else this.#item.set(piece, this.#item.length - this.#left);
      this.#left -= piece.length;
      if (this.#left === 0) yield* this.#end();
    }
  }

  *#begin(): Generator<Uint8Array<ArrayBuffer>> {
    this.#left = new DataView(this.#head.buffer).getUint32(0);
    this.#headFilled = 0;
    if (this.#head[4] === ROWS_FRAME) {
      yield this.#head.slice();
      return;
    }
    if (this.#head[4] !== ITEM_FRAME || this.#left > MAX_ITEM_BYTES) throw refused("a statement is too long");
    this.#item = new Uint8Array(this.#left);
  }

  *#end(): Generator<Uint8Array<ArrayBuffer>> {
    if (this.#item !== null) yield frameBytes(ITEM_FRAME, checkItem(new TextDecoder().decode(this.#item)));
    this.#item = null;
  }
}
