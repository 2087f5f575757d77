/** Reports whether a field of an answer is there: JSON has null for messages that are not set. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null;
}
