// What one engine child may take, whatever it works at.

/** Resident bytes at which a child is ended: the program, the engine's bounded heap and the largest result fit below. */
export const MAX_RESIDENT_BYTES = 700 * 1024 * 1024;
/** Milliseconds without a report of its memory after which a child that works is ended. */
export const SILENT_MS = 10_000;
