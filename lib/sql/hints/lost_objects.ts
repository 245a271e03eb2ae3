// What statements take along without naming it: the indexes and triggers of a table, or the triggers of a view, that
// they make anew. Read from the texts, before they run.
import { ownTurn } from "../../core/own_turn.ts";
import { type SqlToken, sqlTokens } from "../tokens/sql_tokens.ts";
import { foldName } from "../words/names.ts";
import { listed } from "./known_tables.ts";

/** An object of the schema, and the table that it belongs to. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
}

/** Tokens of a statement in which all stands that is read: `CREATE UNIQUE INDEX IF NOT EXISTS main.name ON`. */
const HEAD = 12;
/** Words between the kind of an object and its name. */
const BEFORE_NAME = new Set(["IF", "NOT", "EXISTS"]);

/** Statements that are followed in one turn of the event loop: some milliseconds. */
const AT_ONCE = 1000;

/** Tables and views that are told of. */
const MOST_TOLD = 20;

/** What to tell of tables and views that are there in the end and have lost what they had; empty where there is none. */
export async function lostObjects(
  objects: readonly SchemaObject[],
  statements: readonly string[],
): Promise<string[]> {
  const schema = new Schema(objects);
  for (const [at, sql] of statements.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await ownTurn();
    schema.follow(sqlTokens(sql, HEAD));
  }
  const lost = [...Map.groupBy(schema.lost(), ({ table }) => table)];
  return lost.slice(0, MOST_TOLD).map(([table, parts]) => {
    // Names of hundreds of characters are left out.
    const names = listed(parts.map(({ type, name }) => `${type} ${name}`)) || "the indexes and triggers";
    const owner = listed([table]);
    return `Make ${names} of ${owner || "a table"} again, where they are wanted: ` +
      `they went with the former ${owner || "one"}`;
  });
}

/** An index or a trigger; `table`: by its name now. */
interface Part extends SchemaObject {
  /** The name that its table had at first. */
  readonly first: string;
}

/** The objects, statement by statement. Names are compared folded. */
class Schema {
  /** Tables and views. */
  readonly #owners = new Set<string>();
  /** Those that have been there from the beginning, and those of each table. */
  readonly #parts = new Map<string, Part>();
  readonly #ofTable = new Map<string, Set<string>>();
  readonly #lost = new Map<string, Part>();

  constructor(objects: readonly SchemaObject[]) {
    for (const one of objects) {
      if (isOwner(one.type)) this.#owners.add(foldName(one.name));
      else this.#put(foldName(one.name), { ...one, first: one.table });
    }
  }

  follow(tokens: readonly SqlToken[]): void {
    const verb = tokens[0]?.key;
    const at = tokens.findIndex(({ key }) => KINDS.has(key));
    const { name, next } = nameAt(tokens, at + 1);
    if (at < 1 || name === null) return;
    const owner = isOwner(tokens[at]?.key.toLowerCase() ?? "");
    if (verb === "DROP") this.#drop(owner, name);
    else if (verb === "CREATE") this.#create(owner, name);
    else if (verb === "ALTER" && tokens[next]?.key === "RENAME" && tokens[next + 1]?.key === "TO") {
      this.#rename(name, nameAt(tokens, next + 2).name ?? name);
    }
  }

  /** What has gone with a table or view that is there, by the name of that. */
  lost(): SchemaObject[] {
    return [...this.#lost.values()].flatMap(({ type, name, table, first }) => {
      const there = [first, table].find((one) => this.#owners.has(foldName(one)));
      return there === undefined ? [] : [{ type, name, table: there }];
    });
  }

  #drop(owner: boolean, name: string): void {
    if (!owner) {
      this.#take(foldName(name));
      return;
    }
    this.#owners.delete(foldName(name));
    for (const key of this.#keysOf(name)) {
      const part = this.#take(key);
      if (part) this.#lost.set(key, part);
    }
  }

  #create(owner: boolean, name: string): void {
    const key = foldName(name);
    if (owner) this.#owners.add(key);
    const again = owner ? undefined : this.#lost.get(key);
    if (again === undefined) return;
    this.#lost.delete(key);
    this.#put(key, { ...again, table: again.first });
  }

  #rename(table: string, to: string): void {
    this.#owners.delete(foldName(table));
    this.#owners.add(foldName(to));
    for (const key of this.#keysOf(table)) {
      const part = this.#take(key);
      if (part) this.#put(key, { ...part, table: to });
    }
  }

  #keysOf(table: string): string[] {
    return [...this.#ofTable.get(foldName(table)) ?? []];
  }

  #put(key: string, part: Part): void {
    this.#parts.set(key, part);
    const table = foldName(part.table);
    this.#ofTable.set(table, (this.#ofTable.get(table) ?? new Set()).add(key));
  }

  #take(key: string): Part | undefined {
    const part = this.#parts.get(key);
    this.#parts.delete(key);
    if (part) this.#ofTable.get(foldName(part.table))?.delete(key);
    return part;
  }
}

/** What a statement that changes the schema is about. */
const KINDS = new Set(["TABLE", "VIEW", "INDEX", "TRIGGER"]);

function isOwner(type: string): boolean {
  return type === "table" || type === "view";
}

/** The name that begins there, without its schema, and the place behind it. */
function nameAt(
  tokens: readonly SqlToken[],
  from: number,
): { readonly name: string | null; readonly next: number } {
  let at = from;
  while (BEFORE_NAME.has(tokens[at]?.key ?? "")) at++;
  if (tokens[at + 1]?.key === ".") at += 2;
  const token = tokens[at];
  return { name: token?.kind === "word" || token?.kind === "name" ? token.text : null, next: at + 1 };
}
