// Hints that are written for callers of the HTTP API, in the words of this door: its tools, and their arguments.

/** What a hint says of the API → what it says here. */
const words: readonly (readonly [api: RegExp, here: string])[] = [
  [/\btables lists what there is/, "describe_database lists what there is"],
  [/\bdescribe (?=lists the columns|tells whether)/, "describe_database "],
  [/^Call (?:tables and describe|tables|describe)\b/, "Call describe_database"],
  [/\bas a batch with transaction true/, "in one call of write"],
  [/\ba batch with transaction true\b/, "a call of write"],
  [/\bin one batch\b/, "in one call of write"],
  [/\bas parameters of a batch$/, "in params of the statements of write"],
  [/^Call each database by its own path\b/, "Call tools for each database by itself"],
  [/^Name the database in the path of the call\b/, "Name the database in the arguments of the call"],
  [/\b(?:by PUT |through PUT \/)describe\b/, "in the console or by the HTTP API"],
  [
    /^Make and delete databases through .*$/,
    "Tell the user, who makes and deletes databases in the console or by the HTTP API: no tool does",
  ],
  [/^Make a token\b/, "Tell the user, who can make a token"],
  [/, or read lastInsertRowid of the answer$/, ""],
  [/ and read lastInsertRowid of the answer$/, " and write RETURNING id at its end"],
];

/** The hint for one who calls tools. */
export function toolWords(hint: string): string {
  return words.reduce((text, [api, here]) => text.replace(api, here), hint);
}

/** Calls of the API that a tool makes too → the tool and its arguments but for the database. */
const calls: readonly (readonly [api: RegExp, here: string])[] = [
  [/^POST \/v1\/db\/\S+\/batch (\{.*),"transaction":true\}$/s, "write $1}"],
  [/^POST \/v1\/db\/\S+\/restore (?=\{)/, "restore_snapshot "],
  [/^GET \/v1\/db\/\S+\/snapshots$/, "list_snapshots"],
];

/** A suggestion for one who calls tools; as it is where it is SQL, or where no tool does it. */
export function toolCall(suggestion: string): string {
  return calls.reduce((text, [api, here]) => text.replace(api, here), suggestion);
}
