// Every example of README and the pages is run as it stands there, all on one service: in the order of the contents, and
// backwards, so that no page needs another one or is in its way. A block that needs more than the service says so to its
// readers, and is left out.
import { assert, assertEquals } from "@std/assert";
import { normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { repository } from "../architecture/source_files.ts";
import { startService } from "../testing/start_service.ts";
import { docPages } from "../../routes/docs/pages.ts";
import { type Block, blocksOf, type DocFile, docFile, docFiles } from "./doc_files.ts";

const EXAMPLE_ADDRESS = "http://127.0.0.1:8000";
const RUN = ["sh", "js"];
const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", repository)));

/** What needs nothing, and programs that need a package which the tests have. */
function isRun({ language, needs }: Block): boolean {
  return RUN.includes(language) && (needs === null || needs in imports);
}

/** Says the status of each call where the test reads it; a reader's `curl` says nothing of it. */
const CURL = `curl() { command curl --max-time 30 -w '%{stderr}HTTP %{http_code}\\n' "$@"; }`;

interface Bearers {
  readonly url: string;
  readonly token: string;
  readonly operatorKey: string;
}

/**
 * The block as a reader pastes it: with the keys that the first start has printed. The libSQL client comes without the
 * engine that it has for files, which is a native package.
 */
function pasted({ text }: Block, { url, token, operatorKey }: Bearers): string {
  return text.replaceAll(EXAMPLE_ADDRESS, url).replaceAll("cub_live_…", token)
    .replaceAll("cub_op_…", operatorKey).replace('"@libsql/client"', '"@libsql/client/http"');
}

/** The words that README introduces before its examples, which those of the pages use too. */
async function setUp(): Promise<Block> {
  const found = blocksOf(await docFile("README.md")).find(({ text }) => text.startsWith("export TOKEN="));
  assert(found, "README has no block that sets TOKEN");
  return found;
}

/** Runs the shell blocks of a page in one shell, each of its programs in JavaScript behind those before it. */
async function runPage(file: DocFile, bearers: Bearers): Promise<void> {
  const blocks = blocksOf(file).filter(isRun);
  if (blocks.length === 0) return;
  const folder = await Deno.makeTempDir({ prefix: "cubby_examples_" });
  try {
    const setUpText = pasted(await setUp(), bearers);
    const script: string[] = ["set -eu", CURL, setUpText];
    for (const block of blocks) {
      const at = `${file.path}:${block.line}`;
      script.push(`echo; echo '== ${at}'; echo '== ${at}' >&2`);
      if (block.language === "sh") {
        script.push(pasted(block, bearers));
        continue;
      }
      const path = `${folder}/${block.line}.js`;
      await Deno.writeTextFile(path, pasted(block, bearers));
      const config = block.needs === null
        ? "--no-config"
        : `--config '${fileURLToPath(new URL("deno.json", repository))}'`;
      script.push(`'${Deno.execPath()}' run ${config} -A '${path}'`);
    }
    const { success, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script.join("\n")],
      cwd: folder,
      env: { NO_COLOR: "1" },
    }).output();
    const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert(success, `${file.path}\n${output}\n${errors}`);
    for (const block of blocks) {
      checkBlock(file, block, partOf(output ?? "", file, block), partOf(errors ?? "", file, block));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What was written while the block ran. */
function partOf(text: string, file: DocFile, block: Block): string {
  const start = text.split(`== ${file.path}:${block.line}\n`)[1] ?? "";
  return start.split(/^== /m)[0] ?? "";
}

/** A block may be answered by a failure only where the answer that the page shows behind it is one, or a write is held. */
function checkBlock(file: DocFile, block: Block, output: string, errors: string): void {
  const shown = answerBehind(file, block);
  const at = `${file.path}:${block.line}\n${output}\n${errors}`;
  const failures = [...errors.matchAll(/^HTTP ([45]\d\d)$/gm)].map(([, status]) => status);
  assert(!output.includes('"isError":true'), at);
  const held = output.split('"code":"approval_required"').length - 1;
  if (held > 0) assertEquals(failures, Array.from({ length: held }, () => "403"), at);
  else if (!shown?.text.includes('"success": false')) assertEquals(failures, [], at);
  if (shown === null) return;
  const answers = output.split("\n").flatMap((line) => line.startsWith("{") ? [JSON.parse(line)] : []);
  assert(answers.some((answer) => fits(JSON.parse(shown.text), answer)), `not as shown: ${at}`);
}

/** The JSON block that comes right behind, with a line or two between. */
function answerBehind(file: DocFile, block: Block): Block | null {
  const blocks = blocksOf(file);
  const next = blocks[blocks.findIndex(({ line }) => line === block.line) + 1];
  return next?.language === "json" && next.needs === null ? next : null;
}

/** Whether the answer has what is shown: `"…"` stands for any value, and `"…": "…"` for further members. */
function fits(shown: unknown, answer: unknown): boolean {
  if (shown === "…") return true;
  if (typeof shown === "string" && typeof answer === "string" && shown.includes("…")) {
    return new RegExp(`^${shown.split("…").map(RegExp.escape).join(".*")}$`).test(answer);
  }
  if (Array.isArray(shown)) {
    if (!Array.isArray(answer)) return false;
    const open = shown.at(-1) === "…";
    const items = open ? shown.slice(0, -1) : shown;
    return (open || answer.length === items.length) &&
      items.every((item, index) => fits(item, answer[index]));
  }
  if (typeof shown !== "object" || shown === null) return Object.is(shown, answer);
  if (typeof answer !== "object" || answer === null) return false;
  const members = Object.entries(shown).filter(([name]) => name !== "…");
  const there = new Map(Object.entries(answer));
  return members.every(([name, value]) => there.has(name) && fits(value, there.get(name))) &&
    ("…" in shown || there.size === members.length);
}

/** In the order of the contents: as somebody reads who begins at the start. */
const files = await Promise.all(docPages.map(({ file }) => docFile(normalize(`routes/docs/${file}`))));

for (
  const [order, pages] of [
    ["as they stand there, page after page", files],
    ["from the last page to the first: none needs another one", files.toReversed()],
  ] as const
) {
  Deno.test(`the examples run ${order}`, async (t) => {
    const folder = await Deno.makeTempDir({ prefix: "cubby_docs_" });
    try {
      await using service = await startService({ folder, settings: { TENANTS_URL: "" } });
      const bearers = {
        url: service.url,
        token: /cub_live_\w+/.exec(service.output())?.[0] ?? "",
        operatorKey: /cub_op_\w+/.exec(service.output())?.[0] ?? "",
      };
      for (const file of pages) await t.step(file.path, () => runPage(file, bearers));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("every block says its language, and why it is not run where it is not", async () => {
  const languages = new Set<string>();
  for (const file of await docFiles()) {
    for (const { language, text, line, needs } of blocksOf(file)) {
      // Who reads why a block is not run may read it in any language.
      if (needs === null) languages.add(language);
      // What people would paste is no block of mere text.
      const isCommand = /^(curl|as|deno|npx|docker|export) /m.test(text);
      assert(!isCommand || language === "sh", `${file.path}:${line}`);
    }
  }
  assertEquals([...languages].sort().filter((one) => !["", "js", "json", "sh", "sql"].includes(one)), []);
});

Deno.test("the check of shown answers sees what differs", () => {
  const answer = { success: true, data: { rows: [[1, "a"]], id: "db_1" } };
  assert(fits({ success: true, data: { rows: [[1, "…"]], id: "db_…" } }, answer));
  assert(fits({ success: true, "…": "…" }, answer));
  for (
    const shown of [
      { success: true },
      { success: false, "…": "…" },
      { success: true, data: { rows: [[2, "a"]], id: "…" } },
      { success: true, data: { rows: [], id: "…" } },
      { success: true, data: { rows: [[1, "a"]], id: "tok_…" } },
    ]
  ) assertEquals(fits(shown, answer), false);
});
