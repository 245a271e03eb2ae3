// English singulars for slugs, labels and search.
import pluralize from "pluralize";

/** Words whose plural the library takes for the plural of another word. */
const PLURALS: Readonly<Record<string, string>> = {
  ...plain(
    "cookie brownie rookie selfie calorie genie prairie pixie smoothie hoodie bookie newbie sortie lie",
  ),
  ...plain("cache ache headache toothache avalanche niche psyche creche quiche cliche tranche moustache"),
  ...plain("excuse reuse sku cpu gpu formula antenna larva vertebra"),
  canvas: "canvases",
  lens: "lenses",
  bias: "biases",
  oasis: "oases",
  memorandum: "memoranda",
  trellis: "trellises",
  pelvis: "pelvises",
};
/** Words that look like plurals, or that have no singular with the same meaning. */
const UNCHANGED = [
  "sms mms dns gps fts css js os ios https tls aws saas paas iaas pos cms vps nas kubernetes",
  "basis chaos cosmos ethos pathos thermos asbestos rhinoceros christmas",
  "goods means earnings savings proceeds thanks remains odds clothes trousers pants shorts pajamas binoculars",
  "analytics economics electronics ethics genetics logistics mathematics physics politics metadata",
].join(" ").split(" ");

for (const [single, plural] of Object.entries(PLURALS)) pluralize.addIrregularRule(single, plural);
for (const word of UNCHANGED) pluralize.addUncountableRule(word);
pluralize.addSingularRule(/(formul|antenn|larv|vertebr)ae$/i, "$1a");

/** Makes the last word of a name in snake_case singular: `order_items` → `order_item`, `status` → `status`. */
export function singular(name: string): string {
  const words = name.split("_");
  const last = words.pop() ?? "";
  return [...words, pluralize.singular(last)].join("_");
}

/** Words whose plural takes an `s`. */
function plain(words: string): Record<string, string> {
  return Object.fromEntries(words.split(" ").map((word) => [word, `${word}s`]));
}
