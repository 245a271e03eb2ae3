// Answers a client of the protocol's version 1 over HTTP (HTTP_V1_SPEC): one statement or one batch, and no stream between two
// requests.
import type { PipelineAnswer } from "./answer_pipeline.ts";
import { answerRequest } from "./answer_request.ts";
import { refusalIn } from "./check_request.ts";
import type { DoorContext, DoorOptions, StreamRequest } from "./hrana_types.ts";
import { StoredTexts } from "./stored_texts.ts";
import { HranaStream } from "./stream.ts";

/** What version 1 may ask for. */
type OnceRequest = Extract<StreamRequest, { type: "execute" | "batch" }>;

/** The answer `{"result":…}`. A transaction that the request leaves open is rolled back. Errors: those of the request. */
export async function answerOnce(
  ctx: DoorContext,
  request: OnceRequest,
  options: DoorOptions,
): Promise<PipelineAnswer> {
  const stream = new HranaStream(new StoredTexts());
  let calls = 0;
  const running = { ctx, options, stream, opens: () => calls++ === 0, isOnly: true, closes: true };
  try {
    const refusal = await refusalIn(ctx, [request], (id) => stream.texts.find(id));
    if (refusal !== null) throw refusal;
    const { response, replayed } = await answerRequest(running, request, "");
    // Other versions say in their answer what was asked for.
    return { body: response.replace(`"type":"${request.type}",`, ""), replayed };
  } finally {
    await stream.close();
  }
}
