// Which addresses are of the public network, and a look-up of names that leads to no others: a connection goes to exactly
// the addresses that were looked at, so neither a name nor a second answer for it leads into this network.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { ClientRequest } from "node:http";
import type { RequestOptions } from "node:https";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** What a test puts in the place of the network. */
export interface PublicNetwork {
  readonly lookup: (host: string) => Promise<readonly LookupAddress[]>;
  readonly isPublic: (address: string) => boolean;
  /** Certificates that count beside those of the system; absent: none. */
  readonly ca?: string;
}

/** The network as it is. */
export const internet: PublicNetwork = {
  lookup: (host) => lookup(host, { all: true, verbatim: true }),
  isPublic: isPublicAddress,
};

/** Where Azure answers each of its machines for that machine alone, though the address is of the public range. */
const AZURE_HOST = "168.63.129.16";

/** Whether an address is one of the public network and not this machine's own: an IPv4 inside an IPv6 counts as itself. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const plain = ipaddr.process(address);
  // No other part of IPv6 is given out; `::10.0.0.1`, an old form of an IPv4 address, is in none.
  if (plain instanceof ipaddr.IPv6 && !plain.match(ipaddr.IPv6.parse("2000::"), 3)) return false;
  return plain.range() === "unicast" && plain.toString() !== AZURE_HOST && !isOwn(address);
}

/** What other machines call this one by, which leads to what listens for this machine alone. */
function isOwn(address: string): boolean {
  const plain = ipaddr.process(address).toNormalizedString();
  const own = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  return own.some(({ address }) =>
    ipaddr.process(address.replace(/%.*$/, "")).toNormalizedString() === plain
  );
}

/** The `lookup` of a request: it fails where one of the addresses is not public. An address in place of a name skips it. */
export function pinnedLookup(network: PublicNetwork): NonNullable<RequestOptions["lookup"]> {
  return (host, asked, done) => {
    network.lookup(host).then((found) => {
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => network.isPublic(address))) {
        done(new NotPublic(), []);
      } else if ("all" in asked && asked.all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    }, (error: Error) => done(error, []));
  };
}

/** Interim answers (1xx) that a stranger may send before its answer: HTTP bounds them nowhere. */
const MOST_INTERIM = 16;

/**
 * Fails a request whose receiver sends one interim answer after the other, or 101. Each interim one costs the process a turn:
 * read as fast as they come, they keep everything else from its own until the request's time is up. Behind a 101 that nobody
 * takes, the runtime's client tells neither an answer nor an error, not even when the time is up.
 */
export function boundInterim(asking: ClientRequest, fail: (error: Error) => void): void {
  let received = 0;
  asking.on("upgrade", (_answer, socket) => {
    socket.destroy();
    fail(new Error("the protocol was switched"));
  });
  asking.on("information", () => {
    if (++received <= MOST_INTERIM) return;
    // At once: an answer that has come along with them is still told after the end.
    fail(new Error("too many interim answers"));
    asking.destroy();
  });
}

/** A name that leads to an address that is not public. */
export class NotPublic extends Error {
  override readonly name = "NotPublic";
}
