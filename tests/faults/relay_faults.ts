// What a network can do to one request, by name.
import type { Go, RelayAnswer } from "../testing/relay.ts";
import { pause } from "../../lib/core/pause.ts";

export type Fault = (go: Go, cut: () => void) => Promise<RelayAnswer>;

export const faults: Readonly<Record<string, Fault>> = {
  "cut before it arrived": () => Promise.resolve(null),
  "answer cut": async (go) => {
    await go("alone");
    return null;
  },
  "half of the answer": async (go) => ({ half: await go("alone") }),
  "another server's words instead of the answer": async (go) => {
    await go("alone");
    return { first: "HTTP/1.1 502 Bad Gateway", headers: [], body: new TextEncoder().encode("secret") };
  },
  "late": async (go) => {
    await pause(120);
    return await go();
  },
  "cut, and there a little later": async (go, cut) => {
    cut();
    await pause(20);
    await go("alone");
    return null;
  },
  "cut, and there behind what came later": async (go, cut) => {
    cut();
    await pause(500);
    await go("alone");
    return null;
  },
  "twice": async (go) => {
    const answer = await go("alone");
    void go("alone").catch(() => {});
    return answer;
  },
  "twice, and the copy's answer": async (go) => {
    await go("alone");
    return await go("alone");
  },
  "twice at once": (go) => Promise.race([go("alone"), go("alone")]),
};
