// What is ended because its token is no longer good, while nothing is asked of it.
import { assertEquals } from "@std/assert";
import { endRevoked } from "../../lib/services/hrana/end_revoked.ts";
import type { TokenRecord } from "../../lib/store/records.ts";

Deno.test("a token that is gone or whose time is over loses its sockets and streams, and no other does", async () => {
  const nowMs = 1000;
  const expires: Record<string, number | null> = { live: nowMs + 1, always: null, over: nowMs };
  const looked: string[] = [];
  const ended: string[] = [];
  const ownerOf = (tokenId: string) => ({ namespaceId: "ns_1", tokenId });
  const socketOf = (tokenId: string | null) => ({
    owner: tokenId === null ? null : ownerOf(tokenId),
    ...{ held: 0, heard: 0 },
    end: () => void ended.push(`socket ${tokenId}`),
  });
  await endRevoked({
    clock: { now: () => nowMs, monotonicMs: () => 0 },
    control: {
      tokens: {
        byId: (_namespaceId, tokenId) => {
          looked.push(tokenId);
          const expiresAt = expires[tokenId];
          return Promise.resolve(expiresAt === undefined ? null : { ...record, expiresAt });
        },
      },
    },
    hrana: {
      kept: {
        owners: () => ["over", "live", "gone"].map(ownerOf),
        endOf: (tokenId) => void ended.push(`streams ${tokenId}`),
      },
      sockets: [null, "live", "always", "over", "over"].map(socketOf),
    },
  });
  assertEquals(looked.toSorted(), ["always", "gone", "live", "over"]);
  assertEquals(ended.toSorted(), ["socket over", "socket over", "streams gone", "streams over"]);
});

const record: TokenRecord = {
  ...{ id: "tok_1", namespaceId: "ns_1", name: "t", role: "write", scopes: [], hash: "", createdAt: 0 },
  expiresAt: null,
};
