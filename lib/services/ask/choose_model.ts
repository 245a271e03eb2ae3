// Chooses who writes the SQL in this process: the configured server, or the embedded translator where there is none.
import type { Log } from "../../core/log.ts";
import type { AskModel } from "./model/ask_model.ts";
import { ChatModel } from "./model/chat_model.ts";
import { EmbeddedTranslator } from "./translate/embedded_translator.ts";

/** The settings that decide. */
export interface AskSettings {
  readonly askUrl: string | null;
  readonly askKey: string | null;
  readonly askModel: string | null;
}

/** The model of this process. */
export function chooseModel(settings: AskSettings, parts: { fetch: typeof fetch; log: Log }): AskModel {
  const { askUrl, askKey, askModel } = settings;
  if (askUrl === null) return new EmbeddedTranslator();
  return new ChatModel({ url: askUrl, key: askKey, model: askModel, ...parts });
}
