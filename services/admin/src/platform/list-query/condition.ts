/** An SQL condition with its parameters. */
export interface Condition {
  readonly sql: string;
  /** Replaces `$$`. */
  readonly value?: unknown;
  /** Replaces `$known`. */
  readonly constant?: string | number | bigint;
}

/** Numbers the parameters of a condition. */
export function bindParameters(condition: Condition, values: unknown[]): string {
  const { sql, value, constant } = condition;
  const place = (text: string, name: string, given: unknown) => {
    if (!text.includes(name)) return text;
    values.push(given);
    return text.replaceAll(name, () => `$${values.length}`);
  };
  return place(place(sql, "$known", constant), "$$", value);
}

/** Joins conditions with AND. */
export function bindAll(conditions: readonly Condition[], values: unknown[]): string {
  return conditions.map((condition) => bindParameters(condition, values)).join(" AND ");
}
