// How many questions the embedded translator answers as a person would, and that it does not guess the others.
import { assert, assertEquals } from "@std/assert";
import {
  everydayAfterwards,
  everydayHalves,
  ownReferences,
  secondHalves,
  thirdSet,
} from "./everyday/halves.ts";
import { heldOut } from "./questions.ts";
import { askedSchemas } from "./schemas.ts";
import { type Score, scoreQuestions } from "./score_questions.ts";

Deno.test("nine of ten questions over three plain schemas are answered, and none in a wrong way", async () => {
  const plain = askedSchemas.map((schema) => ({ ...schema, questions: heldOut[schema.name] ?? [] }));
  const score = await scoreQuestions(plain);
  assertEquals(score.asked, 100);
  hold(score, { right: 90, wrong: 0 });
});

Deno.test("everyday questions over five schemas that it was made with are answered, and none in a wrong way", async () => {
  hold(await scoreQuestions(everydayHalves.seen), { right: 95, wrong: 0 });
});

Deno.test("without descriptions fewer of them are answered, and still none in a wrong way", async () => {
  const score = await scoreQuestions(everydayHalves.seen, { described: false });
  hold(score, { right: 85, wrong: 0 });
  assert(score.right <= 95, `descriptions make no difference: ${score.right}`);
});

Deno.test("of everyday questions over eight schemas that it was not made with four of five are answered, and hardly any in a wrong way", async () => {
  hold(await scoreQuestions(everydayHalves.unseen), { right: 80, wrong: 2 });
  hold(await scoreQuestions(everydayAfterwards), { right: 46, wrong: 0 });
});

Deno.test("of 120 more over eight schemas it holds what it was made with, and most of what it was not", async () => {
  hold(await scoreQuestions(secondHalves.seen), { right: 52, wrong: 0 });
  hold(await scoreQuestions(secondHalves.unseen), { right: 38, wrong: 2 });
});

Deno.test("of sixty more over four schemas that it was asked once it holds what it answered, and none in a wrong way", async () => {
  hold(await scoreQuestions(thirdSet), { right: 49, wrong: 0 });
  hold(await scoreQuestions(thirdSet, { described: false }), { right: 42, wrong: 0 });
});

Deno.test("who stands above and below is told from how it is said, and where it is not the question is refused", async () => {
  hold(await scoreQuestions(ownReferences), { right: 14, wrong: 0 });
});

function hold(
  { right, wrong, refused }: Score,
  bounds: { readonly right: number; readonly wrong: number },
): void {
  const report = [`${right} right`, ...wrong.map((one) => `WRONG ${one}`), ...refused].join("\n");
  assert(wrong.length <= bounds.wrong, report);
  assert(right >= bounds.right, report);
}
