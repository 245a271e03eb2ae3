// What the sanitizers do not look at by itself.

/** Of steps and tests that share an app or a browser, which goes on between them; what they stand in is looked at as a whole. */
export const unlooked = { sanitizeOps: false, sanitizeResources: false };
