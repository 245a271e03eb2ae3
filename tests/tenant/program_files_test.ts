// Whether the program files on the disk are those that this process has loaded.
import { assertEquals } from "@std/assert";
import { CHILD_FOLDERS, ProgramFiles } from "../../lib/tenant/local/pool/program_files.ts";

/** A program of one file in each folder. */
async function withProgram(use: (lib: URL, path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const one of CHILD_FOLDERS) {
      await Deno.mkdir(`${folder}/${one}`, { recursive: true });
      await Deno.writeTextFile(`${folder}/${one}a.ts`, "export const a = 1;\n");
    }
    await use(new URL(`file://${folder}/`), `${folder}/engine/a.ts`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("another content of the same length is seen, also where the file's times are set back", async () => {
  await withProgram(async (lib, path) => {
    const program = new ProgramFiles(lib);
    assertEquals(program.areSame(), true);
    const { atime, mtime } = await Deno.stat(path);
    await Deno.writeTextFile(path, "export const a = 2;\n");
    await Deno.utime(path, atime ?? 0, mtime ?? 0);
    assertEquals([program.areSame(), program.areSame()], [false, false]);
    await Deno.writeTextFile(path, "export const a = 1;\n");
    assertEquals([program.areSame(), program.areSame()], [true, true]);
  });
});

Deno.test("of files that are old a later time, an added one and a missing one are changes, but not the same content again", async () => {
  await withProgram(async (lib, path) => {
    const { mtime } = await Deno.stat(path);
    const old = { now: () => Date.now() + 3_600_000 };
    const program = new ProgramFiles(lib, old);
    assertEquals(program.areSame(), true);
    await Deno.writeTextFile(path, "export const a = 2;\n");
    await Deno.utime(path, new Date(), new Date((mtime?.getTime() ?? 0) + 5));
    assertEquals(program.areSame(), false);
    await Deno.remove(path);
    assertEquals(program.areSame(), false);
    await Deno.writeTextFile(path, "export const a = 1;\n");
    assertEquals(program.areSame(), true);
    await Deno.writeTextFile(`${path}.ts`, "");
    assertEquals(program.areSame(), false);
    await Deno.remove(`${path}.ts`);
    await Deno.remove(new URL("sql/", lib), { recursive: true });
    assertEquals(program.areSame(), false);
  });
});
