// Writes that wait, ran, came back and were denied, as a namespace has them after some days of use.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestDatabase, TestNamespace } from "../testing/test_namespace.ts";
import { type Held, heldBy } from "../writes/write_world.ts";

const CONTENT = [
  "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_cents INTEGER NOT NULL, updated_at TEXT, discontinued INTEGER NOT NULL DEFAULT 0)",
  "CREATE INDEX goods_by_category ON goods (category)",
  "CREATE TABLE parts (id INTEGER PRIMARY KEY, good INTEGER REFERENCES goods ON DELETE CASCADE)",
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 34) INSERT INTO goods SELECT i, 'Trail lantern ' || i, 'outdoor', 1000 + i * 100, '2026-08-30 09:12', 0 FROM c",
  "INSERT INTO goods VALUES (90, 'Desk lamp', 'office', 3900, NULL, 1), (91, 'Stapler', 'office', 1350, NULL, 1)",
  "INSERT INTO parts VALUES (1, 90), (2, 90), (3, 91)",
];
const SALE = `UPDATE goods
   SET price_cents = CAST(price_cents * 0.9 AS INTEGER),
       updated_at = ?1
 WHERE category = ?2
   AND discontinued = 0;  -- winter sale, 10 % off`;

/** Pages of approvals in a database of `namespace`. */
export async function furnishApprovals(
  app: StartedApp,
  namespace: TestNamespace,
  database: TestDatabase,
): Promise<readonly { name: string; path: string; who: "admin" | "operator" }[]> {
  const api = `/api/namespaces/${namespace.slug}`;
  const send = async (path: string, body: unknown, token: string, status = 200): Promise<ApiAnswer> => {
    const answer = await app.request("POST", path, { token, body });
    assertEquals(answer.status, status, answer.text);
    return answer;
  };
  for (const sql of CONTENT) await send(`${database.path}/query`, { sql }, namespace.token);
  await send(
    `${api}/databases/${database.slug}/rules`,
    {
      ...{ tableGlob: "goods", actions: ["update", "delete"], effect: "require_approval", minRows: 2 },
      note: "Prices are checked by a person before they go live.",
    },
    namespace.token,
    201,
  );
  await send(
    `${api}/databases/${database.slug}/rules`,
    { tableGlob: "parts", actions: ["insert"], effect: "require_approval" },
    namespace.token,
    201,
  );
  const minted = await send(`${api}/tokens`, { name: "pricing-agent", role: "write" }, namespace.token, 201);
  const { token } = minted.body.data as { token: string };
  const hold = async (sql: string, params: unknown[] = []): Promise<Held> =>
    heldBy(await send(`${database.path}/query`, { sql, params }, token, 403));
  const decide = (id: string, verb: string, body: unknown) =>
    send(`${api}/approvals/${id}/${verb}`, body, app.operatorKey);
  const redeem = ({ approvalToken }: Held, status = 200) =>
    send(`${database.path}/redeem_approval`, { approvalToken }, token, status);

  const denied = await hold("DELETE FROM goods");
  await decide(denied.id, "deny", { reason: "Not all of them: only what is discontinued" });
  const back = await hold("DELETE FROM goods WHERE discontinued = 1");
  await decide(back.id, "approve", { look: 0 });
  await send(`${database.path}/query`, { sql: "DELETE FROM parts WHERE id = 1" }, namespace.token);
  await redeem(back, 409);
  const ran = await hold("UPDATE goods SET updated_at = ? WHERE discontinued = 1", ["2026-11-20 08:00"]);
  await decide(ran.id, "approve", { look: 0, snapshot: true });
  await redeem(ran);
  const approved = await hold("UPDATE goods SET name = upper(name) WHERE id < 4");
  await decide(approved.id, "approve", { look: 0 });
  const added = await hold(
    "INSERT INTO parts VALUES (3, 90), (4, ?), (5, ?) ON CONFLICT (id) DO UPDATE SET good = excluded.good",
    [90, 91],
  );
  const waiting = await hold(SALE, ["2026-11-21 14:02", "outdoor"]);
  const page = (id: string) => `/console/${namespace.slug}/approvals/${id}`;
  return [
    { name: "approvals", path: `/console/${namespace.slug}/approvals`, who: "admin" },
    { name: "approvals-all", path: `/console/${namespace.slug}/approvals?state=all`, who: "admin" },
    { name: "approvals-empty", path: "/console/empty/approvals", who: "operator" },
    { name: "approval", path: page(waiting.id), who: "admin" },
    { name: "approval-all-columns", path: `${page(waiting.id)}?columns=all`, who: "admin" },
    { name: "approval-insert", path: page(added.id), who: "admin" },
    { name: "approval-came-back", path: page(back.id), who: "admin" },
    { name: "approval-approved", path: page(approved.id), who: "admin" },
    { name: "approval-ran", path: page(ran.id), who: "admin" },
    { name: "approval-undo", path: `${page(ran.id)}/undo`, who: "admin" },
    { name: "approval-denied", path: page(denied.id), who: "admin" },
  ];
}
