// Where this child is, written before each statement to a file that the service reads only when it has to end the
// child: one small write, no conversation. The file outlives the process, so what it says is what happened.
import { PROGRESS_FILE_BYTES, PROGRESS_HEAD_BYTES, PROGRESS_RECORD_BYTES } from "./protocol.ts";

/** The progress file of this child. */
export class Progress {
  /** The record, and behind it one of no frame, which ends what is read where it overwrites the first of them. */
  readonly #record = new DataView(new ArrayBuffer(2 * PROGRESS_RECORD_BYTES));
  readonly #next = new Uint8Array(this.#record.buffer, 0, PROGRESS_RECORD_BYTES);
  readonly #only = new Uint8Array(this.#record.buffer);
  #writtenBytes = PROGRESS_HEAD_BYTES;

  constructor(private readonly file: Deno.FsFile) {}

  /** Call once before the statements of a frame. */
  startFrame(frame: number): void {
    this.file.seekSync(PROGRESS_HEAD_BYTES, Deno.SeekMode.Start);
    this.#writtenBytes = PROGRESS_HEAD_BYTES;
    this.#record.setUint32(0, frame);
  }

  startStatement(call: number, statement: number): void {
    this.#record.setUint32(4, call);
    this.#record.setUint32(8, statement);
    if (this.#writtenBytes + PROGRESS_RECORD_BYTES <= PROGRESS_FILE_BYTES) {
      this.file.writeSync(this.#next);
      this.#writtenBytes += PROGRESS_RECORD_BYTES;
    } else {
      this.file.seekSync(PROGRESS_HEAD_BYTES, Deno.SeekMode.Start);
      this.file.writeSync(this.#only);
    }
  }
}
