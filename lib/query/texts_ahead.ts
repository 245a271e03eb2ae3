// What the readers have made of long texts a moment ago, for whoever goes on with a text in the thread that serves.
import type { TextRead, TextReader } from "./text_readers.ts";

/** Characters of the texts that one reader has read last, more than one call has. */
const MAX_AHEAD = 16_000_000;

interface ReadTexts {
  /** The oldest first. */
  readonly byText: Map<string, unknown>;
  /** Characters of all of them. */
  length: number;
}

/** Results by reader and text. */
export class TextsAhead {
  readonly #readers = new Map<TextReader, ReadTexts>();

  get<Reader extends TextReader>(reader: Reader, sql: string): TextRead<Reader> | undefined {
    // Guarantee: `put` takes only what this reader has made of the text.
    return this.#readers.get(reader)?.byText.get(sql) as TextRead<Reader> | undefined;
  }

  put<Reader extends TextReader>(reader: Reader, sql: string, result: TextRead<Reader>): void {
    const texts = this.#readers.get(reader) ?? { byText: new Map(), length: 0 };
    this.#readers.set(reader, texts);
    if (texts.byText.has(sql)) return;
    texts.byText.set(sql, result);
    texts.length += sql.length;
    for (const oldest of texts.byText.keys()) {
      if (texts.length <= MAX_AHEAD) break;
      texts.byText.delete(oldest);
      texts.length -= oldest.length;
    }
  }

  forget(): void {
    this.#readers.clear();
  }
}
