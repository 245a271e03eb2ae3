// A process with the flags of the service: copies a file of 60 kB twenty thousand times for a look-up by key each, and says what was
// read, how many megabytes more it holds behind that than behind the first two thousand, and how much of the processor it is told to
// have used for them. Argument: a folder.
import { DatabaseSync } from "node:sqlite";
import { LookupImages } from "../../lib/engine/lookup_connection.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import { FileImages } from "../../lib/tenant/local/lookups/file_images.ts";
import { ownUsage } from "../../lib/tenant/local/lookups/own_time.ts";
import { print } from "../testing/print.ts";

const [folder = ""] = Deno.args;
const path = `${folder}/one.db`;
const database = new DatabaseSync(path);
database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'one')");
database.exec("INSERT INTO t VALUES (2, hex(zeroblob(25000)))");
const version = Number(database.prepare("PRAGMA schema_version").get()?.["schema_version"]);
database.close();

const images = new FileImages(new LookupImages());
const rows = new Set<string>();
copy(2_000);
const [before, usedMs] = [residentBytes(), ownUsage()?.cpuMs ?? NaN];
copy(20_000);
const cpuMs = (ownUsage()?.cpuMs ?? NaN) - usedMs;
print(JSON.stringify({ rows: [...rows], megabytes: (residentBytes() - before) / 1e6, cpuMs }));

function copy(times: number): void {
  for (let at = 0; at < times; at++) {
    const lookup = images.compile(path, "SELECT a FROM t WHERE id = ?", {
      schemaVersion: version,
      columns: null,
    });
    if (lookup === null) throw new Error("it was not copied");
    const { json } = images.connection.read(lookup, [1], { maxRows: 10, maxBytes: 1000 }, PLAIN_ROWS);
    rows.add(JSON.parse(`${json}}`).rows[0][0]);
  }
}

function residentBytes(): number {
  return Deno.memoryUsage().rss;
}
