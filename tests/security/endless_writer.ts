// A program that writes a long text of one letter after the other into a row, all the time, and folds the log in now and then.
// Argument: a database.
import { DatabaseSync } from "node:sqlite";
import { print } from "../testing/print.ts";

const [path = ""] = Deno.args;
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0");
const update = database.prepare("UPDATE t SET a = ? WHERE id = 1");
for (let at = 0;; at++) {
  update.run(String.fromCharCode(65 + at % 57).repeat(20_000));
  database.exec(`PRAGMA wal_checkpoint(${at % 4 === 0 ? "RESTART" : "PASSIVE"})`);
  if (at === 0) print("writes");
}
