// One of several service processes over one KV file and one sqld: <kv path> <sqld url> <sqld admin url> <operator key>.
// It prints its address and serves until its input ends. The service itself shares a KV by `KV_URL`, which needs a KV
// server; the file, which SQLite locks between processes, gives the same promises without one.
import { tokenHash } from "../../lib/access/token_format.ts";
import { readConfig } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import { createApp } from "../../routes/app.ts";
import { appDeps } from "../../routes/http/app_deps.ts";
import { print } from "../testing/print.ts";
import { openKvFile } from "./open_kv_file.ts";

const [path = "", url = "", adminUrl = "", operatorKey = ""] = Deno.args;
const config = readConfig({ FLOOD_PER_10S: "0", WELCOME_CREDIT_USD: "1000" });
const [clock, log] = [systemClock, silentLog];
const kv = await openKvFile(path);
const tenants = createSqldStore({
  ...{ ...config, url, adminUrl, adminToken: null, jwtKeyPem: null, clock, log },
});
const deps = appDeps({
  ...{ config, baseUrl: "http://127.0.0.1", clock, log, kv, tenants },
  bodyWatch: new BodyWatch(30),
  operatorKeyHash: tokenHash(operatorKey),
});
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, createApp(deps).fetch);
const ticking = setInterval(() => void deps.query.meter.tick(), 1000);
print(`http://127.0.0.1:${server.addr.port}`);
await Deno.stdin.read(new Uint8Array(1));
clearInterval(ticking);
await server.shutdown();
await tenants.close();
await deps.query.meter.close();
kv.close();
