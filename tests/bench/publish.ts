// Makes an endpoint of the benchmark's database and publishes it.
import type { RunningService } from "./service_target.ts";

const ENDPOINTS = "/api/namespaces/bench/databases/main/endpoints";

export async function publish(
  { manage }: Pick<RunningService, "manage">,
  spec: Readonly<Record<string, unknown>>,
): Promise<void> {
  await manage("POST", ENDPOINTS, spec);
  await manage("POST", `${ENDPOINTS}/${spec["slug"]}/publish`);
}
