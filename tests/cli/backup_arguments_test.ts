// What the commands for backups are told, and what each of them refuses to be told.
import { assertEquals } from "@std/assert";
import { type BackupCommand, readBackupArguments, UsageError } from "../../lib/cli/backup_arguments.ts";

const NOTHING = { from: null, replace: false, revokeTokens: false, rehearsal: false, untilMs: null };

Deno.test("a file is found from the folder in which the command was called, and everything else is said as it is meant", () => {
  const taken = readBackupArguments("take", ["--", "b.tar", "--from", "http://host:8000//"], "/home/ada");
  assertEquals(taken, { ...NOTHING, file: "/home/ada/b.tar", from: "http://host:8000" });
  assertEquals(readBackupArguments("take", ["/b.tar"], "/home"), { ...NOTHING, file: "/b.tar" });
  assertEquals(readBackupArguments("verify", ["archive", "--at", "2026-11-22T14:30:00Z"], "/home"), {
    ...NOTHING,
    file: "archive",
    untilMs: Date.UTC(2026, 10, 22, 14, 30),
  });
  for (const name of ["replace", "revoke-tokens", "rehearsal"]) {
    const read = readBackupArguments("restore", [`--${name}`, "b.tar"], "/home");
    const known = { "replace": "replace", "revoke-tokens": "revokeTokens", "rehearsal": "rehearsal" };
    const set = Object.entries(known).find(([option]) => option === name)?.[1] ?? "";
    assertEquals(read, { ...NOTHING, file: "/home/b.tar", [set]: true });
  }
});

Deno.test("what a command does not hear is refused, and so is what means two things or none", () => {
  const refused: readonly (readonly [BackupCommand, string, string])[] = [
    ["take", "", "Name one file"],
    ["take", "a b", "Name one file"],
    ["take", "archive", "Name a file: with ARCHIVE_URL set the service sends backups to the archive itself"],
    ["take", "a --from host", "Give --from as http://host"],
    ["take", "a --replace", "Leave out --replace here"],
    ["take", "a --at 2026-11-22", "Leave out --at here"],
    ["verify", "archive --at yesterday", "Give --at as 2026-11-22T14:30:00Z"],
    ["verify", "a --at 2026-11-22", "Leave out --at, or choose archive: a file is one moment"],
    ["verify", "a --revoke-tokens", "Leave out --revoke-tokens here"],
    ["verify", "a --from=http://host", "Leave out --from here"],
    ["restore", "a --from http://host", "Leave out --from here"],
  ];
  for (const [command, args, message] of refused) {
    assertEquals(problem(command, args.split(" ").filter(Boolean)), message, `${command} ${args}`);
  }
  assertEquals(/unknown/i.test(problem("take", ["a", "--form", "http://host"])), true);
});

function problem(command: BackupCommand, args: readonly string[]): string {
  try {
    readBackupArguments(command, args);
    return "";
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}
