// A process with the permissions of the service: reads a row by its key until the engine of this process answers, then eight
// times at once, and says what was read and how often it answered. Argument: a folder.
import { openLocalStore } from "../testing/local_store.ts";
import { print } from "../testing/print.ts";
import { Tenant } from "../contracts/tenant_store.ts";

const [folder = ""] = Deno.args;
const store = await openLocalStore(folder);
const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"]);
await tenant.run("write", [["INSERT INTO t VALUES (1, 'one')"]]);
const rows: unknown[] = [];
// The engine is loaded meanwhile, which takes as long as the machine lets it.
for (let turn = 0; turn < 400 && store.lookups?.answered === 0; turn++) {
  rows.push(...await tenant.rows("SELECT a FROM t WHERE id = ?", [1]));
}
const together = await Promise.all(
  Array.from({ length: 8 }, () => tenant.rows("SELECT a FROM t WHERE id = ?", [1])),
);
rows.push(...together.flat());
print(JSON.stringify({ answered: store.lookups?.answered, rows: [...new Set(rows.map(String))] }));
await store.close();
