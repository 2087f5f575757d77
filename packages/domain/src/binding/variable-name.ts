/** An output as named by a promise: `name`, or `[index].name` for one element of a list output. */
export interface VariableName {
  readonly name: string;
  readonly index: number | undefined;
}

/**
 * Parses the variable of a promise; undefined when it is empty or its index is not a valid list
 * index.
 */
export function parseVariableName(text: string): VariableName | undefined {
  const match = /^(?:\[(?<index>\d+)\]\.)?(?<name>[^[\]]+)$/su.exec(text);
  const name = match?.groups?.["name"];
  if (name === undefined) return undefined;
  const digits = match?.groups?.["index"];
  const index = digits === undefined ? undefined : Number(digits);
  return index === undefined || Number.isSafeInteger(index) ? { name, index } : undefined;
}
