// What is on record of what people do, where the instance that does it dies: all of what is done, and nothing else.
import { assert, assertEquals } from "@std/assert";
import { dyingKv, secondApp } from "../replay/second_app.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { type DecisionWorld, decisionWorld } from "../writes/decision_world.ts";

const { run, test } = oneStore();
Deno.test("acts on record", run);

/** Commits behind which an instance dies at most. */
const MOST = 12;

type Call = readonly [method: string, path: string, body?: unknown];

/** An act: what is called, and the list in which it shows. Paths below the namespace. */
interface Act {
  readonly action: string;
  readonly call: Call;
  /** Calls that make what it is done to; the id of the last answer takes the place of `:id`. */
  readonly before?: readonly Call[];
  readonly shows: string;
}

const main = "/databases/main";
const rules = `${main}/rules`;
const rule: Call = ["POST", rules, { tableGlob: "notes", effect: "deny" }];
const token: Call = ["POST", "/tokens", { name: "one", role: "read" }];
const webhook: Call = ["POST", `${main}/webhooks`, {
  url: "https://hooks.example.com/a",
  events: ["change"],
}];
const endpoints = `${main}/endpoints`;
const spec = { slug: "list", name: "List", kind: "query", method: "GET", output: "rows", input: [] };
const endpoint: Call = ["POST", endpoints, { ...spec, sql: "SELECT id FROM items" }];
const spare: Call = ["POST", "/databases", { slug: "spare" }];
const deleteSpare: Call = ["DELETE", "/databases/spare", { confirm: "spare" }];
const member: Call = ["POST", "/members", { email: "zoe@example.com", role: "editor" }];

const acts: readonly Act[] = [
  { action: "namespace.changed", call: ["PATCH", "", { name: "Other" }], shows: "" },
  { action: "namespace.changed", call: ["PATCH", "", { monthlyCapUsd: 5 }], shows: "" },
  { action: "database.created", call: spare, shows: "/databases" },
  { action: "database.changed", call: ["PATCH", main, { name: "Other" }], shows: "/databases" },
  { action: "database.deleted", before: [spare], call: deleteSpare, shows: "/databases" },
  {
    action: "database.brought_back",
    before: [spare, deleteSpare],
    call: ["POST", "/databases/restore", { slug: "spare" }],
    shows: "/databases",
  },
  { action: "token.created", call: token, shows: "/tokens" },
  { action: "token.revoked", before: [token], call: ["DELETE", "/tokens/:id"], shows: "/tokens" },
  { action: "rule.created", call: rule, shows: rules },
  {
    action: "rule.changed",
    before: [rule],
    call: ["PATCH", `${rules}/:id`, { enabled: false }],
    shows: rules,
  },
  { action: "rule.deleted", before: [rule], call: ["DELETE", `${rules}/:id`], shows: rules },
  { action: "webhook.created", call: webhook, shows: `${main}/webhooks` },
  {
    action: "webhook.changed",
    before: [webhook],
    call: ["PATCH", `${main}/webhooks/:id`, { enabled: false }],
    shows: `${main}/webhooks`,
  },
  {
    action: "webhook.deleted",
    before: [webhook],
    call: ["DELETE", `${main}/webhooks/:id`],
    shows: `${main}/webhooks`,
  },
  { action: "endpoint.created", call: endpoint, shows: endpoints },
  {
    action: "endpoint.changed",
    before: [endpoint],
    call: ["PUT", `${endpoints}/list`, { ...spec, sql: "SELECT name FROM items" }],
    shows: endpoints,
  },
  {
    action: "endpoint.moved",
    before: [endpoint],
    call: ["POST", `${endpoints}/list/publish`],
    shows: endpoints,
  },
  { action: "endpoint.deleted", before: [endpoint], call: ["DELETE", `${endpoints}/list`], shows: endpoints },
  {
    action: "endpoint.restored",
    before: [endpoint, ["DELETE", `${endpoints}/list`]],
    call: ["POST", `${endpoints}/list/revisions/1/restore`],
    shows: endpoints,
  },
  { action: "member.invited", call: member, shows: "/members" },
  {
    action: "member.changed",
    before: [member],
    call: ["PATCH", "/members/:id", { role: "viewer" }],
    shows: "/members",
  },
  { action: "member.removed", before: [member], call: ["DELETE", "/members/:id"], shows: "/members" },
];

