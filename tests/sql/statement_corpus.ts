// The statement corpus by theme. Adding a line to one of the parts is all it takes to hold a new fact.
import type { CorpusEntry } from "./corpus_entry.ts";
import { corpusEscapes } from "./corpus_escapes.ts";
import { corpusNames } from "./corpus_names.ts";
import { corpusPragmas } from "./corpus_pragmas.ts";
import { corpusReads } from "./corpus_reads.ts";
import { corpusSchemaChanges } from "./corpus_schema_changes.ts";
import { corpusTexts } from "./corpus_texts.ts";
import { corpusWrites } from "./corpus_writes.ts";

export const statementCorpus: Readonly<Record<string, readonly CorpusEntry[]>> = {
  reads: corpusReads,
  writes: corpusWrites,
  "changes of the schema": corpusSchemaChanges,
  pragmas: corpusPragmas,
  names: corpusNames,
  texts: corpusTexts,
  escapes: corpusEscapes,
};
