// What a client sends back with a call that was held: for how long it is good, and for which installation.
import { assertEquals, assertRejects } from "@std/assert";
import { KeyedHashes } from "../../lib/control/keyed_hashes.ts";
import type { ServerContext } from "@modelcontextprotocol/server";
import { AppError } from "../../lib/core/errors.ts";
import { stateCodec } from "../../routes/mcp/ask_person.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

const state = { approvalId: "apv_1", tokenId: "tok_1", call: "digest" };

/** These states are bound to no message. */
const ofAnyCall = {} as ServerContext;

/** Hashes whose key cannot be read at first. */
class LateHashes extends KeyedHashes {
  #reads = 0;

  override of(...words: readonly string[]): string | Promise<string> {
    return this.#reads++ === 0 ? Promise.reject(new AppError("meter_unreachable")) : super.of(...words);
  }
}

Deno.test("a state is good for ten minutes, at every instance of the installation that made it", async () => {
  using world = await controlWorld();
  using other = await controlWorld();
  const codec = await stateCodec(new KeyedHashes(world.kv));
  const beforeSec = Math.floor(Date.now() / 1000);
  const text = await codec.mint(state);
  const body = text.slice(text.indexOf(".") + 1, text.lastIndexOf("."));
  const { exp } = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(body, { alphabet: "base64url" })),
  );
  // The seconds that the test itself has taken.
  assertEquals([exp - beforeSec >= 600, exp <= Math.floor(Date.now() / 1000) + 600], [true, true]);
  const read = async ({ kv }: ControlWorld) =>
    await (await stateCodec(new KeyedHashes(kv))).verify(text, ofAnyCall);
  assertEquals(await read(world), state);
  await assertRejects(() => read(other));
});

Deno.test("a key that could not be read once is asked for again, and read once then", async () => {
  using world = await controlWorld();
  const hashes = new LateHashes(world.kv);
  await assertRejects(() => stateCodec(hashes));
  const first = await stateCodec(hashes);
  assertEquals(await stateCodec(hashes), first);
});
