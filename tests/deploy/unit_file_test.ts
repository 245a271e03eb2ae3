// The unit for systemd starts what `deno task start` starts, with settings that there are, and is one that systemd takes.
import { assert, assertEquals } from "@std/assert";
import { instances } from "./compose_file.ts";
import { blocksOf, docFile } from "../docs/doc_files.ts";

const unit = await Deno.readTextFile(new URL("../../.deploy/cubby.service", import.meta.url));
const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));

/** The value of a line of the unit. */
function lineOf(name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
  assert(value !== undefined, name);
  return value;
}

Deno.test("the unit starts the service with the permissions of its task, and gives it the time to stop that is documented", async () => {
  assertEquals(lineOf("ExecStart").replace("/usr/local/bin/", ""), tasks.start);
  const { text } = await docFile("routes/docs/self-hosting.md");
  assertEquals(/TimeoutStopSec=(\d+)/.exec(text)?.[1], lineOf("TimeoutStopSec"));
  const known = new Set(
    [...(await docFile("routes/docs/configuration.md")).text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) =>
      name
    ),
  );
  const steps = blocksOf({ path: "", text: /^### Under systemd\n[^]*?(?=^##)/m.exec(text)?.[0] ?? "" });
  const named = [lineOf("Environment"), ...steps.map((step) => step.text)].flatMap((
    one,
  ) => [...one.matchAll(/([A-Z][A-Z_]{3,})=/g)]);
  assert(named.length >= 6);
  for (const [, name = ""] of named) assert(known.has(name), name);
});

Deno.test("the unit leaves the end of an engine process to the service, and the service's own to systemd", () => {
  // The default ends the whole service with the first process that the kernel ends for want of memory.
  assertEquals(lineOf("OOMPolicy"), "continue");
  assertEquals(lineOf("KillMode"), "mixed");
  assertEquals(lineOf("Restart"), "on-failure");
});

Deno.test("systemd takes the unit", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_unit_" });
  try {
    const path = `${folder}/cubby.service`;
    // The programs, folders and users of another machine are not here.
    await Deno.writeTextFile(
      path,
      unit.replace("/usr/local/bin/deno", Deno.execPath()).replace("User=cubby", "User=root"),
    );
    const { success, stderr } = await new Deno.Command("systemd-analyze", {
      args: ["verify", "--man=no", path],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    assertEquals(new TextDecoder().decode(stderr).split("\n").filter((line) => line.includes(path)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the instances of the compose file have the runtime's flags of the task", () => {
  const flagsOf = (words: readonly string[]) => words.filter((word) => word.startsWith("--v8-flags"));
  const own = flagsOf(tasks.start.split(" "));
  assertEquals(own.length, 1);
  for (const [name, { command }] of instances) assertEquals(flagsOf(command), own, name);
});
