import type { ConnectionSettings } from "../api/settings.js";
import type { AnyEntity, EntityKind } from "../entity/entity.js";
import type { Received } from "../graph/reference-type.js";
import type { Given } from "../type/type.js";
import type { Change, ExecutionPhase } from "./change.js";

/** Connection to a Flyte control plane, with the project and domain of its calls. */
export interface ConnectOptions extends ConnectionSettings {
  /** Default: flytesnacks. */
  readonly project?: string;
  /** Default: development. */
  readonly domain?: string;
}

/** Settings of an execution. */
export interface RunOptions {
  /** Name of the execution; default: a random one. One that exists is not started again. */
  readonly name?: string;
  /** Version of the entity; default: the newest. */
  readonly version?: string;
  /** Kind of the entity; default: a launch plan, which each workflow has, else a task. */
  readonly kind?: EntityKind;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** Environment variables of the tasks. */
  readonly env?: Readonly<Record<string, string>>;
  readonly maxParallelism?: number;
  readonly interruptible?: boolean;
  /** Run tasks even if the cache has their outputs. */
  readonly overwriteCache?: boolean;
  readonly serviceAccount?: string;
}

/** Arguments of a run: the inputs may be left out where none is required. */
export type RunArguments<E extends AnyEntity> =
  {} extends Given<E["inputs"]> ? [inputs?: Given<E["inputs"]>, options?: RunOptions] : [inputs: Given<E["inputs"]>, options?: RunOptions];

/** Ends the wait for a server. */
export interface StopOptions {
  readonly signal?: AbortSignal;
}

/** Ends a wait for an execution, which itself goes on. */
export interface WaitOptions extends StopOptions {
  /** Time after which the wait ends with a TimeoutError, ms. */
  readonly timeoutMs?: number;
}

/** Part of a log. */
export interface LogOptions extends StopOptions {
  /** Number of the attempt, from 0; default: the latest. */
  readonly attempt?: number;
  /** Index of the item, from 0, for a node that maps a task over a list. */
  readonly item?: number;
  readonly container?: string;
  /** Start with the last lines. */
  readonly tailLines?: number;
  /** Wait for lines until the attempt ends; default true. */
  readonly follow?: boolean;
}

/** A line of a log. */
export interface LogText {
  /** RFC 3339; empty if it is unknown. */
  readonly time: string;
  readonly text: string;
}

/** An execution on a server. */
export interface Execution<Out> {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  /** Returns its page of the console. */
  url(): Promise<string>;
  phase(): Promise<ExecutionPhase>;
  /** Yields the present state as changes, then each change until it ends. */
  watch(options?: StopOptions): AsyncIterable<Change>;
  /** Waits for its end. @throws ExecutionFailed unless it succeeds */
  wait(options?: WaitOptions): Promise<Out>;
  /** Returns the outputs after its end. @throws ExecutionFailed unless it succeeded */
  outputs(): Promise<Out>;
  /** Ends it. */
  abort(cause?: string): Promise<void>;
  /** Answers a gate that it waits for; an approval takes true, the default, or false. */
  signal(name: string, value?: unknown): Promise<void>;
  /** Yields the log of a node's task, and follows it while the task runs. */
  logs(node: string, options?: LogOptions): AsyncIterable<LogText>;
  /** Starts an execution with the same inputs. */
  relaunch(): Promise<Execution<Out>>;
  /** Starts an execution that keeps the outputs of nodes that succeeded. */
  recover(): Promise<Execution<Out>>;
}

/** Executions to list. */
export interface ListOptions {
  /** Phases, such as `["FAILED", "ABORTED"]`; default: all. */
  readonly phases?: readonly ExecutionPhase[];
  /** Maximum number of executions; default 100. */
  readonly limit?: number;
  /** Only those that were created after this time. */
  readonly since?: Date;
}

/** An execution of a list. */
export interface ListedExecution {
  readonly name: string;
  /** Name of the launch plan or task. */
  readonly entity: string;
  readonly version: string;
  readonly phase: ExecutionPhase;
  readonly createdAt: Date;
  /** Message of its failure; empty without one. */
  readonly error: string;
}

/** Starts and follows executions of a server. */
export interface FlyteConnection {
  /** Starts an execution of an entity, or of a reference to a registered one. */
  run<E extends AnyEntity>(entity: E, ...given: RunArguments<E>): Promise<Execution<Received<E["outputs"]>>>;
  /** Starts an execution by the registered name; the types are those of `typeof entity`. */
  run<E extends AnyEntity = never>(
    name: [E] extends [never] ? never : string,
    ...given: RunArguments<E>
  ): Promise<Execution<Received<E["outputs"]>>>;
  /** Returns an execution that exists; the types of its outputs are those of `typeof entity`. */
  execution<E extends AnyEntity>(name: string): Execution<Received<E["outputs"]>>;
  /** Lists executions, the newest first. */
  executions(options?: ListOptions): AsyncIterable<ListedExecution>;
  /** Calls without types, for tools that know entities by name alone. */
  readonly untyped: UntypedConnection;
}

/** Calls without types. */
export interface UntypedConnection {
  run(name: string, inputs?: Readonly<Record<string, unknown>>, options?: RunOptions): Promise<Execution<unknown>>;
  execution(name: string): Execution<unknown>;
}
