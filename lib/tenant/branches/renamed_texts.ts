// Finds what renames make of the texts of a schema. For each rename the engine reads again all definitions that are there, which
// for a thousand tables takes half a minute: so only those are there that the rename can concern.
import { writtenRename } from "../../sql/grammar/description_renames.ts";
import { foldName } from "../../sql/words/names.ts";
import type { SchemaObject } from "../../sql/schema/schema_shape.ts";
import { isVirtual } from "../../sql/schema/table_lineage.ts";
import type { TrialDatabase } from "./trial_database.ts";
import { A_TURN, type Work } from "./work.ts";

const TEXTS =
  "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";

/**
 * The texts after the renames, of tables before those of indexes. Null: views, triggers and virtual tables may depend on a table
 * that they do not name. Throws what the engine throws.
 */
export function* renamedTexts(
  trial: TrialDatabase,
  objects: readonly SchemaObject[],
  renames: readonly string[],
): Work<readonly string[] | null> {
  const tables = objects.filter((one) => one.type === "table" && !isVirtual(one));
  const indexes = objects.filter(({ type }) => type === "index");
  if (tables.length + indexes.length < objects.length) return null;
  const tableAt = new Map(tables.map(({ name }, at) => [foldName(name), at]));
  /** For each text, the one of its table. A rename changes neither. */
  const owners = [...tables, ...indexes].map(({ table }) => tableAt.get(foldName(table)) ?? -1);
  const texts = [...tables, ...indexes].map(({ sql }) => sql);
  const places = new Map<string, Set<number>>();
  texts.forEach((text, at) => addWords(places, text, at));
  for (const sql of renames) {
    const rename = writtenRename(sql);
    if (rename === null) return null;
    const { table, column, to } = rename;
    const named = [table, column === null ? to : table].map((name) => placesOf(places, name));
    if (named.includes(null)) return null;
    const concerned = new Set(named.flatMap((one) => [...one ?? []]));
    for (const at of [...concerned]) concerned.add(owners[at] ?? at);
    const sorted = [...concerned].sort((a, b) => a - b);
    trial.exec("BEGIN");
    for (const at of sorted) trial.exec(texts[at] ?? "");
    trial.exec(sql);
    const rows = trial.internalRows(TEXTS);
    trial.exec("ROLLBACK");
    yield A_TURN;
    sorted.forEach((at, row) => {
      const text = String(rows[row]?.[0]);
      if (text === texts[at]) return;
      texts[at] = text;
      addWords(places, text, at);
    });
  }
  return texts;
}

/** What a name consists of. In quotes it may consist of several, or of none. */
const WORD = /[\w$\u0080-\uffff]+/g;

function addWords(places: Map<string, Set<number>>, text: string, at: number): void {
  for (const [word] of foldName(text).matchAll(WORD)) {
    const known = places.get(word);
    if (known === undefined) places.set(word, new Set([at]));
    else known.add(at);
  }
}

/** The texts in which a table's name may stand; null: it has no word. */
function placesOf(places: Map<string, Set<number>>, name: string): ReadonlySet<number> | null {
  const word = foldName(name).match(WORD)?.[0];
  return word === undefined ? null : places.get(word) ?? new Set();
}
