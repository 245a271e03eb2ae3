// The editor's modules: every name that one of them imports has a module, and together they stay below their limit.
import { assert, assertEquals } from "@std/assert";
import { editorModules, moduleFile } from "../../routes/console/frame/editor_modules.ts";

/** Bytes of the editor's scripts as they travel. */
const MOST_BYTES = 320 * 1024;

const texts = await Promise.all(
  Object.entries(editorModules).map(async ([name, load]) => ({ name, text: (await load()).default })),
);

Deno.test("every name that a module of the editor imports has a module of the editor", () => {
  for (const { name, text } of texts) {
    const imported = [
      ...text.matchAll(/(?:^|[;\n])\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/g),
    ]
      .map((match) => match[1] ?? "");
    assertEquals(imported.filter((one) => !Object.hasOwn(editorModules, one)), [], name);
    assertEquals(/(?:^|[;\n])\s*import\s*['"(]/.test(text), false, `${name} imports in another form`);
  }
});

Deno.test("the editor imports every module by a name of the map, and each has a file name of its own", async () => {
  const own = await Deno.readTextFile(new URL("../../routes/console/browser/editor.ts", import.meta.url));
  const imported = [...own.matchAll(/from "([^"]+)"/g)].map((match) => match[1] ?? "");
  assert(imported.length > 0);
  assertEquals(imported.filter((one) => !Object.hasOwn(editorModules, one)), []);
  assertEquals(new Set(Object.keys(editorModules).map(moduleFile)).size, texts.length);
});

Deno.test("the editor's modules take less than 320 kB on their way", async () => {
  let bytes = 0;
  for (const { text } of texts) {
    const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    bytes += (await new Response(packed).bytes()).length;
  }
  assert(bytes < MOST_BYTES, `${bytes} bytes`);
});
