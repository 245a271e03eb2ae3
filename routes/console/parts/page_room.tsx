// How much of what others have sent is written out on one page. Megabytes of `&` would be a page of a hundred, and seconds of work.
import { whole } from "./figures.ts";
import type { Html } from "./html.ts";

/** Characters of one value. */
const LONGEST_VALUE = 20_000;
/** Characters of one statement. */
export const LONGEST_SQL = 100_000;
/** Characters of all long texts of a page together. */
const CHARACTERS = 400_000;
/** Values of a page that stand in lists of any length. */
const VALUES = 5000;

/** The room of one page. */
export class PageRoom {
  #characters = CHARACTERS;
  #values = VALUES;

  /** `record`: address of all that the page tells of, as JSON; null where readers have it themselves. */
  constructor(readonly record: string | null = null) {}

  /** How many characters of a long text are written out, from its beginning. */
  charactersOf(length: number, most = LONGEST_VALUE): number {
    const taken = Math.min(length, most, this.#characters);
    this.#characters -= taken;
    return taken;
  }

  /** How many of so many values are listed. */
  valuesOf(count: number): number {
    const taken = Math.min(count, this.#values);
    this.#values -= taken;
    return taken;
  }
}

/** Says what is left out, and where it stands. Nothing where nothing is. */
export function LeftOut(
  { room: { record }, shown, all, of }: { room: PageRoom; shown: number; all: number; of: string },
): Html | null {
  if (shown >= all) return null;
  const words = `The first ${whole(shown)} of ${whole(all)} ${of} stand here`;
  return (
    <p class="note body">
      {record === null ? `${words}.` : (
        <>
          {words}; <a href={record}>the record of it has all of them</a>.
        </>
      )}
    </p>
  );
}
