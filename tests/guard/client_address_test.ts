import { assertEquals } from "@std/assert";
import { addressKey } from "../../lib/guard/address_key.ts";
import { clientAddress } from "../../lib/guard/client_address.ts";

function from(forwardedFor: string | null, trustedHops: number): unknown {
  return clientAddress({ socketAddress: "192.0.2.1", forwardedFor, trustedHops });
}

Deno.test("clientAddress() believes no header without a trusted proxy", () => {
  assertEquals(from("203.0.113.9", 0), addressKey("192.0.2.1"));
});

Deno.test("clientAddress() ignores what the client wrote left of the trusted hops", () => {
  assertEquals(from("1.1.1.1, 203.0.113.9", 1), addressKey("203.0.113.9"));
  assertEquals(from("1.1.1.1, 203.0.113.9, 10.0.0.1", 2), addressKey("203.0.113.9"));
});

Deno.test("clientAddress() takes the outermost entry when there are fewer than trusted hops", () => {
  assertEquals(from("203.0.113.9", 3), addressKey("203.0.113.9"));
});

Deno.test("clientAddress() falls back to the socket when the header is absent or no address", () => {
  for (const header of [null, "", "unknown", "203.0.113.9,", "a:b:c"]) {
    assertEquals(from(header, 1), addressKey("192.0.2.1"), String(header));
  }
});

Deno.test("clientAddress() reads entries with ports and brackets", () => {
  assertEquals(from("203.0.113.9:4711", 1), addressKey("203.0.113.9"));
  assertEquals(from("[2001:db8::1]:4711", 1), addressKey("2001:db8::1"));
});

Deno.test("clientAddress() counts connections without an address as one", () => {
  const nobody = { socketAddress: null, forwardedFor: null, trustedHops: 0 };
  assertEquals(clientAddress(nobody), clientAddress(nobody));
});
