// The doctor's suggestions one by one: each helps alone.
import { startApp } from "../testing/start_app.ts";
import { examine, follow, make, troubled } from "./doctor_findings.ts";

Deno.test("each suggestion of one examination silences its finding, none of the others having run", async () => {
  await using app = await startApp();
  const { findings } = await (async () => {
    const probe = await app.namespace("probe");
    await make(probe, troubled);
    return await examine(app, probe);
  })();
  for (const [at, finding] of findings.entries()) {
    const tenant = await app.namespace(`n${at}`);
    await make(tenant, troubled);
    const own = { ...finding, suggestion: finding.suggestion.replace("/v1/db/probe/", `/v1/db/n${at}/`) };
    await follow(app, tenant, own);
  }
});
