// Short ways to mint and redeem over the API.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { member, type TestToken } from "../testing/test_namespace.ts";

export interface Asking {
  readonly request: (
    method: string,
    path: string,
    options?: { token?: string; body?: unknown },
  ) => Promise<ApiAnswer>;
}

export const MAIN = "/v1/db/acme/main";

/** The answer to a mint in `acme/main`, unless another database path is given. */
export function mint(
  { request }: Asking,
  token: string,
  body: unknown = { role: "read", ttlSec: 600 },
  path = MAIN,
): Promise<ApiAnswer> {
  return request("POST", `${path}/handoff`, { token, body });
}

export function redeem({ request }: Asking, token: unknown, name: unknown = "helper"): Promise<ApiAnswer> {
  return request("POST", "/v1/handoff/redeem", { body: { token, name } });
}

/** The secret of a fresh handoff. */
export async function minted(asking: Asking, token: string, role = "read", path = MAIN): Promise<string> {
  const answer = await mint(asking, token, { role, ttlSec: 600 }, path);
  assertEquals(answer.status, 201, answer.text);
  return member(answer, "token");
}

/** Hands off from `token` and redeems: the new token. */
export async function handedOff(asking: Asking, token: string, role = "read"): Promise<TestToken> {
  const answer = await redeem(asking, await minted(asking, token, role));
  assertEquals(answer.status, 201, answer.text);
  return { id: member(answer, "tokenId"), token: member(answer, "token") };
}

/** `404 handoff_not_found` and so on. */
export function outcome({ status, body }: ApiAnswer): string {
  return body.code === undefined ? `${status}` : `${status} ${body.code}`;
}
