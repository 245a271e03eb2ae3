// Which files of the spool have rows of a database that wait.

/** Files of the spool, by their numbers. */
export class NeededFiles {
  #firstLines = Infinity;
  readonly #packs = new Set<number>();

  /** Of rows in memory: that file, of whichever kind, and all later files of lines. */
  addFrom(file: number): void {
    this.#firstLines = Math.min(this.#firstLines, file);
    this.#packs.add(file);
  }

  /** Of rows that are on the disk alone. */
  addPacks(file: number): void {
    this.#packs.add(file);
  }

  /** `hasPacks`: the file is one of packs. */
  has(file: number, hasPacks: boolean): boolean {
    return hasPacks ? this.#packs.has(file) : file >= this.#firstLines;
  }
}
