import { assert, assertEquals } from "@std/assert";
import { addressKey } from "../../lib/guard/address_key.ts";
import { FloodControl } from "../../lib/guard/flood.ts";

function key(address: string): NonNullable<ReturnType<typeof addressKey>> {
  const found = addressKey(address);
  assert(found !== null, address);
  return found;
}

/** Requests of `address` that pass when `count` come at `nowMs`. */
function admitted(flood: FloodControl, address: string, count: number, nowMs: number): number {
  const from = key(address);
  let passed = 0;
  for (let i = 0; i < count; i++) if (flood.admit(from, nowMs) === 0) passed++;
  return passed;
}

Deno.test("FloodControl lets exactly the limit of one address through in ten seconds", () => {
  const flood = new FloodControl(100);
  assertEquals(admitted(flood, "192.0.2.1", 500, 1000), 100);
  assertEquals(admitted(flood, "192.0.2.2", 500, 1000), 100);
});

Deno.test("FloodControl lets the address in again as the window slides, never more than twice the limit in one", () => {
  const flood = new FloodControl(100);
  assertEquals(admitted(flood, "192.0.2.1", 200, 0), 100);
  assertEquals(admitted(flood, "192.0.2.1", 200, 9_999), 0);
  assertEquals(admitted(flood, "192.0.2.1", 200, 15_000), 50);
  assertEquals(admitted(flood, "192.0.2.1", 200, 45_000), 100);
});

Deno.test("FloodControl says how long to wait, and waiting that long is enough", () => {
  const flood = new FloodControl(100);
  admitted(flood, "192.0.2.1", 100, 500);
  const waitSec = flood.admit(key("192.0.2.1"), 3_000);
  assert(waitSec >= 1 && waitSec <= 20, String(waitSec));
  assertEquals(flood.admit(key("192.0.2.1"), 3_000 + waitSec * 1000), 0);
});

Deno.test("FloodControl with limit 0 lets everything pass", () => {
  assertEquals(admitted(new FloodControl(0), "192.0.2.1", 5_000, 0), 5_000);
});

Deno.test("FloodControl counts an IPv6 subscriber by /64 and a mapped IPv4 as that IPv4", () => {
  const flood = new FloodControl(10);
  assertEquals(admitted(flood, "2001:db8:1:2::1", 10, 0), 10);
  assertEquals(admitted(flood, "2001:db8:1:2:ffff::9", 1, 0), 0);
  assertEquals(admitted(flood, "2001:db8:1:3::1", 1, 0), 1);
  assertEquals(admitted(flood, "::ffff:192.0.2.7", 10, 0), 10);
  assertEquals(admitted(flood, "192.0.2.7", 1, 0), 0);
});

Deno.test("FloodControl keeps its memory and its judgement under a million addresses", () => {
  const flood = new FloodControl(2000);
  const before = Deno.memoryUsage();
  for (let i = 0; i < 1_000_000; i++) {
    const address = { high: 0, low: Math.imul(i, 2_654_435_761) >>> 0 };
    if (flood.admit(address, i / 100) > 0) throw new Error(`address ${i} was held up by others`);
  }
  const after = Deno.memoryUsage();
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  assert(grown < 16 * 1024 * 1024, `grew by ${grown} bytes`);
  // A newcomer among them still gets nearly its whole limit, and no more.
  const passed = admitted(flood, "203.0.113.5", 3_000, 9_999);
  assert(passed > 1_900 && passed <= 2_000, String(passed));
});

Deno.test("FloodControl does not let loud addresses lock out the others", () => {
  const flood = new FloodControl(50);
  for (let loud = 0; loud < 200; loud++) admitted(flood, `198.51.100.${loud}`, 200, 0);
  let heldUp = 0;
  for (let i = 0; i < 20_000; i++) {
    if (flood.admit({ high: 0, low: 0x0a000000 + i }, 1) > 0) heldUp++;
  }
  assertEquals(heldUp, 0);
});
