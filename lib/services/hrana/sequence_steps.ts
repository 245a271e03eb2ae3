// A text of several statements as steps of a batch, each of which runs if the one before has succeeded.
import { AppError } from "../../core/errors.ts";
import { MAX_HRANA_STEPS } from "../../core/limits_hrana.ts";
import { defersForeignKeys, switchesForeignKeysOff } from "../../sql/service/migration_text.ts";
import { splitStatements } from "../../sql/tokens/split_statements.ts";
import { type DoorFacts, readText } from "./door_statement.ts";
import type { DoorStep } from "./plan_batch.ts";

/**
 * The statements of the text; comments alone are none. Prisma's texts that rebuild a table defer foreign keys, and switch
 * them off too: then deferring them says nothing more, and is left out. Errors: `validation_failed` for more statements
 * than a batch may have steps.
 */
export function sequenceTexts(facts: DoorFacts, text: string): string[] {
  const texts = (facts.ahead("parts", text) ?? splitStatements(text)).map(({ sql }) => sql);
  if (texts.length > MAX_HRANA_STEPS) {
    throw new AppError("validation_failed", {
      message: `Send at most ${MAX_HRANA_STEPS} statements in one text; this one has ${texts.length}`,
    });
  }
  if (!/\bdefer_foreign_keys\b/i.test(text) || !texts.some(switchesForeignKeysOff)) return texts;
  return texts.filter((sql) => !defersForeignKeys(sql));
}

/** Their steps. */
export function sequenceSteps(facts: DoorFacts, text: string): DoorStep[] {
  return sequenceTexts(facts, text).map((sql, at) => {
    const read = readText(facts, sql);
    return {
      statement: { text: read, sql: read.sql, params: [], wantsRows: false },
      condition: at === 0 ? null : { type: "ok", step: at - 1 },
    };
  });
}
