// The program of the thread that compiles what takes long, with an engine in memory of its own: `node:sqlite` has one bound
// of memory for all of the process, that of Deno KV included, and could not be ended.
/// <reference lib="deno.worker" />
import { TextMap } from "../../../core/text_map.ts";
import { readSyntax, type SyntaxResult } from "../../../sql/grammar/syntax.ts";
import { compiledSchema } from "./compiled_schema.ts";
import { answerRequest, type SentRequest, type ThreadReply } from "./gate_request.ts";
import { GateCompiler } from "./gate_compiler.ts";
import { wasmBytes } from "./wasm_schema_connection.ts";

/** A call is asked about more than once. */
const syntaxes = new TextMap<SyntaxResult>({ texts: 1000, characters: 10_000_000 });

function syntaxOf(sql: string): SyntaxResult {
  const known = syntaxes.get(sql);
  if (known) return known;
  const read = readSyntax(sql);
  syntaxes.put(sql, read);
  return read;
}

/** Bytes of the engine's memory, which never gets smaller, from which another thread does the next work. */
const USED_UP_BYTES = 128 * 1024 * 1024;

function reply(message: ThreadReply): void {
  self.postMessage(message);
}

async function answer({ version, schema, request }: SentRequest): Promise<void> {
  const compiler = new GateCompiler(version, await compiledSchema("wasm", schema), { syntax: syntaxOf });
  const usedUp = async () => await wasmBytes() > USED_UP_BYTES;
  try {
    reply({ is: "answer", answer: answerRequest(compiler, request), usedUp: await usedUp() });
  } catch (error) {
    const message = error instanceof Error ? error.message : "unknown";
    reply({ is: "failure", message, usedUp: await usedUp() });
  }
}

self.onmessage = ({ data }: MessageEvent<SentRequest>) => void answer(data);

reply({ is: "ready" });
