// Work that yields what it asks and is given the answers, so that one text of it serves those who know them and those who wait.

/** For those who can answer at once. */
export function runWork<Ask, Answer, Result>(
  work: Generator<Ask, Result, Answer>,
  answer: (ask: Ask) => Answer,
): Result {
  let step = work.next();
  while (!step.done) step = work.next(answer(step.value));
  return step.value;
}

/** For those who have to wait. Throws what `answer` throws. */
export async function awaitWork<Ask, Answer, Result>(
  work: Generator<Ask, Result, Answer>,
  answer: (ask: Ask) => Promise<Answer>,
): Promise<Result> {
  let step = work.next();
  while (!step.done) step = work.next(await answer(step.value));
  return step.value;
}
