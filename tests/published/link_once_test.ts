// A link counts once also where nobody can tell whether what it was used for was kept.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type AccountWorld, accountWorld, outcome, PASSWORD, USERS, USERS_INDEX } from "./account_world.ts";

const { run, test } = oneStore();
Deno.test("a link counts once", run);

const email = "ada@shop.example";
/** What an app may hang on a verified address. */
const GIFTS = [
  "CREATE TABLE gift (user_id INTEGER)",
  "CREATE TRIGGER welcome AFTER UPDATE OF verified_at ON users BEGIN INSERT INTO gift VALUES (new.id); END",
];

/** The token of a new link, as the owner's own server gets it. */
async function linkOf(world: AccountWorld, slug: string): Promise<string> {
  const { status, body, text } = await world.manage("POST", `/${slug}/link`, { email });
  assertEquals(status, 201, text);
  return (body.data as { token: string }).token;
}

/** The store's answers to writes end so: behind the commit, or in place of the write. */
function endWrites(world: AccountWorld, code: "outcome_unknown" | "store_unavailable"): Disposable {
  const { tenants } = world.app.deps.query;
  const open = tenants.open.bind(tenants);
  tenants.open = (ids) => {
    const opened = open(ids);
    const run: typeof opened.run = async (call) => {
      if (call.level === "read") return await opened.run(call);
      if (code === "outcome_unknown") await opened.run(call);
      throw new AppError(code);
    };
    return new Proxy(opened, {
      get: (target, name) => {
        if (name === "run") return run;
        const member = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
  return {
    [Symbol.dispose]: () => {
      tenants.open = open;
    },
  };
}

test("a link whose write may have been kept is used up, and nothing happens twice", async () => {
  await using world = await accountWorld({
    setup: [USERS, USERS_INDEX, ...GIFTS],
    slugs: ["signup", "verify", "reset"],
  });
  await world.join(email);
  const uses: [string, object][] = [
    ["verify", { token: await linkOf(world, "verify") }],
    ["reset", { token: await linkOf(world, "reset"), password: `new ${PASSWORD}` }],
  ];
  for (const [slug, body] of uses) {
    {
      using _lost = endWrites(world, "outcome_unknown");
      assertEquals(outcome(await world.post(slug, body)), [503, "outcome_unknown"]);
    }
    assertEquals(outcome(await world.post(slug, body)), [400, "link_invalid"]);
  }
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM gift")), [[1]]);
});

test("of many who use one link at once one is let through", async () => {
  await using world = await accountWorld({
    setup: [USERS, USERS_INDEX, ...GIFTS],
    slugs: ["signup", "login", "verify", "reset"],
  });
  await world.join(email);
  const token = await linkOf(world, "verify");
  const all = await Promise.all(Array.from({ length: 8 }, () => world.post("verify", { token })));
  assertEquals(all.map(({ status }) => status).toSorted(), [200, 400, 400, 400, 400, 400, 400, 400]);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM gift")), [[1]]);
  const reset = await linkOf(world, "reset");
  const passwords = ["quiet river stone lantern", "amber window forest drum"];
  const resets = await Promise.all(
    passwords.map((password) => world.post("reset", { token: reset, password })),
  );
  assertEquals(resets.map(({ status }) => status).toSorted(), [200, 400]);
});

test("a link whose write was not kept for certain is good again", async () => {
  await using world = await accountWorld({
    setup: [USERS, USERS_INDEX, ...GIFTS],
    slugs: ["signup", "verify"],
  });
  await world.join(email);
  const token = await linkOf(world, "verify");
  {
    using _away = endWrites(world, "store_unavailable");
    assertEquals(outcome(await world.post("verify", { token })), [503, "store_unavailable"]);
  }
  await world.acme.query("CREATE TRIGGER no BEFORE INSERT ON gift BEGIN SELECT RAISE(ABORT, 'later'); END");
  assertEquals(outcome(await world.post("verify", { token })), [409, "app_error"]);
  await world.acme.query("DROP TRIGGER no");
  assertEquals((await world.post("verify", { token })).text, '{"done":true}');
  assertEquals(outcome(await world.post("verify", { token })), [400, "link_invalid"]);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM gift")), [[1]]);
});
