// Which addresses are of the public network, and a look-up of names that leads to no others: a connection goes to exactly
// the addresses that were looked at, so neither a name nor a second answer for it leads into this network.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
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

/** Whether an address is one of the public network and not this machine's own: an IPv4 inside an IPv6 counts as itself. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast" && !isOwn(address);
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

/** A name that leads to an address that is not public. */
export class NotPublic extends Error {
  override readonly name = "NotPublic";
}
