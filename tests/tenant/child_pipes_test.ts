// The service's ends of a child's pipes, by the runtime's own functions and by its streams: they do the same.
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type ChildPipes,
  findPipeFunctions,
  type PipeFunctions,
  startWithPipes,
} from "../../lib/tenant/local/pool/child_pipes.ts";

const decoder = new TextDecoder();
const WAYS: readonly (readonly [name: string, functions: PipeFunctions | null])[] = [
  ["functions of the runtime", findPipeFunctions()],
  ["streams", null],
];

Deno.test("this runtime has the functions under its streams, and another one is told from it", () => {
  assert(findPipeFunctions() !== null, "every frame goes through two streams now");
  const key = Symbol("internal");
  const read = () => {};
  for (
    const other of [
      {},
      { internal: "internal" },
      { internal: key, [key]: null },
      { internal: key, [key]: { core: { read, writeAll: read } } },
      { internal: key, [key]: { core: { read, writeAll: read, resources: "none" } } },
    ]
  ) assertEquals(findPipeFunctions(other), null);
});

for (const [name, functions] of WAYS) {
  const withCat = (work: (pipes: ChildPipes, cat: Deno.ChildProcess) => Promise<void>) => async () => {
    const start = () => new Deno.Command("cat", { stdin: "piped", stdout: "piped" }).spawn();
    const { process, pipes } = startWithPipes(start, functions);
    try {
      await work(pipes, process);
    } finally {
      await pipes.endInput();
      await process.status;
      await pipes.close();
    }
  };

  Deno.test(
    `${name}: what is written comes back in its order, then the end`,
    withCat(async (pipes) => {
      await pipes.write(new TextEncoder().encode("first"));
      assertEquals(decoder.decode(await pipes.read() ?? undefined), "first");
      // Longer than the pipe, and not waited for.
      const parts = ["a", "b", "c"].map((letter) => letter.repeat(300_000));
      const written = parts.map((part) => pipes.write(new TextEncoder().encode(part)));
      const ended = pipes.endInput();
      let text = "";
      for (let bytes = await pipes.read(); bytes !== null; bytes = await pipes.read()) {
        text += decoder.decode(bytes);
      }
      assert(text === parts.join(""), `${text.length} characters came`);
      await Promise.all(written);
      await ended;
    }),
  );

  Deno.test(
    `${name}: a process that was killed ends what is read, and what is written fails`,
    withCat(async (pipes, cat) => {
      const reading = pipes.read();
      cat.kill("SIGKILL");
      assertEquals(await reading, null);
      await cat.status;
      await assertRejects(() => pipes.write(new Uint8Array(1)));
    }),
  );

  Deno.test(
    `${name}: the input of a killed process ends, and a second end is none`,
    withCat(async (pipes, cat) => {
      cat.kill("SIGKILL");
      await cat.status;
      await pipes.endInput();
      await pipes.endInput();
      await pipes.close();
    }),
  );
}
