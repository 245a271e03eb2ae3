// Takes a password for the console or says what is wrong with it. The judge of its strength is loaded when the first one
// is set.
import { normalPassword } from "../../access/password_hash.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { once } from "../../core/once.ts";

/** Code points after NFKC. */
const MIN_LENGTH = 10;
const MAX_LENGTH = 1024;
/** Characters that are judged: what is longer takes the judge a second, and is strong by then or a repetition. */
const JUDGED_LENGTH = 64;
/** Of 0 to 4: about 10^8 guesses and more. */
const MIN_SCORE = 3;

type Judge = (password: string, about: readonly string[]) => number;

/**
 * The normal form of a new password. `about` are words that its owner's enemies try first: address, name, namespace.
 * Errors: `validation_failed` on `password`.
 */
export async function strongPassword(password: string, about: readonly string[]): Promise<string> {
  const normal = normalPassword(password);
  const length = normal === null ? Infinity : [...normal].length;
  if (normal === null || length > MAX_LENGTH) throw weak(`Send at most ${MAX_LENGTH} characters`);
  if (length < MIN_LENGTH) {
    throw weak(`Take at least ${MIN_LENGTH} characters; four random words are a good password`);
  }
  const words = about.concat("cubby").flatMap((one) => [one, ...one.split(/[^\p{L}\p{N}]+/u)]).filter((one) =>
    one.length > 2
  );
  const score = (await judge())([...normal].slice(0, JUDGED_LENGTH).join(""), words);
  if (score >= MIN_SCORE) return normal;
  throw weak(
    "Take another one; this is among the first that are guessed. Four random words are a good password",
  );
}

function weak(message: string): AppError {
  return invalidInput("password", message);
}

const judge = once(async (): Promise<Judge> => {
  const [{ ZxcvbnFactory }, common] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common"),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
  return (password, about) => zxcvbn.check(password, about.slice()).score;
});
