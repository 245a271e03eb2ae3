// What is refused says in words what to send instead: no pattern to decipher, and no bare "not found".
import { assertEquals, assertMatch } from "@std/assert";
import { startApp } from "../testing/start_app.ts";

Deno.test("a slug and a ref of another form are told which letters they take", async () => {
  await using app = await startApp();
  const shop = await app.namespace("shop");
  const api = "/api/namespaces/shop/databases";
  for (
    const [call, body, path, message] of [
      [
        api,
        { slug: "Bad Name" },
        "slug",
        "Send up to 41 lower-case letters, digits and hyphens, a letter first",
      ],
      [
        `${shop.database.path}/claim_branch`,
        { purpose: "a try", ref: "Über" },
        "ref",
        "Send up to 64 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first",
      ],
    ] as const
  ) {
    const { status, text } = await app.request("POST", call, { token: shop.token, body });
    assertEquals([status, JSON.parse(text).issues], [400, [{ path, message }]]);
  }
});

Deno.test("whatever is unknown says what to check", async () => {
  await using app = await startApp();
  const shop = await app.namespace("shop");
  const own = "/api/namespaces/shop";
  const unknown = ["/databases/main/rules/rule_x", "/databases/main/webhooks/whk_x", "/tokens/tok_x"].map((
    end,
  ) => own + end);
  for (const path of unknown) {
    const { status, text } = await app.request("DELETE", path, { token: shop.token });
    assertEquals(status, 404, text);
    assertMatch(
      JSON.parse(text).error,
      /^Check the id; the (database|namespace) has no such (rule|webhook|token)$/,
    );
  }
  const nowhere = await app.request("GET", "/api/namespaces/nowhere", { token: app.operatorKey });
  assertEquals([nowhere.status, JSON.parse(nowhere.text).error], [
    404,
    "Check the name; there is no such namespace",
  ]);
});
