// Where this child is, written before each statement to a file that the service reads only when it has to end the
// child: one small write, no conversation. The file outlives the process, so what it says is what happened.
import { PROGRESS_RECORD_BYTES } from "./protocol.ts";

export class Progress {
  readonly #record = new DataView(new ArrayBuffer(PROGRESS_RECORD_BYTES));
  readonly #bytes = new Uint8Array(this.#record.buffer);

  constructor(private readonly file: Deno.FsFile) {}

  /** Call once before the statements of a frame. */
  startFrame(frame: number): void {
    this.file.seekSync(0, Deno.SeekMode.Start);
    this.#record.setUint32(0, frame);
  }

  startStatement(call: number, statement: number): void {
    this.#record.setUint32(4, call);
    this.#record.setUint32(8, statement);
    this.file.writeSync(this.#bytes);
  }
}
