import { textArray } from "@flyte-ts/postgres";
import type { ExecutionName } from "../model/identifier.js";

/** Returns projects, domains and names of executions, as values of three `text[]` parameters. */
export function nameArrays(names: readonly ExecutionName[]): readonly Buffer[] {
  return [
    textArray(names.map(({ project }) => project)),
    textArray(names.map(({ domain }) => domain)),
    textArray(names.map(({ name }) => name)),
  ];
}
