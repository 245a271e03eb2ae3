// Undoes a commit that has been written into a database's file.
import { FRAME_HEAD_BYTES } from "../../wal_frames.ts";
import { readWhole, writeWhole } from "./whole_io.ts";

/** What stood in the file before the commit that is being applied, in a file of its own: a transaction may be of any length. */
export class FormerPages {
  readonly #kept: Deno.FsFile;
  #pages: number[] = [];
  #size = 0;
  #pageBytes = 0;

  /** `path`: of the file of its own, which is made. */
  constructor(private readonly file: Deno.FsFile, path: string) {
    this.#kept = Deno.openSync(path, { create: true, truncate: true, read: true, write: true });
    this.forget();
  }

  /** Before the pages of these frames are written. */
  keep(frames: Uint8Array<ArrayBuffer>, pageBytes: number): void {
    this.#pageBytes = pageBytes;
    const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
    for (let at = 0; at < frames.length; at += FRAME_HEAD_BYTES + pageBytes) {
      const page = new Uint8Array(pageBytes);
      this.file.seekSync((view.getUint32(at) - 1) * pageBytes, Deno.SeekMode.Start);
      readWhole(this.file, page);
      writeWhole(this.#kept, page);
      this.#pages.push(view.getUint32(at));
    }
  }

  /** A page that was written twice gets what stood there first. */
  putBack(): void {
    const page = new Uint8Array(this.#pageBytes);
    for (let at = this.#pages.length - 1; at >= 0; at--) {
      this.#kept.seekSync(at * this.#pageBytes, Deno.SeekMode.Start);
      readWhole(this.#kept, page);
      this.file.seekSync(((this.#pages[at] ?? 1) - 1) * this.#pageBytes, Deno.SeekMode.Start);
      writeWhole(this.file, page);
    }
    this.file.truncateSync(this.#size);
  }

  /** The commit is kept. */
  forget(): void {
    this.#pages = [];
    this.#size = this.file.statSync().size;
    this.#kept.truncateSync(0);
    this.#kept.seekSync(0, Deno.SeekMode.Start);
  }

  [Symbol.dispose](): void {
    this.#kept.close();
  }
}
