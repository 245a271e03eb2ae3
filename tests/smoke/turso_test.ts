// The smoke command for Turso as a process, on the stand-in: it passes, it fails where it must, and it leaves nothing.
import { assertEquals, assertMatch } from "@std/assert";
import { type ApiFault, startTursoStandIn, type TursoStandIn } from "../testing/turso_stand_in.ts";

async function smoke(turso: TursoStandIn | null, settings: Readonly<Record<string, string>> = {}) {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const [, ...args] = String(tasks["smoke:turso"]).split(" ");
  const own = turso && {
    TENANTS_URL: `turso://${turso.organization}/${turso.group}?api=${turso.apiUrl}`,
    TENANTS_TOKEN: turso.platformToken,
  };
  const command = new Deno.Command(Deno.execPath(), {
    args,
    cwd: new URL("../../", import.meta.url).pathname,
    env: { ...own, ...settings },
    stdin: "null",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout);
  return { code, lines: text.trim().split("\n"), text: text + new TextDecoder().decode(stderr) };
}

async function withTurso(body: (turso: TursoStandIn) => Promise<void>): Promise<void> {
  const turso = await startTursoStandIn();
  if (turso === null) return;
  try {
    await body(turso);
  } finally {
    await turso.stop();
  }
}

Deno.test("the smoke command for Turso passes on the stand-in, a line a check, and removes what it made", async () => {
  await withTurso(async (turso) => {
    const { code, lines, text } = await smoke(turso);
    assertEquals(code, 0, text);
    assertEquals(lines.filter((line) => !/^ok \d+ ms: /.test(line)), [], text);
    assertEquals(lines.length, 12);
    assertMatch(lines.at(-1) ?? "", /everything is removed again/);
    assertEquals(turso.names(), []);
  });
});

Deno.test("the smoke command for Turso fails where the platform does not do what is assumed, and still tidies", async () => {
  await withTurso(async (turso) => {
    const faults: readonly [ApiFault, failed: RegExp][] = [
      // A closed database goes on taking writes.
      [
        (method) => method === "PATCH" ? Response.json({}) : null,
        /^FAILED \d+ ms: a database that is closed/m,
      ],
      [
        (method) => method === "PATCH" ? new Response("", { status: 403 }) : null,
        /^FAILED \d+ ms: a database that/m,
      ],
    ];
    for (const [fault, failed] of faults) {
      turso.setFault(fault);
      const { code, text } = await smoke(turso);
      assertEquals(code, 1, text);
      assertMatch(text, failed);
      assertEquals(turso.names(), []);
    }
    turso.setFault(null);
    const { code, text } = await smoke(turso, { TENANTS_TOKEN: "another" });
    assertEquals(code, 1, text);
    assertMatch(text, /tenants_setting_refused .*TENANTS_TOKEN.*401/);
  });
});

Deno.test("the smoke command for Turso says in one line what it needs", async () => {
  const nothing = { TENANTS_URL: "", TENANTS_TOKEN: "" };
  const { code, lines } = await smoke(null, nothing);
  assertEquals([code, lines], [1, ["Set TENANTS_URL to turso://<organization>/<group>"]]);
  const { lines: second } = await smoke(null, { ...nothing, TENANTS_URL: "turso://acme/default" });
  assertMatch(second.join("\n"), /^Set TENANTS_TOKEN to [^\n]+$/);
});
