// Methods over a real connection, where any word can be one.
import { assertEquals } from "@std/assert";
import { publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("methods", run);

/** Status, the headers that were asked for (null where there is none), and the length of what came behind them. */
async function exchange(port: number, line: string, names: readonly string[]): Promise<unknown[]> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const request = `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  let text = "";
  for await (const chunk of connection.readable.pipeThrough(new TextDecoderStream())) text += chunk;
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? null;
  return [Number(head.split(" ")[1]), ...names.map(header), body.length];
}

test("whatever the method is called, what is asked for comes before how it is asked for", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "paused" }, "paused");
  await world.put({ slug: "draft" }, "draft");
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, world.app.app.fetch);
  for (const method of ["TRACE", "PROPFIND", "QUERY", "PUT", "DELETE"]) {
    const call = async (slug: string) =>
      (await exchange(server.addr.port, `${method} /p/acme/main/${slug}`, ["allow"])).slice(0, 2);
    assertEquals(await call("item"), [405, "GET, HEAD, OPTIONS"], method);
    assertEquals(await call("paused"), [503, null], method);
    assertEquals(await call("draft"), [404, null], method);
    assertEquals(await call("nothing"), [404, null], method);
  }
});

test("HEAD has the headers of GET, the length of its body too, and no body", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, world.app.app.fetch);
  const names = ["content-length", "content-type", "etag", "cache-control", "content-security-policy"];
  for (const path of ["item?id=1", "item?id=x", "none", "openapi.json"]) {
    const get = await exchange(server.addr.port, `GET /p/acme/main/${path}`, names);
    const head = await exchange(server.addr.port, `HEAD /p/acme/main/${path}`, names);
    assertEquals(head.slice(0, -1), get.slice(0, -1), path);
    assertEquals([head.at(-1), get.at(-1)], [0, Number(get[1])], path);
  }
});
