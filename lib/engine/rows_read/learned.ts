// What this process has learned of statements, by their texts. It is bounded for all schemas and connections together, so
// that the texts of one tenant do not take the memory in which the statements of others run.

/** Statements of one schema, and characters of the longest one. */
const MAX_STATEMENTS = 256;
const MAX_LENGTH = 4000;
/** Characters of all statements; what is kept of each takes up to 150 bytes a character (measured). */
const MAX_CHARACTERS = 1_000_000;
/** What is kept of a short statement, expressed in characters of text. */
const OVERHEAD = 200;

const filled = new Set<{ forget(): void }>();
let characters = 0;

/** Values by text; the oldest one goes first. */
export class Learned<T> {
  readonly #bySql = new Map<string, T>();

  get(sql: string): T | undefined {
    return this.#bySql.get(sql);
  }

  /** Keeps the value unless its text is very long. Where all texts together become too long, all are forgotten. */
  set(sql: string, value: T): void {
    if (sql.length > MAX_LENGTH) return;
    this.#drop(sql);
    if (this.#bySql.size >= MAX_STATEMENTS) this.#drop(this.#bySql.keys().next().value ?? "");
    if (characters + sql.length + OVERHEAD > MAX_CHARACTERS) forgetAll();
    characters += sql.length + OVERHEAD;
    this.#bySql.set(sql, value);
    filled.add(this);
  }

  forget(): void {
    this.#bySql.clear();
  }

  #drop(sql: string): void {
    if (this.#bySql.delete(sql)) characters -= sql.length + OVERHEAD;
  }
}

function forgetAll(): void {
  for (const one of filled) one.forget();
  filled.clear();
  characters = 0;
}
