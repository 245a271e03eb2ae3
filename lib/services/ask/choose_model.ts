// Which model answers the questions of this process.
import type { Config } from "../../config.ts";
import type { Log } from "../../core/log.ts";
import { EmbeddedModel } from "./embedded_model.ts";
import type { AskModel } from "./model/ask_model.ts";
import { ChatModel } from "./model/chat_model.ts";

/** Who writes the SQL of questions: the configured server, or the embedded translator where there is none. */
export function chooseModel(
  { askUrl, askKey, askModel, askTimeoutMs }: Pick<Config, "askUrl" | "askKey" | "askModel" | "askTimeoutMs">,
  parts: { readonly fetch: typeof fetch; readonly log: Log },
): AskModel {
  if (askUrl === null) return new EmbeddedModel();
  return new ChatModel({ url: askUrl, key: askKey, model: askModel, timeoutMs: askTimeoutMs, ...parts });
}
