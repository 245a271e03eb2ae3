// Asks an OpenAI-compatible server for SQL. The key is sent to that one address and appears nowhere else.
import { AppError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { AskModel, AskProposal, AskRequest } from "./ask_model.ts";
import { chatMessages } from "./chat_messages.ts";
import { jsonOf } from "../../../core/json_of.ts";

/** Bounds of one round: tokens and bytes of its answer. */
const MAX_TOKENS = 1000;
const MAX_ANSWER_BYTES = 262_144;

/** How to reach the server. */
export interface ChatModelOptions {
  /** The base address, as `https://host/v1`. */
  readonly url: string;
  readonly key: string | null;
  /** Null: the server's own choice. */
  readonly model: string | null;
  readonly fetch: typeof fetch;
  /** Until the last byte of an answer. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** A client of one server. */
export class ChatModel implements AskModel {
  readonly repairs = true;
  readonly #options: ChatModelOptions;

  constructor(options: ChatModelOptions) {
    this.#options = options;
  }

  async propose(request: AskRequest): Promise<AskProposal> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), this.#options.timeoutMs);
    try {
      const signals = request.signal === null ? [stop.signal] : [stop.signal, request.signal];
      const response = await this.#send(request, AbortSignal.any(signals));
      if (!response.ok) {
        await response.body?.cancel();
        throw this.#unavailable(`status ${response.status}`, waitOf(response.headers.get("retry-after")));
      }
      return readModelAnswer(contentOf(await readBounded(response)));
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The error's own words could contain the address or what was sent.
      throw this.#unavailable(stop.signal.aborted ? "timeout" : "no usable answer");
    } finally {
      clearTimeout(timer);
    }
  }

  #send(request: AskRequest, signal: AbortSignal): Promise<Response> {
    const { url, key, model } = this.#options;
    return this.#options.fetch(`${url.replace(/\/+$/, "")}/chat/completions`, {
      method: "POST",
      // A redirect would take the key elsewhere.
      redirect: "error",
      headers: {
        "content-type": "application/json",
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        ...(model === null ? {} : { model }),
        messages: chatMessages(request),
        temperature: 0,
        max_tokens: MAX_TOKENS,
        stream: false,
      }),
      signal,
    });
  }

  /** A question is not asked again here: the caller waits as long as the server says, and decides. */
  #unavailable(reason: string, retryAfterSec: number | null = null): AppError {
    this.#options.log("warn", "ask_model_failed", { reason });
    return new AppError("ask_unavailable", retryAfterSec === null ? {} : { retryAfterSec });
  }
}

/** Seconds that a server asks to wait, at most ten minutes; null where it says none, or a date. */
function waitOf(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Math.min(Math.max(Number(header), 1), 600) : null;
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new RangeError("the answer is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** `choices[0].message.content`; throws for anything else. */
function contentOf(text: string): string {
  const value: unknown = JSON.parse(text);
  const choices = member(value, "choices");
  const content = member(member(Array.isArray(choices) ? choices[0] : null, "message"), "content");
  if (typeof content !== "string") throw new TypeError("the answer has no content");
  return content;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Characters of SQL that a question may need. */
const MAX_SQL = 20_000;

/**
 * Reads the SQL in what a language model wrote: JSON, one fenced block, or bare SQL. It checks only the form; whether
 * the SQL may run is decided elsewhere. Never throws.
 */
export function readModelAnswer(text: string): AskProposal {
  const trimmed = text.trim();
  const whole = readObject(trimmed);
  if (whole !== null) return whole;
  const blocks = [...trimmed.matchAll(/```[^\n`]*\n([^]*?)```/g)].map((match) => (match[1] ?? "").trim());
  const [only, ...more] = blocks;
  if (only !== undefined && more.length === 0) return readObject(only) ?? proposal(only, null);
  if (blocks.length === 0 && /^(?:SELECT|WITH|VALUES)\b/i.test(trimmed)) return proposal(trimmed, null);
  return nothing;
}

const nothing: AskProposal = { ok: false, reason: "the language model gave no statement" };

/** Null when the text is no JSON object. */
function readObject(text: string): AskProposal | null {
  if (!text.startsWith("{")) return null;
  const value = jsonOf(text);
  if (typeof value !== "object" || value === null) return null;
  const sql: unknown = Reflect.get(value, "sql");
  const explanation: unknown = Reflect.get(value, "explanation");
  if (typeof sql !== "string") return nothing;
  return proposal(sql, typeof explanation === "string" ? explanation : null);
}

function proposal(sql: string, explanation: string | null): AskProposal {
  if (sql.trim() === "" || sql.length > MAX_SQL) return nothing;
  return { ok: true, sql: sql.trim(), explanation };
}
