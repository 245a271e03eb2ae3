// The console's own code for browsers, as written: the file name becomes the name of the asset.
import cells from "../browser/cells.ts" with { type: "text" };
import copy from "../browser/copy.ts" with { type: "text" };
import editor from "../browser/editor.ts" with { type: "text" };
import find from "../browser/find.ts" with { type: "text" };
import inbox from "../browser/inbox.ts" with { type: "text" };
import passkey from "../browser/passkey.ts" with { type: "text" };
import start from "../browser/start.ts" with { type: "text" };
import times from "../browser/times.ts" with { type: "text" };

/** Name of the asset → TypeScript with types that can be erased. `start` is on every page and imports what all need. */
export const browserSources: Readonly<Record<string, string>> = {
  "cells.ts": cells,
  "copy.ts": copy,
  "editor.ts": editor,
  "find.ts": find,
  "inbox.ts": inbox,
  "passkey.ts": passkey,
  "start.ts": start,
  "times.ts": times,
};
