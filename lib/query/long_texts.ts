// Reads long texts in a thread of their own: the grammar takes half a second for a million characters, in which the thread
// that serves would answer nobody.
import { readSyntax, type SyntaxResult } from "../sql/syntax.ts";

/** Characters from which the texts of a call are long: 6 ms for the grammar, where starting the thread takes some 100. */
export const LONG_TEXT = 10_000;
/** Characters of texts that are read in one go, unless one alone has more: each text for itself takes longer to send. */
const PIECE = 50_000;
/** Milliseconds without a long text after which the thread ends. */
const IDLE_MS = 60_000;

interface WaitingTexts {
  readonly texts: readonly string[];
  /** Characters of all of them. */
  readonly length: number;
  readonly resolve: (results: readonly SyntaxResult[]) => void;
}

/** The one thread of a process, while it is needed. */
export class LongTexts {
  /** Null: none is needed. */
  #thread: Worker | null = null;
  #reading: WaitingTexts | null = null;
  readonly #waiting: WaitingTexts[] = [];
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  /** As `readSyntax` of each. Never rejects. */
  async read(texts: readonly string[]): Promise<readonly SyntaxResult[]> {
    const results = await Promise.all(piecesOf(texts).map((piece) => this.#readPiece(piece)));
    return results.flat();
  }

  #readPiece(texts: readonly string[]): Promise<readonly SyntaxResult[]> {
    return new Promise((resolve) => {
      this.#waiting.push({ texts, length: lengthOf(texts), resolve });
      if (this.#reading === null) this.#next();
    });
  }

  /** Ends the thread; nothing may wait any more. */
  close(): void {
    clearTimeout(this.#idleTimer);
    this.#thread?.terminate();
    this.#thread = null;
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
    this.#thread.postMessage(this.#reading.texts);
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
    const thread = new Worker(new URL("./syntax_thread.ts", import.meta.url), { type: "module" });
    thread.onmessage = ({ data }: MessageEvent<readonly SyntaxResult[]>) => this.#settle(data);
    // Its program may have been replaced on the disk; the next text starts another thread.
    thread.onerror = (event) => {
      event.preventDefault();
      this.close();
      if (this.#reading !== null) this.#settle(this.#reading.texts.map(readSyntax));
    };
    return thread;
  }

  #settle(results: readonly SyntaxResult[]): void {
    this.#reading?.resolve(results);
    this.#next();
  }
}

/** Characters of all of them. */
export function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
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
