// Compares databases whose texts a server may be unable to send.
import type { Reading } from "../../branches/row_pages.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";

/**
 * The work, and once more where a text is no UTF-8: by the bytes of texts, which takes longer. Such a failure ends the
 * server's transaction, so nothing is committed then. Throws what the work throws.
 */
export async function withAnyTexts<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
  try {
    return await work("lines");
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === "invalid_text") return await work("bytes");
    throw error;
  }
}
