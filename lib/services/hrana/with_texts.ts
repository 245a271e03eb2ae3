// Texts that a socket has stored are looked up when a request arrives: it may wait for others, and the text be closed meanwhile.
import type { WireStatement, WireText } from "./hrana_types.ts";
import type { SocketRequest } from "./socket_types.ts";
import type { StoredTexts } from "./stored_texts.ts";

/** The request with its texts; storing and closing texts takes effect here. Errors: those of `StoredTexts.store`. */
export function withTexts(request: SocketRequest, texts: StoredTexts): SocketRequest {
  const own = <Text extends WireText>(text: Text): Text => {
    const stored = typeof text.sql === "string" || typeof text.sql_id !== "number"
      ? undefined
      : texts.find(text.sql_id);
    return stored === undefined ? text : { ...text, sql: stored, sql_id: null };
  };
  const steps = (batch: { readonly steps: readonly { readonly stmt: WireStatement }[] }) => ({
    steps: batch.steps.map((step) => ({ ...step, stmt: own(step.stmt) })),
  });
  switch (request.type) {
    case "store_sql":
      texts.store(request.sql_id, request.sql);
      return request;
    case "close_sql":
      texts.remove(request.sql_id);
      return request;
    case "execute": {
      const stmt = own(request.stmt);
      return stmt === request.stmt ? request : { ...request, stmt };
    }
    case "batch":
    case "open_cursor":
      return { ...request, batch: steps(request.batch) };
    case "sequence":
    case "describe":
      return own(request);
    default:
      return request;
  }
}
