// Reads long texts in a thread of their own: the grammar takes half a second for a million characters, in which the thread
// that serves would answer nobody.
import { charactersOf } from "../core/plain_text.ts";
import { type TextRead, type TextReader, textReaders } from "./text_readers.ts";

/** Characters from which the texts of a call are long: 6 ms for the grammar, where starting the thread takes some 100. */
export const LONG_TEXT = 10_000;
/** Characters of texts that are read in one go, unless one alone has more: each text for itself takes longer to send. */
const PIECE = 50_000;
/** Milliseconds without a long text after which the thread ends. */
const IDLE_MS = 60_000;

interface WaitingTexts {
  readonly reader: TextReader;
  readonly texts: readonly string[];
  /** Characters of all of them. */
  readonly length: number;
  readonly resolve: (results: readonly unknown[]) => void;
}

/** The one thread of a process, while it is needed. */
export class LongTexts {
  /** Called when the thread ends. */
  onEnd: () => void = () => {};
  /** Null: none is needed. */
  #thread: Worker | null = null;
  #reading: WaitingTexts | null = null;
  readonly #waiting: WaitingTexts[] = [];
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /** What the reader makes of each text. Never rejects. */
  async read<Reader extends TextReader>(
    reader: Reader,
    texts: readonly string[],
  ): Promise<readonly TextRead<Reader>[]> {
    const pieces = piecesOf(texts).map((piece) => this.#readPiece(reader, piece));
    return (await Promise.all(pieces)).flat();
  }

  #readPiece<Reader extends TextReader>(
    reader: Reader,
    texts: readonly string[],
  ): Promise<readonly TextRead<Reader>[]> {
    return new Promise((resolve) => {
      // Guarantee: the thread answers with what this reader makes of them.
      const settle = (results: readonly unknown[]) => resolve(results as TextRead<Reader>[]);
      this.#waiting.push({ reader, texts, length: charactersOf(texts), resolve: settle });
      if (this.#reading === null) this.#next();
    });
  }

  /** Ends the thread; nothing may wait any more. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#thread?.terminate();
    this.#thread = null;
    this.onEnd();
  }

  #next(): void {
    clearTimeout(this.#idleTimer);
    this.#reading = this.#shortest();
    if (this.#reading === null) {
      this.#idleTimer = setTimeout(() => this.close(), IDLE_MS);
      Deno.unrefTimer(this.#idleTimer);
      return;
    }
    this.#thread ??= this.#start();
    const { reader, texts } = this.#reading;
    this.#thread.postMessage([reader, texts]);
  }

  /** Taken out of those that wait: who sends long texts keeps a shorter one waiting for one of them at most. */
  #shortest(): WaitingTexts | null {
    let shortest = 0;
    for (const [at, { length }] of this.#waiting.entries()) {
      if (length < (this.#waiting[shortest]?.length ?? 0)) shortest = at;
    }
    return this.#waiting.splice(shortest, 1)[0] ?? null;
  }

  #start(): Worker {
    const thread = new Worker(new URL("./reading_thread.ts", import.meta.url), { type: "module" });
    thread.onmessage = ({ data }: MessageEvent<readonly unknown[]>) => this.#settle(data);
    // Its program may have been replaced on the disk; the next text starts another thread.
    thread.onerror = (event) => {
      event.preventDefault();
      this.close();
      if (this.#reading === null) return;
      const { reader, texts } = this.#reading;
      this.#settle(texts.map((text) => textReaders[reader](text)));
    };
    return thread;
  }

  #settle(results: readonly unknown[]): void {
    this.#reading?.resolve(results);
    this.#next();
  }
}

function piecesOf(texts: readonly string[]): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last !== undefined && text.length <= room) last.push(text);
    else {
      pieces.push([text]);
      room = PIECE;
    }
    room -= text.length;
  }
  return pieces;
}
