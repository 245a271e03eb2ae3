// Streams between two requests: how often a baton counts, and which streams end where there are too many or they rest too long.
import { assertEquals } from "@std/assert";
import { KeyedHashes } from "../../lib/control/keyed_hashes.ts";
import { AppError } from "../../lib/core/errors.ts";
import { MAX_KEPT_STREAMS, MAX_STORED_CHARACTERS, STREAM_IDLE_MS } from "../../lib/core/limits_hrana.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { type ClaimedStream, KeptStreams } from "../../lib/services/hrana/kept_streams.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

/** Guarantee: a stream asks its caller for nothing else here. */
function callerOf(tokenId: string): DoorContext {
  const target = { namespaceId: "ns_1", databaseId: "db_1" };
  return { tokenId, target } as DoorContext;
}

type Transaction = Parameters<ClaimedStream["stream"]["resume"]>[0];

/** Guarantee: of an open transaction nothing else is asked here. */
function openTransaction(abandoned: () => void): Transaction {
  const own: Pick<Transaction, "autocommit" | "lost" | "rest" | "abandon"> = {
    ...{ autocommit: false, lost: null, rest: () => null, abandon: abandoned },
  };
  return own as Transaction;
}

interface Kept {
  readonly kept: KeptStreams;
  readonly clock: TurnableClock;
  /** Batons of streams that were abandoned. */
  readonly abandoned: string[];
  /** Keeps a new stream with an open transaction and so many characters of text; answers its baton. */
  open(tokenId?: string, characters?: number): Promise<string>;
  claim(baton: string, tokenId?: string): Promise<ClaimedStream>;
  /** The code with which a claim is refused; null where it is good, and then the stream is kept again. */
  refusal(baton: string, tokenId?: string): Promise<string | null>;
}

async function withKept(body: (kept: Kept) => Promise<void>): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  const kept = new KeptStreams({ clock, hashes: new KeyedHashes(kv), resume: null });
  const abandoned: string[] = [];
  const claim = async (baton: string, tokenId = "a") => await kept.claim(callerOf(tokenId), baton);
  await body({
    ...{ kept, clock, abandoned, claim },
    open: async (tokenId = "a", characters = 1) => {
      const claimed = await kept.claim(callerOf(tokenId), null);
      claimed.stream.texts.store(1, "x".repeat(characters));
      claimed.stream.resume(openTransaction(() => abandoned.push(baton)));
      const baton = await kept.keep(callerOf(tokenId), claimed) ?? "";
      return baton;
    },
    refusal: async (baton, tokenId = "a") => {
      try {
        await kept.keep(callerOf(tokenId), await claim(baton, tokenId));
        return null;
      } catch (error) {
        return error instanceof AppError ? error.code : String(error);
      }
    },
  });
}

Deno.test("a baton counts once, for its token, and not while its request runs", async () => {
  await withKept(async ({ kept, open, claim, refusal }) => {
    const first = await open();
    assertEquals(await refusal(first, "b"), "baton_invalid");
    const claimed = await claim(first);
    assertEquals(await refusal(first), "baton_invalid");
    const second = await kept.keep(callerOf("a"), claimed) ?? "";
    assertEquals(await refusal(first), "baton_invalid");
    assertEquals(await refusal(second), null);
  });
});

Deno.test("of too many streams of a token those end that rest longest, with what they have open", async () => {
  await withKept(async ({ abandoned, open, claim, refusal }) => {
    const others = await open("b");
    const batons: string[] = [];
    for (let at = 0; at < MAX_KEPT_STREAMS; at++) batons.push(await open());
    const [working = "", longest = "", next = ""] = batons;
    await claim(working);
    assertEquals(abandoned, []);
    await open();
    assertEquals(abandoned, [longest]);
    assertEquals(await refusal(longest), "stream_expired");
    for (const [baton, token] of [[next, "a"], [others, "b"]] as const) {
      assertEquals(await refusal(baton, token), null);
    }
  });
});

Deno.test("a stream of which nothing is asked for ten minutes ends with the next that is kept", async () => {
  await withKept(async ({ clock, abandoned, open, refusal }) => {
    const early = await open();
    clock.turn(STREAM_IDLE_MS / 2);
    const late = await open("b");
    clock.turn(STREAM_IDLE_MS / 2);
    await open("c");
    assertEquals(abandoned, [early]);
    assertEquals(await refusal(late, "b"), null);
  });
});

Deno.test("of too many texts of a token those end that rest longest, and none of another's", async () => {
  await withKept(async ({ abandoned, open }) => {
    const others = await open("b", MAX_STORED_CHARACTERS);
    const first = await open("a", MAX_STORED_CHARACTERS / 2);
    const second = await open("a", MAX_STORED_CHARACTERS / 2);
    assertEquals(abandoned, []);
    await open("a");
    assertEquals(abandoned, [first]);
    await open("a", MAX_STORED_CHARACTERS);
    assertEquals([abandoned.includes(second), abandoned.includes(others)], [true, false]);
  });
});

Deno.test("of too many texts of all tokens those end that rest longest, and no more than have to", async () => {
  await withKept(async ({ abandoned, open }) => {
    const batons: string[] = [];
    for (let at = 0; at < 9; at++) batons.push(await open(`token${at}`, MAX_STORED_CHARACTERS));
    assertEquals(abandoned, batons.slice(0, 1));
  });
});

Deno.test("the streams of a token that is gone end but for one at work, and at the stop all do", async () => {
  await withKept(async ({ kept, abandoned, open, claim }) => {
    const [resting, working, others] = [await open(), await open(), await open("b")];
    await claim(working);
    kept.endOf("a");
    assertEquals([abandoned, kept.size], [[resting], 2]);
    kept.close();
    assertEquals([abandoned, kept.size], [[resting, working, others], 0]);
  });
});
