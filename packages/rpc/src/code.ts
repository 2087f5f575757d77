/** Status codes of a call; the numbers are gRPC's. */
export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type Code = (typeof Code)[keyof typeof Code];
export type CodeName = keyof typeof Code;

const names = new Map<number, CodeName>(Object.entries(Code).map(([name, code]) => [code, name as CodeName]));

/** The name of a code: 5 is `NOT_FOUND`. */
export function codeName(code: Code): CodeName {
  return names.get(code) ?? "UNKNOWN";
}

/** Converts a number from the wire; unknown ones become UNKNOWN. */
export function codeOf(value: number): Code {
  return names.has(value) ? (value as Code) : Code.UNKNOWN;
}
