// No test hides behind permissions that the service does not have.
import { assertEquals } from "@std/assert";
import { startPermissions } from "./start_permissions.ts";

const TESTS = new URL("../", import.meta.url);

/** Files that name permissions themselves, and what of. */
const OWN: ReadonlyMap<string, string> = new Map([
  ["testing/run_group.ts", "the tests' own process"],
  ["backup/backup_service_test.ts", "asks whether the task of a restore grants what is here"],
  ["deploy/suites_test.ts", "a run of tests, which start the service with the permissions of Deno Deploy"],
  ["deploy/rehearsal.ts", "the permissions of Deno Deploy, which are fewer"],
  ["deploy/compose_test.ts", "what the compose file grants, which is fewer"],
  ["endpoints/client_test.ts", "a caller's own program"],
  ["mcp/service_test.ts", "a caller's own program"],
  ["security/lookup_room_test.ts", "a process that looks into /proc for what it takes, which guards nothing"],
  ["bench/bare_target.ts", "a server that is not ours"],
  ["bench/socket_ceiling.ts", "a server that computes nothing, and who asks it"],
  ["bench/cold_start.ts", "the permissions of Deno Deploy, which are fewer"],
  ["testing/start_permissions.ts", "those of `deno task start`, read from deno.json"],
  ["testing/start_permissions_test.ts", "this table"],
]);

async function* sourceFiles(folder: URL): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) {
      for await (const path of sourceFiles(new URL(`${entry.name}/`, folder))) yield `${entry.name}/${path}`;
    } else if (entry.name.endsWith(".ts")) yield entry.name;
  }
}

Deno.test("what tests start of the service has the permissions of `deno task start`, read from deno.json", async () => {
  const named: string[] = [];
  for await (const path of sourceFiles(TESTS)) {
    const text = await Deno.readTextFile(new URL(path, TESTS));
    if (/["'`](?:-A\b|--allow-)/.test(text) && !OWN.has(path)) named.push(path);
  }
  assertEquals(named, []);
});

Deno.test("`deno task start` grants kinds of access and not all of them at once", () => {
  assertEquals(startPermissions().filter((flag) => flag === "--allow-all"), []);
  assertEquals(startPermissions().length > 0, true);
});
