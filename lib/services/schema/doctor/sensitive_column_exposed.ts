// Published public endpoints whose answers show secrets.
import { splitWords } from "../search_words.ts";
import { endpointCall } from "./api_call.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";

const secretWords: ReadonlySet<string> = new Set(
  "password passwords passwd passphrase passcode pwd token tokens secret secrets apikey".split(" "),
);
/** Last words of columns that speak about a secret without holding it, as `token_count`. */
const aboutWords: ReadonlySet<string> = new Set("at count expires expiry id length on type".split(" "));

export function sensitiveColumnExposed({ endpoints, address }: Examined): Found[] {
  return endpoints.filter(({ auth }) => auth === "public").flatMap(({ slug, columns, tables }) =>
    columns.filter(isSecret).map((column) => ({
      table: tables[0] ?? "",
      column,
      message: `Take ${column} out of what the public endpoint ${slug} answers; pause it until then`,
      suggestion: endpointCall(address, "POST", `${slug}/pause`),
    }))
  );
}

function isSecret(column: string): boolean {
  const words = splitWords(column);
  if (aboutWords.has(words.at(-1) ?? "")) return false;
  return words.some((word) => secretWords.has(word)) || /api_?key|private_?key/i.test(column);
}
