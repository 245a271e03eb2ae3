// Looks at callers whose calls take long: how many there are, and what they find.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { pause } from "../../lib/core/pause.ts";
import { CallerWatch } from "../../lib/query/caller_watch.ts";

const of = (namespaceId: string, tokenId: string) => ({
  target: { namespaceId },
  tokenId,
  signal: () => null,
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(5);
}

Deno.test("a hundred calls of one caller share a look that takes long, and hear what it finds", async () => {
  const asked: string[] = [];
  const answers: ReturnType<typeof Promise.withResolvers<void>>[] = [];
  const gone = new Set<string>();
  const ctx = {
    readmit: ({ target, tokenId }: { target: { namespaceId: string }; tokenId: string }) => {
      if (gone.has(tokenId)) return Promise.reject(new AppError("invalid_bearer"));
      asked.push(`${target.namespaceId} ${tokenId}`);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
  };
  const calls = [...Array.from({ length: 100 }, () => of("ns_1", "tok_a")), of("ns_1", "tok_b")];
  const watches = calls.map((call) => new CallerWatch(ctx, call));
  const signals = watches.map((watch) => watch.signal());
  await until(() => asked.includes("ns_1 tok_b")); // whose timer is the last
  assertEquals(asked, ["ns_1 tok_a", "ns_1 tok_b"]);

  // Where KV does not answer, nobody is revoked.
  answers[1]?.reject(new AppError("meter_unreachable"));
  gone.add("tok_a");
  for (const answer of answers) answer.resolve();
  // A look that has ended is not kept. Their timers need not end in one turn.
  await until(() => signals.slice(0, 100).every(({ aborted }) => aborted));
  assertEquals(signals.map(({ aborted }) => aborted), [...Array(100).fill(true), false]);
  assertEquals(watches.map(({ revoked }) => revoked?.code), [
    ...Array(100).fill("invalid_bearer"),
    undefined,
  ]);

  for (const watch of watches) watch.end();
  for (const answer of answers) answer.resolve();
});

Deno.test("who has gone before somebody asked is gone, and a call that has ended listens to nobody", () => {
  const ctx = { readmit: () => Promise.reject(new TypeError("nobody asks so soon")) };
  const watchOf = (signal: AbortSignal) =>
    new CallerWatch(ctx, { ...of("ns_1", "tok_a"), signal: () => signal });
  const gone = watchOf(AbortSignal.abort());
  assertEquals(gone.signal().aborted, true);

  const there = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = there.signal;
  there.signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listeners.add(listener);
    addEventListener.call(there.signal, type, listener);
  };
  there.signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listeners.delete(listener);
    removeEventListener.call(there.signal, type, listener);
  };
  const leaving = watchOf(there.signal);
  const ended = watchOf(there.signal);
  const signals = [leaving.signal(), ended.signal()];
  assertEquals(listeners.size, 2);
  ended.end();
  assertEquals(listeners, new Set([leaving]));
  there.abort();
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
  for (const watch of [gone, leaving]) watch.end();
});
