// The report of a merge, short enough to be read again and again. Pure.

/** The report without every changed row, which diff_branch shows; anything else as it is. */
export function withoutRows<Report>(report: Report): Report {
  if (!hasTables(report)) return report;
  const tables = report.tables.map(({ rows: _, digest: __, ...table }) => table);
  return { ...report, tables };
}

function hasTables(value: unknown): value is { readonly tables: readonly Record<string, unknown>[] } {
  return typeof value === "object" && value !== null && "tables" in value && Array.isArray(value.tables);
}
