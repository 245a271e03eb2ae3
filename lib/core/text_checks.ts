// What schemas ask of names, and of other texts that people write.
import { z } from "zod";
import { isPlainText } from "./plain_text.ts";

/** Text that every store takes, and every reader of JSON. */
export const plainText = z.refine<string>(isPlainText, { error: "Remove U+0000 and lone surrogates" });

/** A name, which stands in one line. */
export const nameText = z.refine<string>((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), {
  error: "Remove line breaks, other control characters and lone surrogates",
});
