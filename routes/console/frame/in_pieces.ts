// A long text as the body of an answer, in pieces between which the service does other work.
import { ownTurn } from "../../../lib/core/own_turn.ts";

/** Characters of a piece: their bytes are made in a fraction of a millisecond. */
const PIECE = 64 * 1024;

/** The text in UTF-8: as it is where it is short. */
export function inPieces(text: string): string | ReadableStream<Uint8Array> {
  if (text.length <= PIECE) return text;
  let at = 0;
  const pieces = new ReadableStream<string>({
    async pull(controller) {
      await ownTurn();
      controller.enqueue(text.slice(at, at + PIECE));
      at += PIECE;
      if (at >= text.length) controller.close();
    },
  });
  // It puts characters together that lie on both sides of a cut.
  return pieces.pipeThrough(new TextEncoderStream());
}
