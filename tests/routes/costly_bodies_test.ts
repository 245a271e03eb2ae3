// Bodies of JSON that are no longer than others and cost the thread that serves everybody many times as much.
import { assertEquals } from "@std/assert";
import { whatCostsMuch } from "../../lib/guard/parse_json.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("bodies of JSON that cost much", run);

const repeated = (part: string, times: number) => Array(times).fill(part).join();

/** Objects of which no two have a name in common. */
function strangers(objects: number, members: number): string {
  let at = 0;
  const object = () => `{${Array.from({ length: members }, () => `"${(at++).toString(36)}":0`).join()}}`;
  return Array.from({ length: objects }, object).join();
}

const costly: Readonly<Record<string, string>> = {
  lists: repeated("[]", 250_001),
  objects: repeated("{}", 800_001),
  fields: strangers(1, 100_300),
  "different ones": strangers(110, 100),
};

test("they are refused before they are parsed, on each surface", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace("acme");
  const paths = [
    `${database.path}/query`,
    `${database.path}/batch`,
    `${database.path}/describe`,
    "/api/namespaces/acme/tokens",
    "/hrana/acme/main/v2/pipeline",
    "/mcp",
  ];
  for (const path of paths) {
    for (const [what, values] of Object.entries(costly)) {
      const method = path.endsWith("describe") ? "PUT" : "POST";
      const answer = await app.app.request(path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: `{"sql":"SELECT 1","params":[${values}]}`,
      });
      const { code = "", error = "", issues } = await answer.json();
      if (path === "/mcp" && what === "fields") {
        assertEquals(issues[0].message.includes("1000 members"), true);
      } else {assertEquals(
          [code.toLowerCase(), error.includes(what)],
          ["invalid_json", true],
          `${path} ${what} ${error}`,
        );}
      assertEquals(answer.status, 400);
    }
  }
});

test("bodies as large as calls can be pass", async () => {
  await using app = await startApp();
  const { token, database, setup } = await app.namespace("acme");
  await setup("CREATE TABLE t (a, b, c, d, e, f, g, h, i, j)");
  const values = Array.from({ length: 10 }, () => "?").join();
  const blobs = Array(10).fill({ $blob: "" });
  const sets = await app.request("POST", `${database.path}/batch`, {
    token,
    body: {
      sql: `INSERT INTO t VALUES (${values})`,
      paramSets: Array(10_000).fill(blobs),
      transaction: true,
    },
  });
  assertEquals([sets.status, sets.body.meta?.["rowsWritten"]], [200, 10_000], sets.text.slice(0, 300));
  // As many as a body has room for.
  assertEquals(whatCostsMuch(JSON.stringify({ params: Array(640_000).fill({ $blob: "" }) })), null);
});
