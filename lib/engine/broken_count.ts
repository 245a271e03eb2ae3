// How many references of deferred foreign keys lead nowhere, from one look to the next: the engine lets a commit pass that
// leaves no more of them than there were. One that was broken before and then leads to another missing row counts as it
// did, so it passes here; the engine takes it for a new one and refuses the commit.

/** A table too many only costs time. */
export const DEFERS = "type = 'table' AND sql LIKE '%INITIALLY%DEFERRED%'";

/** Names of those whose references writing the tables in the JSON list `?1` can break; null: of all. */
export const BREAKABLE = `SELECT name FROM sqlite_schema t WHERE ${DEFERS} AND (?1 IS NULL OR EXISTS (` +
  "SELECT 1 FROM json_each(?1) w WHERE w.value = t.name COLLATE NOCASE " +
  'OR w.value COLLATE NOCASE IN (SELECT "table" FROM pragma_foreign_key_list(t.name))))';

/** Of one of them. */
export const COUNT_BROKEN = "SELECT count(*) FROM pragma_foreign_key_check(?)";

/** What each table has of them; null: a key that fits no index, so that nobody can tell. */
export type BrokenByTable = readonly (number | null)[];

export class BrokenCount {
  #first = 0;
  #last = 0;
  #unread = 0;

  constructor(look: BrokenByTable) {
    this.#begin(look);
  }

  /** Whether there are more of them than at first. */
  get broken(): boolean {
    return this.#last > this.#first;
  }

  /** Takes the next look: whether it has more than the one before. */
  raisedTo(look: BrokenByTable): boolean {
    // What can be told for the first time was so before: the engine alone judges that change.
    if (unreadOf(look) < this.#unread) {
      this.#begin(look);
      return false;
    }
    const before = this.#last;
    this.#last = sumOf(look);
    this.#unread = unreadOf(look);
    return this.#last > before;
  }

  #begin(look: BrokenByTable): void {
    this.#first = this.#last = sumOf(look);
    this.#unread = unreadOf(look);
  }
}

function sumOf(look: BrokenByTable): number {
  return look.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

function unreadOf(look: BrokenByTable): number {
  return look.filter((count) => count === null).length;
}
