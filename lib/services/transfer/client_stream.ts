// The body of an answer that is read from elsewhere as fast as the client takes it. A client that takes nothing for too long
// loses it.
import type { AppError } from "../../core/errors.ts";
import { exportLimits } from "../../core/limits_of_transfers.ts";
import type { KeptExport } from "./kept_exports.ts";

const PIECE = 256 * 1024;

/** Where the bytes come from. */
export interface ClientStreamOptions {
  readonly kept: Pick<KeptExport, "readers" | "sentBytes" | "breakOff">;
  /** Fills the buffer from its start; 0 at the end. */
  readonly read: (into: Uint8Array) => Promise<number>;
  /** After the last byte: why what was sent is not whole; null where it is. */
  readonly done: () => Promise<AppError | null>;
  /** Called once, whatever ends the stream. `errorKind` null: the client has got all of it. */
  readonly close: (errorKind: string | null) => Promise<void> | void;
}

/** Makes the stream. A failure breaks the connection, so that the client cannot take a part for the whole. */
export function clientStream({ kept, read, done, close }: ClientStreamOptions): ReadableStream<Uint8Array> {
  let stalled: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  const finish = async (errorKind: string | null) => {
    clearTimeout(stalled);
    if (closed) return;
    closed = true;
    kept.readers--;
    kept.breakOff = null;
    await close(errorKind);
  };
  kept.readers++;
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      kept.breakOff = (errorKind) => {
        controller.error(new Error("others need the place of the export"));
        void finish(errorKind);
      };
    },
    pull: async (controller) => {
      clearTimeout(stalled);
      try {
        const buffer = new Uint8Array(PIECE);
        const count = await read(buffer);
        if (closed) return;
        if (count > 0) {
          kept.sentBytes += count;
          stalled = setTimeout(() => {
            controller.error(new Error("the client takes nothing"));
            void finish("client_stalled");
          }, exportLimits.stalledMs);
          return controller.enqueue(buffer.subarray(0, count));
        }
        const failure = await done();
        await finish(failure?.code ?? null);
        if (failure === null) controller.close();
        else controller.error(failure);
      } catch (error) {
        await finish("unknown");
        controller.error(error);
      }
    },
    cancel: () => finish("cancelled"),
  }, { highWaterMark: 0 });
}
