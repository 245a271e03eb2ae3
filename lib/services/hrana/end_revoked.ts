// Ends what clients of libSQL hold open with a token that is no longer good: sockets, and transactions between two requests. A
// request of theirs would be refused anyway; these hold something while nothing is asked of them.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import type { KeptStreams } from "./kept_streams.ts";
import type { OpenSocket } from "./open_sockets.ts";

/** The parts of the process that it looks at. */
export interface EndRevokedContext {
  readonly control: { readonly tokens: Pick<ControlPlane["tokens"], "byId"> };
  readonly clock: Clock;
  readonly hrana: {
    readonly kept: Pick<KeptStreams, "owners" | "endOf">;
    readonly sockets: Iterable<OpenSocket>;
  };
}

/** Each token is looked up once, however much it has open. Errors: those of KV, which leave the rest for the next time. */
export async function endRevoked(
  { control, clock, hrana: { kept, sockets } }: EndRevokedContext,
): Promise<void> {
  const open = [...sockets].flatMap(({ owner }) => owner ?? []);
  const owners = new Map([...open, ...kept.owners()].map((owner) => [owner.tokenId, owner]));
  for (const { namespaceId, tokenId } of owners.values()) {
    const token = await control.tokens.byId(namespaceId, tokenId);
    if (token !== null && (token.expiresAt === null || token.expiresAt > clock.now())) continue;
    for (const socket of sockets) if (socket.owner?.tokenId === tokenId) socket.end("The token is gone");
    kept.endOf(tokenId);
  }
}
