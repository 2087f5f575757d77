/** A part of a statement with its values. */
export interface Condition {
  readonly sql: string;
  /** Goes where `$$` stands. */
  readonly value?: unknown;
  /** Goes where `$known` stands. */
  readonly known?: string | number | bigint;
}

/** Gives the condition its parameter's number. */
export function numbered(condition: Condition, values: unknown[]): string {
  const { sql, value, known } = condition;
  const place = (text: string, name: string, given: unknown) => {
    if (!text.includes(name)) return text;
    values.push(given);
    return text.replaceAll(name, () => `$${values.length}`);
  };
  return place(place(sql, "$known", known), "$$", value);
}

/** That all of them hold. */
export function allNumbered(conditions: readonly Condition[], values: unknown[]): string {
  return conditions.map((condition) => numbered(condition, values)).join(" AND ");
}
