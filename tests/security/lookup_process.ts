// A process with the permissions of the service: reads a row by its key again and again, and says how often the engine of
// this process answered. Argument: a folder.
import { openLocalStore } from "../testing/local_store.ts";
import { print } from "../testing/print.ts";
import { Tenant } from "../contracts/tenant_store.ts";

const [folder = ""] = Deno.args;
const store = await openLocalStore(folder);
const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"]);
await tenant.run("write", [["INSERT INTO t VALUES (1, 'one')"]]);
const rows: unknown[] = [];
for (let turn = 0; turn < 40; turn++) rows.push(...await tenant.rows("SELECT a FROM t WHERE id = ?", [1]));
print(JSON.stringify({ answered: (store.lookups?.answered ?? 0) > 0, rows }));
await store.close();
