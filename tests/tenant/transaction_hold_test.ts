// What a transaction over several calls gives back, whatever ends it: once. Without an engine, which decides nothing here.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { transactionLimits } from "../../lib/core/limits_of_transactions.ts";
import type { ReplyFrame } from "../../lib/tenant/local/frames/reply_frames.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import { TransactionHold } from "../../lib/tenant/local/transactions/transaction_hold.ts";
import { ChildEnded } from "../../lib/tenant/local/transactions/transaction_place.ts";

/** A transaction that has a statement in its child, which answers when it is told to, and what has been given back so far. */
function transactionAtWork() {
  const gaveBack: string[] = [];
  const sent: PromiseWithResolvers<ReplyFrame>[] = [];
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const seat = {
    alone: false,
    send: () => {
      const answer = Promise.withResolvers<ReplyFrame>();
      sent.push(answer);
      return answer.promise;
    },
    kill: () => void gaveBack.push("killed"),
    leave: () => void gaveBack.push("seat"),
  };
  const host = {
    ...{ statementMs: 1000, wake: () => {} },
    transactions: {
      admit: () => {},
      leave: (tokenId: string) => void gaveBack.push(tokenId),
      limits: transactionLimits,
      children: { take: () => seat },
    },
  };
  const parts = { host, lanes, clock: systemClock, onGone: () => void gaveBack.push("gone") };
  const hold = new TransactionHold(parts, { mode: "deferred", tokenId: "tok_1" });
  const worked = hold.work({ do: "schema" }).then(
    (outcome) => "ended" in outcome ? outcome.ended.ending : "answered",
    (error: unknown) => error instanceof AppError ? error.code : String(error),
  );
  return { hold, lanes, sent, worked, gaveBack };
}

const ANSWER: ReplyFrame = { reply: { t: "rested", rests: true }, text: "" };
const ALL = ["gone", "seat", "tok_1"];

Deno.test("where its child ends under a statement behind which it is rolled back, all of it is given back once", async () => {
  const { hold, lanes, sent, worked, gaveBack } = transactionAtWork();
  assertEquals([sent.length, lanes.transactions.size], [1, 1]);
  const ended = hold.end("its time is up");
  // The end is sent behind the statement, once what commits has ended: nothing does.
  while (sent.length < 2) await Promise.resolve();
  for (const { reject } of sent) reject(new ChildEnded("unexpected"));
  await ended;
  assertEquals([await worked, gaveBack.toSorted(), lanes.transactions.size], ["unexpected", ALL, 0]);
  assertEquals([hold.lost, hold.isOver], ["its time is up", true]);
});

Deno.test("where its child ends under a statement it is lost, and its end sends nothing and gives nothing back again", async () => {
  const { hold, sent, worked, gaveBack } = transactionAtWork();
  sent[0]?.reject(new ChildEnded("timeout"));
  assertEquals(await worked, "timeout");
  await hold.rollBack();
  await hold.end("its time is up");
  assertEquals([sent.length, gaveBack.toSorted()], [1, ALL]);
  assertEquals(hold.lost, "its statement ran longer than the time limit");
});

Deno.test("rolled back between two statements it gives all back, whether its child answers that or ends", async () => {
  for (const end of [null, new ChildEnded("memory")]) {
    const { hold, sent, worked, gaveBack } = transactionAtWork();
    sent[0]?.resolve(ANSWER);
    assertEquals([await worked, gaveBack], ["answered", []]);
    const rolledBack = hold.rollBack();
    assertEquals(sent.length, 2);
    if (end === null) sent[1]?.resolve(ANSWER);
    else sent[1]?.reject(end);
    await rolledBack;
    assertEquals(gaveBack.toSorted(), ALL);
  }
});
