// The questions that a database's rows were asked last time. As long as its schema is the same they are asked in the same
// call in which the schema is read.
import { hash } from "node:crypto";
import type { RowProbes } from "./row_probes.ts";

export interface RememberedProbes {
  /** Of what the questions follow from. */
  readonly digest: string;
  readonly probes: RowProbes;
}

/** Databases whose questions are kept. */
const MAX_DATABASES = 200;

export class ProbeMemory {
  readonly #byDatabase = new Map<string, RememberedProbes>();

  get(databaseId: string): RememberedProbes | null {
    return this.#byDatabase.get(databaseId) ?? null;
  }

  /** The oldest goes when there are too many. */
  keep(databaseId: string, remembered: RememberedProbes): void {
    this.forget(databaseId);
    for (const oldest of this.#byDatabase.keys()) {
      if (this.#byDatabase.size < MAX_DATABASES) break;
      this.#byDatabase.delete(oldest);
    }
    this.#byDatabase.set(databaseId, remembered);
  }

  forget(databaseId: string): void {
    this.#byDatabase.delete(databaseId);
  }
}

export function digestOf(results: readonly string[]): string {
  return hash("sha256", JSON.stringify(results));
}
