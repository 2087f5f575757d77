import type { JsonObject } from "@bufbuild/protobuf";
import type { Outputs, Promised, Returned } from "../graph/reference-type.js";
import type { Fields, Values } from "../type/type.js";
import type { Context } from "./context.js";
import type { TaskForm } from "./definition.js";
import type { RemoteTask, Task } from "./entity.js";
import { makeEntity } from "./make.js";
import { originOf } from "./origin.js";
import type { TaskConfig } from "./settings.js";

/** Makes a task: a function that runs in a container. */
/*@__NO_SIDE_EFFECTS__*/
export function task<const I extends Fields = {}, const O extends Outputs = undefined, const R extends Returned<O> = Returned<O>>(
  config: TaskConfig<I, O>,
  fn: (inputs: Values<I>, ctx: Context) => R | Promise<R>,
): Task<I, O> {
  return makeTask(config, { form: "function", fn: fn as never }, { origin: originOf(task), fn });
}

/** Makes a task whose function builds a graph from values, at run time. */
/*@__NO_SIDE_EFFECTS__*/
export function dynamic<const I extends Fields = {}, const O extends Outputs = undefined, const R extends Promised<O> = Promised<O>>(
  config: TaskConfig<I, O>,
  fn: (inputs: Values<I>, ctx: Context) => R,
): RemoteTask<I, O> {
  return makeTask(config, { form: "dynamic", fn: fn as never }, { origin: originOf(dynamic) });
}

/** Makes a task of asynchronous code in which each `run` is an execution of its own. */
/*@__NO_SIDE_EFFECTS__*/
export function eager<const I extends Fields = {}, const O extends Outputs = undefined, const R extends Returned<O> = Returned<O>>(
  config: TaskConfig<I, O> & {
    /** Children that run at a time. */
    readonly concurrency?: number;
  },
  fn: (inputs: Values<I>, ctx: Context) => Promise<R>,
): Task<I, O> {
  return makeTask(config, { form: "eager", fn: fn as never, concurrency: config.concurrency }, { origin: originOf(eager), fn });
}

export interface ContainerConfig<I extends Fields, O extends Outputs> extends TaskConfig<I, O> {
  readonly image: string;
  /** The program and its arguments; `{{.inputs.name}}` is replaced by an input. */
  readonly command: readonly string[];
  /** Default: /var/inputs. */
  readonly inputFolder?: string;
  /** Default: /var/outputs. */
  readonly outputFolder?: string;
}

/** Makes a task of any image; its inputs and outputs are files. */
/*@__NO_SIDE_EFFECTS__*/
export function container<const I extends Fields = {}, const O extends Outputs = undefined>(
  config: ContainerConfig<I, O>,
): RemoteTask<I, O> {
  const { image, command, inputFolder = "/var/inputs", outputFolder = "/var/outputs" } = config;
  const form: TaskForm = { form: "container", container: { image, command, inputFolder, outputFolder } };
  return makeTask(config, form, { origin: originOf(container) });
}

/** Makes a task that a connector executes. */
/*@__NO_SIDE_EFFECTS__*/
export function connectorTask<const I extends Fields = {}, const O extends Outputs = undefined>(
  config: TaskConfig<I, O> & { readonly type: string; readonly config?: JsonObject },
): RemoteTask<I, O> {
  const form: TaskForm = { form: "connector", type: config.type, custom: config.config ?? {} };
  return makeTask(config, form, { origin: originOf(connectorTask) });
}

function makeTask<E extends Task<I, O> | RemoteTask<I, O>, I extends Fields, O extends Outputs>(
  config: TaskConfig<I, O>,
  execution: TaskForm,
  { origin, fn }: { readonly origin: ReturnType<typeof originOf>; readonly fn?: unknown },
): E {
  const { inputs, outputs, ...settings } = config;
  return makeEntity<E>({
    kind: "task",
    inputs,
    outputs: outputs as O,
    ...(fn !== undefined && { properties: { fn } }),
    definition: (entity, own) => ({ ...own, kind: "task", entity, name: settings.name, origin, settings, execution }),
  });
}
