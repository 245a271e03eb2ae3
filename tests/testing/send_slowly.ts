// A request whose body takes long: something happens after its beginning has come.
import { pause } from "../../lib/core/pause.ts";
import type { StartedApp } from "./start_app.ts";

/** The request. */
export interface SlowRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends a few characters of the text, and the rest after `meanwhile` and a sweep of those who watch bodies. */
export async function sendSlowly(
  { app, deps: { bodyWatch } }: StartedApp,
  { path, headers, text }: SlowRequest,
  meanwhile: () => Promise<void>,
): Promise<Response> {
  const rest = Promise.withResolvers<string>();
  const pieces = [Promise.resolve(text.slice(0, 9)), rest.promise];
  const body = new ReadableStream<string>({
    pull: async (controller) => {
      const piece = await pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
  const answering = Promise.resolve(
    app.request(path, { method: "POST", headers, body: body.pipeThrough(new TextEncoderStream()) }),
  );
  while (bodyWatch.pending === 0) await pause(1);
  await meanwhile();
  bodyWatch.sweep();
  rest.resolve(text.slice(9));
  return await answering;
}
