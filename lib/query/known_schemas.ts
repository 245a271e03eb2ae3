// Numbers for the schemas that databases share, so that ten thousand databases of one schema do not hold its text each.
import { TextMap } from "../core/text_map.ts";

/** Schemas that have a number at a time, and their characters together: a tenant makes a schema as long as it likes. */
const MOST = { texts: 100, characters: 20_000_000 } as const;

/** Each schema has one number, and a number once given out never means another schema. */
export class KnownSchemas {
  /** The one that was asked for longest ago goes first. */
  readonly #numbers = new TextMap<number>(MOST);
  readonly #texts = new Map<number, string>();
  #last = 0;

  numberOf(text: string): number {
    const number = this.#numbers.get(text) ?? ++this.#last;
    this.#texts.set(number, text);
    for (const gone of this.#numbers.put(text, number)) this.#texts.delete(gone);
    return number;
  }

  /** Undefined: others have taken its place. */
  textOf(number: number): string | undefined {
    return this.#texts.get(number);
  }
}
