// Which hosts are this machine, and which only look like it.
import { assertEquals } from "@std/assert";
import { isOwnOrigin } from "../../lib/access/authenticate_session.ts";
import { isLoopback } from "../../lib/core/loopback.ts";

Deno.test("isLoopback() takes this machine's names and numbers, and nothing that begins or ends like them", () => {
  const own = ["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.255", "[::1]"];
  const others = [
    "",
    "localhost.example",
    "127.0.0.1.example",
    "127.0.0",
    "128.0.0.1",
    "::1",
    "my.localhost",
  ];
  assertEquals(own.filter(isLoopback), own);
  assertEquals(others.filter(isLoopback), []);
});

Deno.test("isOwnOrigin() takes the address of this machine that was asked, whatever its number", () => {
  const asked = (origin: string, host: string) =>
    isOwnOrigin(origin, { baseUrl: "https://db.example", host });
  assertEquals(asked("http://127.0.0.2:8000", "127.0.0.2:8000"), true);
  assertEquals(asked("http://127.0.0.2:8000", "127.0.0.1:8000"), false);
  assertEquals(asked("http://10.0.0.2:8000", "10.0.0.2:8000"), false);
});

Deno.test("isOwnOrigin() takes nobody's word: none, or one that is no address, is foreign", () => {
  const own = { baseUrl: "https://db.example", host: "127.0.0.1:8000" };
  assertEquals(isOwnOrigin("https://db.example", own), true);
  for (const origin of [undefined, "", "null", "db.example", "http://db.example", "https://db.example:444"]) {
    assertEquals(isOwnOrigin(origin, own), false, String(origin));
  }
});
