/**
 * Condition `column = value` where the value is a column of the statement. Sort by `column` first:
 * the statement then reads the index that begins with it.
 *
 * The planner does not know how rare such a value is. For `=` it drops the column from the order,
 * and may walk the executions of all values by time: a second for a million.
 */
export const indexedBy = (column: string, value: string): string => `${column} >= ${value} AND ${column} <= ${value}`;
