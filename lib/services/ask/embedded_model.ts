// The embedded translator, loaded when somebody first asks.
import type { AskModel, AskProposal, AskRequest } from "./model/ask_model.ts";

/** Answers without a server. */
export class EmbeddedModel implements AskModel {
  readonly repairs = false;

  async propose(request: AskRequest): Promise<AskProposal> {
    const { EmbeddedTranslator } = await import("./translate/embedded_translator.ts");
    return await new EmbeddedTranslator().propose(request);
  }
}
