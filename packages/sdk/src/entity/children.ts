import { AsyncLocalStorage } from "node:async_hooks";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { decodeOutputs, encodeInputs } from "../codec/interface-values.js";
import type { FileStore } from "../file/file.js";
import { type Definition, definitionOf } from "./definition.js";
import type { AnyEntity } from "./entity.js";

/** Runs the entities that an eager task calls. */
export interface Children {
  readonly files: FileStore;
  run(definition: Definition, inputs: LiteralMap): Promise<LiteralMap>;
}

const children = new AsyncLocalStorage<Children>();

/** Runs a function whose calls of `entity.run` go to these children. */
export function withChildren<R>(runner: Children, run: () => R): R {
  return children.run(runner, run);
}

/**
 * Runs a function with at most so many children at a time; further ones wait for their turn.
 * Without children around it the function runs as it is.
 */
export function withChildLimit<R>(limit: number, run: () => R): R {
  const runner = children.getStore();
  if (runner === undefined) return run();
  const waiting: (() => void)[] = [];
  let running = 0;
  const limited = async (definition: Definition, inputs: LiteralMap): Promise<LiteralMap> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await runner.run(definition, inputs);
    } finally {
      // The next one takes over the place.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
  return withChildren({ files: runner.files, run: limited }, run);
}

/** Runs an entity: as a child of the running eager task, else in this process. */
export async function runChild(entity: AnyEntity, args: unknown): Promise<unknown> {
  const definition = definitionOf(entity);
  const runner = children.getStore();
  if (runner === undefined) {
    const { runInProcess } = await import("../local/run.js");
    return runInProcess(definition, args);
  }
  const literals = await encodeInputs(definition, args, runner.files);
  return decodeOutputs(definition, await runner.run(definition, literals), runner.files);
}
