import { randomBytes } from "node:crypto";

/** Digits of a name: the maximum of Go Flyte's executions is 20 characters. */
const BYTES = 9;

/** Returns a new name of an execution, so that a repeated call creates one alone. */
export function executionName(): string {
  return `f${randomBytes(BYTES).toString("hex")}`;
}
