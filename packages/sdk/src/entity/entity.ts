import type { Args, Outputs, Received, Refs, Returned } from "../graph/reference-type.js";
import type { Fields, Given, Values } from "../type/type.js";
import type { Context } from "./context.js";
import type { NodeOptions } from "./settings.js";

/** Arguments of a node. */
export type Call<I extends Fields> =
  {} extends Args<I> ? [inputs?: Args<I>, options?: NodeOptions] : [inputs: Args<I>, options?: NodeOptions];

/** Arguments of a run. */
export type Run<I extends Fields> = {} extends Given<I> ? [inputs?: Given<I>] : [inputs: Given<I>];

export type EntityKind = "task" | "workflow" | "launchplan";

/** A task, workflow or launch plan, or a reference to a registered one. */
export interface Entity<I extends Fields, O extends Outputs> {
  /** Adds a node to the graph that is being built. */
  (...args: Call<I>): Refs<O>;
  /** Runs it: in this process locally, as a child execution within `eager`. */
  run(...args: Run<I>): Promise<Received<O>>;
  readonly inputs: I;
  readonly outputs: O;
  readonly kind: EntityKind;
}

/** A task with a function. */
export interface Task<I extends Fields, O extends Outputs> extends Entity<I, O> {
  readonly kind: "task";
  /** The function itself, for unit tests. */
  readonly fn: (inputs: Values<I>, ctx: Context) => Returned<O> | Promise<Returned<O>>;
}

/** A task without a function of its own: a container, or a task of a connector. */
export interface RemoteTask<I extends Fields, O extends Outputs> extends Entity<I, O> {
  readonly kind: "task";
}

/** A workflow. */
export interface Workflow<I extends Fields, O extends Outputs> extends Entity<I, O> {
  readonly kind: "workflow";
}

/** A launch plan; `inputs` are those that callers may give. */
export interface LaunchPlan<I extends Fields, O extends Outputs> extends Entity<I, O> {
  readonly kind: "launchplan";
}

/** The types of any entity. */
export interface AnyEntity {
  readonly inputs: Fields;
  readonly outputs: Outputs;
  readonly kind: EntityKind;
}
