// What a migration file may do to the rows of a database, read from the facts of its statements, for the store that
// applies it.
import { foldName } from "../sql/words/names.ts";
import type { MigrationRecord } from "../sql/service/migration_records.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import type { KeptRows, MigrationAsk } from "../tenant/call_records.ts";

/** A migration file that a call applies. */
export interface MigrationCall extends Pick<MigrationAsk, "after"> {
  /** `snapshot`: one that an earlier file of the same request has taken, or null. */
  readonly record: MigrationRecord;
  /** The schema version for which a person has approved it; null: it may be applied to any. */
  readonly approvedVersion: number | null;
  /** What is stored with its answer, as one line: the answer of the files of its request so far. */
  readonly before: string;
}

/** Files that wait for a person's decision together, and the state of the database that it is about. */
export interface HeldMigrations extends Pick<MigrationAsk, "after"> {
  readonly files: readonly { readonly name: string; readonly sql: string }[];
  readonly schemaVersion: number;
}

/** The call's file in the form in which a store takes it. `snapshot`: the label of the one that this call takes, or null. */
export function migrationAsk(
  { record, after }: MigrationCall,
  facts: readonly StatementFacts[],
  snapshot: string | null,
): MigrationAsk {
  return { record: { ...record, snapshot: snapshot ?? record.snapshot }, after, keeps: keptRows(facts) };
}

/**
 * Null where the statements can remove no rows but those that they name. A DELETE names its table and what triggers and
 * foreign keys delete with it. A DROP TABLE names the table, unless another one takes its name by a rename: then the
 * table is rebuilt, and keeps its rows.
 */
function keptRows(facts: readonly StatementFacts[]): KeptRows | null {
  if (!facts.some((one) => dropsTable(one) || one.replacedTables.length > 0)) return null;
  const names = new TableNames();
  const mayLose = new Set<string>();
  const mayChange = new Set<string>();
  for (const one of facts) {
    if (one.class === "schema") names.follow(one);
    else {
      for (const table of tablesOf(one, "delete")) names.add(mayLose, table);
      for (const table of tablesOf(one, "update")) names.add(mayChange, table);
    }
  }
  for (const table of names.dropped) mayLose.add(table);
  return { mayLose: [...mayLose], mayChange: [...mayChange], renamed: names.renamed };
}

function dropsTable({ verb, schemaRows }: StatementFacts): boolean {
  return verb === "drop" && schemaRows !== null;
}

function tablesOf({ actions }: StatementFacts, word: "delete" | "update"): string[] {
  return actions.flatMap((action) =>
    action.startsWith(`${word} `) ? foldName(action.slice(word.length + 1)) : []
  );
}

/** Which of the tables at the beginning has which name, statement by statement. Folded names. */
class TableNames {
  /** The first name of the table that has a name now; null: of none. Absent: its own. */
  readonly #first = new Map<string, string | null>();
  readonly #last = new Map<string, string>();
  /** Tables that were dropped by their first names and not rebuilt. */
  readonly dropped = new Set<string>();

  follow(facts: StatementFacts): void {
    if (facts.rename?.column === null) this.#rename(foldName(facts.rename.table), foldName(facts.rename.to));
    else if (dropsTable(facts)) this.#drop(foldName(facts.target ?? ""));
  }

  /** Adds a table by its name now and by its first one. */
  add(to: Set<string>, table: string): void {
    to.add(table);
    const first = this.#firstOf(table);
    if (first !== null) to.add(first);
  }

  get renamed(): Record<string, string> {
    return Object.fromEntries([...this.#last].filter(([first, last]) => first !== last));
  }

  #firstOf(table: string): string | null {
    const first = this.#first.get(table);
    return first === undefined ? table : first;
  }

  #drop(table: string): void {
    const first = this.#firstOf(table);
    if (first === table) this.dropped.add(table);
    if (first !== null) this.#last.delete(first);
    this.#first.set(table, null);
  }

  #rename(table: string, to: string): void {
    const first = this.#firstOf(table);
    this.#first.set(table, null);
    this.#first.set(to, first);
    if (first !== null) this.#last.set(first, to);
    this.dropped.delete(to);
  }
}
