// One call to either side of a move.
import { type Api, type ApiBody, callApi } from "./api_call.ts";

/** Something is in the way, in one sentence for whoever runs the command. */
export class CopyError extends Error {
  override readonly name = "CopyError";
}

/** `data` of an answer that has to be a success. Errors: `CopyError` with the words of the service. */
export async function ask(
  api: Api,
  which: string,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<unknown> {
  return dataOf(await callApi(api, method, path, body), which);
}

/** The same of any answer. Errors: as `ask`. */
export async function bodyOf(response: Response, which: string): Promise<unknown> {
  const text = await response.text();
  try {
    return dataOf(JSON.parse(text), which);
  } catch (error) {
    if (error instanceof CopyError) throw error;
    throw new CopyError(`no answer of the ${which} (HTTP ${response.status})`);
  }
}

function dataOf({ success, data, error, code, issues }: ApiBody, which: string): unknown {
  if (success) return data;
  const reasons = Array.isArray(issues) ? issues.map((issue) => `${issue?.path}: ${issue?.message}`) : [];
  throw new CopyError([`the ${which} says ${code}: ${error}`, ...reasons].join("\n  "));
}