for (const [index, act] of acts.entries()) {
  test(`${act.action} is on record as soon as it is done, whatever the instance lives to do (${index})`, async () => {
    await using app = await startApp();
    for (let commits = 0, answered = false; !answered; commits++) {
      assert(commits < MOST, act.action);
      const { slug, setup } = await app.namespace(`acme-${index}-${commits}`);
      await setup("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
      const at = `/api/namespaces/${slug}`;
      let id = "";
      for (const [method, path, body] of act.before ?? []) {
        const made = await app.request(method, at + path, { token: app.operatorKey, body });
        assert(made.status < 300, made.text);
        id = String(Reflect.get(Object(made.body.data), "id"));
      }
      const read = async (path: string) => {
        // One that has cached nothing.
        await using fresh = secondApp(app);
        return (await fresh.request("GET", at + path, { token: app.operatorKey })).text;
      };
      const count = async () => (await read("/audit")).split(`"action":"${act.action}"`).length - 1;
      const [shown, noted] = [dataIn(await read(act.shows)), await count()];
      answered = await whileDying(app, commits, act.call, { at, id });
      const isDone = dataIn(await read(act.shows)) !== shown;
      assertEquals([commits, await count() - noted], [commits, isDone ? 1 : 0]);
      if (answered) assert(isDone);
    }
  });
}

/** An answer without what is different in every answer. */
function dataIn(text: string): string {
  return JSON.stringify(JSON.parse(text).data);
}

/** Makes a call to an instance that dies behind so many commits. True: it has answered well all the same. */
async function whileDying(
  app: StartedApp,
  commits: number,
  [method, path, body]: Call,
  { at, id }: { readonly at: string; readonly id: string },
): Promise<boolean> {
  const kv = dyingKv(app.deps.kv, commits);
  await using dying = secondApp({ ...app, deps: { ...app.deps, kv } });
  const answer = await dying.request(method, at + path.replace(":id", id), { token: app.operatorKey, body });
  return answer.status < 300;
}

test("a decision and an end of all sessions are on record as soon as they are done", async () => {
  await using app = await startApp();
  const world = await decisionWorld(app, "shop");
  for (const one of [decided, sessionsEnded]) {
    for (let commits = 0, answered = false; !answered; commits++) {
      assert(commits < MOST, one.name);
      const { action, call, isDone } = await one(world);
      const noted = await countOf(world, action);
      answered = await whileDying(app, commits, call, { at: "", id: "" });
      const done = await isDone();
      assertEquals([one.name, commits, await countOf(world, action) - noted], [
        one.name,
        commits,
        done ? 1 : 0,
      ]);
      if (answered) assert(done);
    }
  }
});

async function countOf({ app, shop }: DecisionWorld, action: string): Promise<number> {
  const path = `/api/namespaces/${shop.slug}/audit?pageSize=200`;
  const { text } = await app.request("GET", path, { token: app.operatorKey });
  return text.split(`"action":"${action}"`).length - 1;
}

interface Tried {
  readonly action: string;
  readonly call: Call;
  readonly isDone: () => Promise<boolean>;
}

async function decided({ hold, show }: DecisionWorld): Promise<Tried> {
  const { id } = await hold(`DELETE FROM items WHERE id = ${Math.ceil(Math.random() * 300)}`);
  return {
    action: "approval.denied",
    call: ["POST", `/api/namespaces/shop/approvals/${id}/deny`, {}],
    isDone: async () => (await show(id)).state === "denied",
  };
}

async function sessionsEnded({ app, shop }: DecisionWorld): Promise<Tried> {
  const { id: namespaceId = "" } = await app.deps.control.namespaces.bySlug(shop.slug) ?? {};
  const generation = async () =>
    (await app.deps.control.databases.byId(namespaceId, shop.database.id))?.sessionGeneration ?? 0;
  const before = await generation();
  return {
    action: "sessions.revoked",
    call: ["POST", "/api/namespaces/shop/databases/main/sessions/revoke_all"],
    isDone: async () => await generation() > before,
  };
}
