import { assertEquals, assertNotEquals } from "@std/assert";
import { addressKey } from "../../lib/guard/address_key.ts";

Deno.test("addressKey() reads every spelling of an address the same", () => {
  const same: string[][] = [
    ["192.0.2.255", "::ffff:192.0.2.255", "::FFFF:c000:2ff", "0:0:0:0:0:ffff:192.0.2.255"],
    ["2001:db8::1", "2001:0db8:0:0::2", "2001:DB8:0:0:1:2:3:4", "2001:db8::%eth0", "2001:db8::192.0.2.1"],
    ["::", "::1", "0:0:0:0:0:0:0:1", "::1%lo"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4::", "1:2:3:4::8", "1:2:3:4:5:6:7::"],
  ];
  for (const [first = "", ...others] of same) {
    assertNotEquals(addressKey(first), null, first);
    for (const other of others) assertEquals(addressKey(other), addressKey(first), other);
  }
});

Deno.test("addressKey() keeps different units apart", () => {
  const keys = ["192.0.2.1", "192.0.2.2", "::1", "2001:db8:0:1::", "2001:db8:0:2::", "0.0.0.0", "::1.2.3.4"]
    .map((address) => JSON.stringify(addressKey(address)));
  assertEquals(new Set(keys).size, keys.length - 1, "only ::1 and ::1.2.3.4 share one");
});

Deno.test("addressKey() refuses what is no address", () => {
  const wrong = [
    ...[
      "",
      "localhost",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.256",
      "1..2.3",
      "1.2.3.4 ",
      "-1.2.3.4",
      "1.2.3.",
      ".1.2.3",
    ],
    ...[
      ":",
      ":::",
      "1:2:3",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "g::",
      "12345::",
      "1:2:3:4:5:6:7:8::",
      "::1.2.3",
      "1:",
    ],
  ];
  for (const text of wrong) assertEquals(addressKey(text), null, text);
});
