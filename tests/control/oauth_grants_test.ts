// What ends at the very moment at which a code or a refresh token is exchanged, and lines of tokens that are as long as may be.
import { assertEquals } from "@std/assert";
import { tokenHash } from "../../lib/access/token_format.ts";
import { newId } from "../../lib/core/ids.ts";
import { keys } from "../../lib/store/keys.ts";
import type { TokenRecord } from "../../lib/store/records.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

const client = { id: "cli_a", name: "A", host: "a.example" };

interface GrantWorld extends Disposable {
  readonly world: ControlWorld;
  readonly parent: TokenRecord;
  /** Adds a code of the parent's, and exchanges it. */
  code(hash: string, parent?: TokenRecord): Promise<boolean>;
  redeem(hash: string, meanwhile?: () => unknown): Promise<string>;
  /** With the secret that it has had from `before`, for the one of `after`. */
  rotate(before: string, after: string, meanwhile?: () => unknown): Promise<string>;
  /** How many tokens there are. */
  count(): Promise<number>;
}

async function grantWorld(): Promise<GrantWorld> {
  const world = await controlWorld();
  const { control: { oauthGrants, tokens }, clock } = world;
  const { id: namespaceId } = await world.namespace();
  const { record: parent } = await world.token(namespaceId);
  const hashesOf = (name: string) => ({ accessHash: tokenHash(`a ${name}`), refreshHash: tokenHash(name) });
  return {
    ...{ world, parent },
    code: (hash, { id: parentId } = parent) =>
      oauthGrants.addCode(hash, {
        grant: { namespaceId, parentId, client, role: "read", scopes: [] },
        ...{ redirectUri: "https://a.example/", codeChallenge: "c" },
      }),
    redeem: async (hash, meanwhile = () => {}) => {
      const outcome = await oauthGrants.redeemCode(hash, {
        fits: () => true,
        tokenId: newId("tok", clock.now()),
        secrets: hashesOf(hash),
        also: {
          connected: (commit) => {
            meanwhile();
            return commit;
          },
        },
      });
      return outcome.ok ? outcome.token.id : outcome.reason;
    },
    rotate: async (before, after, meanwhile = () => {}) => {
      const outcome = await oauthGrants.rotate(tokenHash(before), {
        clientId: client.id,
        secrets: {
          ...hashesOf(after),
          // Read behind the line of the token, and before the commit.
          get accessHash() {
            meanwhile();
            return tokenHash(`a ${after}`);
          },
        },
      });
      return outcome.ok ? outcome.token.id : outcome.reason;
    },
    count: async () => (await tokens.list(namespaceId, { cursor: null, pageSize: 100 })).records.length,
    [Symbol.dispose]: () => world[Symbol.dispose](),
  };
}

Deno.test("a token or namespace that ends while its code is exchanged gives nothing on", async () => {
  using made = await grantWorld();
  const { world: { kv }, parent: { namespaceId, id } } = made;
  for (const gone of [keys.token(namespaceId, id), keys.namespace(namespaceId)]) {
    const { value } = await kv.get(gone);
    assertEquals(await made.code("one"), true);
    assertEquals(await made.redeem("one", () => void kv.delete(gone)), "giver_gone");
    await kv.set(gone, value);
    assertEquals(await made.count(), 1);
  }
});

Deno.test("a connection that ends while it is renewed does not come back", async () => {
  using made = await grantWorld();
  const { world: { kv, control }, parent: { namespaceId, id } } = made;
  assertEquals(await made.code("one"), true);
  const connection = await made.redeem("one");
  assertEquals(await made.rotate("one", "two"), connection);
  const end = (gone: string) => void kv.delete(keys.token(namespaceId, gone));
  assertEquals(await made.rotate("two", "three", () => end(connection)), "giver_gone");
  assertEquals([await made.count(), await control.oauthGrants.findRefresh(tokenHash("three"))], [1, null]);

  assertEquals(await made.code("four"), true);
  const other = await made.redeem("four");
  assertEquals(await made.rotate("four", "five", () => end(id)), "giver_gone");
  assertEquals((await control.tokens.byId(namespaceId, other))?.hash, tokenHash("a four"));
});

Deno.test("what a token allows ends with that token, and one at the end of the longest line allows nothing", async () => {
  using made = await grantWorld();
  const { world, world: { control, clock }, parent: { namespaceId } } = made;
  const { record: short } = await world.token(namespaceId, { expiresAt: clock.now() + 60_000 });
  assertEquals(await made.code("one", short), true);
  const id = await made.redeem("one");
  for (const renewed of [id, await made.rotate("one", "again")]) {
    const connection = await control.tokens.byId(namespaceId, renewed);
    assertEquals([connection?.expiresAt, connection?.secretUntilMs], [short.expiresAt, short.expiresAt]);
  }

  const line: TokenRecord[] = [];
  for (let parentId = made.parent.id; line.length < 15; parentId = line.at(-1)?.id ?? "") {
    line.push((await world.token(namespaceId, { parentId })).record);
  }
  assertEquals(await made.code("two", line.at(-2)), true);
  assertEquals(await made.code("three", line.at(-1)), false);
});
