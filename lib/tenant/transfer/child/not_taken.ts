// The refusal of what cannot be read or built.

/** What cannot be taken, and where it stands in what was read. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";

  constructor(message: string, readonly at: string | null) {
    super(message);
  }
}

/** A file that cannot be read to its end. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}
