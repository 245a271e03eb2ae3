// Names that tables have had before they were renamed, in one batch or transaction, and which of them another table has since:
// whoever puts a table aside and makes another one of its name rebuilds it.
import type { Rename } from "./description_renames.ts";
import { foldName } from "../words/names.ts";

/** As a transaction keeps them between two requests: by each name now, folded, the names before it. */
export interface RestedNames {
  readonly former: readonly (readonly [name: string, before: readonly string[]])[];
  readonly given: readonly string[];
}

/** What is looked at of a statement. */
interface Followed {
  readonly verb: string;
  readonly target: string | null;
  readonly rename: Rename | null;
}

/** Tables that are remembered, those renamed last. */
const MAX_TABLES = 100;

/** Follows statements in their order. */
export class FormerNames {
  readonly #former: Map<string, readonly string[]>;
  readonly #given: Set<string>;

  constructor({ former, given }: RestedNames = { former: [], given: [] }) {
    this.#former = new Map(former);
    this.#given = new Set(given);
  }

  follow({ verb, target, rename }: Followed): void {
    if (rename?.column === null) this.#rename(foldName(rename.table), foldName(rename.to));
    else if (verb === "create" && target !== null) this.#give(foldName(target));
  }

  /** The name that the table had before, if another one has it now. */
  replaced(table: string): string | null {
    const name = foldName(table);
    return this.#former.get(name)?.find((one) => one !== name && this.#given.has(one)) ?? null;
  }

  /** The name that the table had before all of them, folded. */
  first(table: string): string {
    const name = foldName(table);
    return this.#former.get(name)?.at(-1) ?? name;
  }

  rest(): RestedNames {
    return { former: [...this.#former], given: [...this.#given] };
  }

  #rename(name: string, to: string): void {
    const before = this.#former.get(name) ?? [];
    this.#former.delete(name);
    this.#given.delete(name);
    this.#give(to);
    this.#former.set(to, [name, ...before].slice(0, MAX_TABLES));
    const [oldest] = this.#former.keys();
    if (this.#former.size > MAX_TABLES && oldest !== undefined) this.#former.delete(oldest);
  }

  /** Names that no other table had are of no interest. */
  #give(name: string): void {
    if (this.#former.values().some((before) => before.includes(name))) this.#given.add(name);
  }
}
