// What is known of statements, by their texts, in all schemas together: bounded in characters, because a tenant writes as
// many texts as it likes, as long as it likes, in as many schemas as it likes.

/** Characters of all texts that are kept, whichever schema they are of: twice what one call has. */
const MOST_CHARACTERS = 32_000_000;
/** Of one schema. */
const MOST_TEXTS = 1000;
/** Characters from which a text is long. Of it only that is kept for which the call that brought it asks again. */
const LONG_TEXT = 10_000;

interface Known<Value> {
  readonly value: Value;
  readonly length: number;
  readonly forget: () => void;
}

/** All that is kept, the oldest first. */
const kept = new Set<Known<unknown>>();
let characters = 0;

function keep(known: Known<unknown>): void {
  kept.add(known);
  characters += known.length;
  for (const oldest of kept) {
    if (characters <= MOST_CHARACTERS) break;
    oldest.forget();
  }
}

function drop(known: Known<unknown>): void {
  if (kept.delete(known)) characters -= known.length;
}

/** Characters of all texts of which something is known. */
export function knownCharacters(): number {
  return characters;
}

/** What is known of the texts of one schema. */
export class KnownTexts<Value> {
  readonly #texts = new Map<string, Known<Value>>();

  readonly #keepsLong: boolean;

  /** `keepsLong`: what is said of a long text is asked for again by the same call. */
  constructor({ keepsLong = false }: { readonly keepsLong?: boolean } = {}) {
    this.#keepsLong = keepsLong;
  }

  get(text: string): Value | undefined {
    return this.#texts.get(text)?.value;
  }

  set(text: string, value: Value): void {
    if (text.length >= LONG_TEXT && !this.#keepsLong) return;
    this.#forget(text);
    const known = { value, length: text.length, forget: () => this.#forget(text) };
    this.#texts.set(text, known);
    keep(known);
    if (this.#texts.size <= MOST_TEXTS) return;
    for (const oldest of this.#texts.keys()) return this.#forget(oldest);
  }

  #forget(text: string): void {
    const known = this.#texts.get(text);
    if (known === undefined) return;
    this.#texts.delete(text);
    drop(known);
  }
}
