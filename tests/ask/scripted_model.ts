// A model that says what a test tells it to, and remembers what it was asked.
import type { AskModel, AskProposal, AskRequest } from "../../lib/services/ask/model/ask_model.ts";
import { readModelAnswer } from "../../lib/services/ask/model/chat_model.ts";

export class ScriptedModel implements AskModel {
  readonly repairs = true;
  readonly asked: AskRequest[] = [];
  readonly #answers: string[];

  /** Texts as a language model would write them, one a round; the last one is given again. */
  constructor(...answers: readonly string[]) {
    this.#answers = [...answers];
  }

  propose(request: AskRequest): Promise<AskProposal> {
    this.asked.push(request);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    return Promise.resolve(readModelAnswer(answer ?? ""));
  }
}
