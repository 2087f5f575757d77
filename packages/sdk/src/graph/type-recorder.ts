import { AsyncLocalStorage } from "node:async_hooks";
import type { AnyType } from "../type/type.js";
import type { ReferenceSource } from "./reference.js";

const recorders = new AsyncLocalStorage<Map<string, AnyType>>();

/** Records the type of each reference that is bound while a function runs, nested ones included. */
export function recordTypes<R>(run: () => R): { readonly result: R; readonly types: ReadonlyMap<string, AnyType> } {
  const types = new Map<string, AnyType>();
  const outer = recorders.getStore();
  const result = recorders.run(types, run);
  for (const [key, type] of types) outer?.set(key, type);
  return { result, types };
}

/** Called for each reference that is bound. */
export function recordType(source: ReferenceSource): void {
  recorders.getStore()?.set(referenceKeyOf(source.nodeId, source.variable, source.path), source.type);
}

export function referenceKeyOf(nodeId: string, variable: string, path: readonly (string | number)[]): string {
  return JSON.stringify([nodeId, variable, ...path]);
}
