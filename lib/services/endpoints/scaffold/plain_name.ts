// Names of tables and columns in the forms that slugs and inputs have.

/** Lower case ASCII letters, digits and single underscores: `OrderItems` → `order_items`. Empty where nothing is left. */
export function plainName(name: string): string {
  return name.replaceAll("ß", "ss").normalize("NFKD").replace(/[\u0300-\u036f]/g, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
}
