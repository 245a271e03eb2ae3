import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { SurfaceRouter } from "../../routes/surface_router.ts";

Deno.test("what stands before every path runs first on every surface, whatever paths the others have", async () => {
  const app = new Hono({ router: new SurfaceRouter() });
  const seen: string[] = [];
  app.use(async (_c, next) => {
    seen.push("all");
    await next();
  });
  app.post("/api/:slug/databases/restore", (c) => c.text("restore"));
  app.post("/api/:slug/databases/:db/rules", (c) => c.text(`rules of ${c.req.param("db")}`));
  app.use("/v1/*", async (_c, next) => {
    seen.push("v1");
    await next();
  });
  app.post("/v1/:db/query", (c) => c.text(`query ${c.req.param("db")}`));
  const ask = async (path: string) => await (await app.request(path, { method: "POST" })).text();
  assertEquals(await ask("/api/a/databases/restore"), "restore");
  assertEquals(await ask("/api/a/databases/restore/rules"), "rules of restore");
  assertEquals(await ask("/v1/orders/query"), "query orders");
  assertEquals(await ask("/v1/orders/nothing"), "404 Not Found");
  assertEquals(seen, ["all", "all", "all", "v1", "all", "v1"]);
});
