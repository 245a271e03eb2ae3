// What became of an approved write, where KV fails once it has been done: it stays done, and is told so.
import { assertEquals, assertMatch } from "@std/assert";
import { approvalSummary } from "../../lib/services/approvals/approval_view.ts";
import { secondApp } from "../replay/second_app.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { type DecisionWorld, decisionWorld, shownIn } from "./decision_world.ts";

const { run, test } = oneStore();
Deno.test("approval outcome", run);

/** The lines of the log that tell of a lost outcome. */
const lost = ({ app }: DecisionWorld) =>
  app.logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === "approval_outcome_lost")
    .map(({ level, kind, code }) => ({ level, kind, code }));

testSteps("an outcome that KV does not take", decisionWorld, {
  "is told by the log, and the write is answered as the one that it is": async (world) => {
    const held = await world.hold("UPDATE items SET price = 1 WHERE id = 5");
    await world.approve(held.id);
    await using second = secondApp(world.app);
    second.onRun = () => second.down = true;
    const answer = await second.request("POST", `${world.shop.database.path}/redeem_approval`, {
      token: world.agent.token,
      body: { approvalToken: held.approvalToken },
    });
    second.down = false;
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await world.rows("SELECT price FROM items WHERE id = 5"), [[1]]);
    assertEquals((await world.show(held.id)).outcome, null);
    assertEquals(lost(world), [{ level: "error", kind: "ran", code: "meter_unreachable" }]);
  },
  "does not turn an undo that was made into a refusal": async (world) => {
    const held = await world.hold("UPDATE items SET price = 0 WHERE id < 4");
    await world.approve(held.id, { snapshot: true });
    await world.redeem(held);
    const told = lost(world).length;
    await using second = secondApp(world.app);
    second.onRestore = () => second.down = true;
    const path = `/api/namespaces/${world.shop.slug}/approvals/${held.id}/undo`;
    const answer = await second.request("POST", path, { token: world.app.operatorKey });
    second.down = false;
    const undone = shownIn(answer).outcome?.["undone"] as { byName: string; snapshot: string };
    assertEquals(undone.byName, "the operator");
    assertMatch(undone.snapshot, /^auto-/);
    assertEquals(await world.rows("SELECT price FROM items WHERE id < 4"), [[10], [20], [30]]);
    assertEquals(lost(world).slice(told), [{ level: "error", kind: "ran", code: "meter_unreachable" }]);
    // Nobody has noted it: whoever takes it back once more changes nothing, and has it noted.
    const shown = (await world.call("GET", held.id, "undo")).body.data as { rows: number };
    assertEquals(shown.rows, 0);
    const again = shownIn(await world.call("POST", held.id, "undo"));
    assertEquals((again.outcome?.["undone"] as { byName: string }).byName, "the operator");
    assertEquals((await world.call("POST", held.id, "undo")).body.code, "nothing_to_undo");
  },
}, test);

testSteps("rows of triggers and keys", decisionWorld, {
  "are not known of a restore, and are not shown as none": async (world) => {
    const { app, shop } = world;
    const post = (operation: string, body: unknown) =>
      app.request("POST", `${shop.database.path}/${operation}`, { token: shop.token, body });
    await post("snapshots", { label: "then" });
    await shop.setup("DELETE FROM notes WHERE id = 1");
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const rule = { tableGlob: "notes", actions: ["insert"], effect: "require_approval" };
    await app.request("POST", path, { token: shop.token, body: rule });
    const restore = await post("restore", { snapshot: "then" });
    assertEquals(restore.status, 403, restore.text);
    const id = String(JSON.parse(restore.text).approvalUrl).split("/").at(-1) ?? "";
    assertEquals([(await world.show(id))["cascadedRows"], (await world.show(id)).effect.cascaded], [
      null,
      null,
    ]);
    await shop.setup("DELETE FROM notes WHERE id = 2");
    const looked = await world.look(id);
    assertEquals([looked.look, looked["cascadedRows"]], [1, null]);
    const held = await world.hold("DELETE FROM items WHERE id = 8");
    assertEquals((await world.show(held.id))["cascadedRows"], 1);
  },
  "are not known of a record from before they were noted": async ({ app, shop, hold }) => {
    const { id } = await hold("UPDATE items SET price = 0 WHERE id = 9");
    const { approvals } = app.deps.query;
    const namespace = await app.deps.control.namespaces.bySlug(shop.slug);
    const record = await approvals.byId(namespace?.id ?? "", id);
    if (record === null) throw new Error("the approval is gone");
    const { cascadedRows: _, ...former } = record;
    assertEquals(
      approvalSummary(approvals, former, { databaseSlug: "main", tokenName: null }).cascadedRows,
      null,
    );
  },
}, test);
