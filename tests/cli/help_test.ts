// Whoever asks a command how it is called is told so, and nothing is done.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { repository } from "../architecture/source_files.ts";

for (const task of ["migrate", "copy", "backup", "backup:verify", "backup:restore"]) {
  Deno.test(`deno task ${task} --help tells how it is called`, async () => {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", task, "--help"],
      cwd: repository,
      stderr: "inherit",
    }).output();
    assertStringIncludes(new TextDecoder().decode(stdout).split("\n\n")[0] ?? "", `deno task ${task} `);
    assertEquals(code, 0);
  });
}
