import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Aborted, TerminalStatus, TaskStatus } from "./status.js";

/** Services of the runtime for a plugin. */
export interface PluginHost {
  /**
   * Publishes a change of an attempt that no request caused: a pod ended, a timer fired. Sends
   * nothing when the status is not new, or when the attempt is being aborted (then only `abort`
   * answers). `request` may be a stored or reduced one: only the fields of events are read.
   * Resolves when the event is stored.
   */
  publishStatus(request: TaskRequest, status: TaskStatus): Promise<void>;
  /**
   * Replaces the task types of a plugin with `dynamicTaskTypes`: subscribes to the requests of new
   * ones, unsubscribes from those that are missing, and announces the set to propeller. Requests
   * for a type that left wait on the bus until a service has it.
   *
   * @throws the error of the bus for a type to which it cannot subscribe; the others are served.
   */
  setTaskTypes(taskTypes: readonly string[]): Promise<void>;
}

/**
 * The FlyteWorkflow resource that attempts belong to. `outputPrefix` is the folder of its
 * execution, where propeller knows it: output prefixes of the attempts are below.
 */
export type OwningWorkflow = Pick<TaskRequest, "workflowKey" | "owner"> & Partial<Pick<TaskRequest, "outputPrefix">>;

/**
 * Runs attempts of tasks until they are terminal. The three methods are called one at a time per
 * attempt, may be repeated, and may get an attempt that an earlier process started. A thrown
 * PermanentFailure or RetryableFailure ends the attempt; a thrown RetryLater, or any other error,
 * retries the request later.
 */
export interface Plugin {
  /** `plugin_identifier` of events and metrics. */
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** True: the plugin serves no type until it calls `host.setTaskTypes`; `taskTypes` is empty. */
  readonly dynamicTaskTypes?: boolean;
  /** `plugin_identifier` where one service represents several plugins. Default: `name`. */
  readonly pluginIdentifierFor?: (taskType: string) => string;
  /** Called once, before any request. */
  start?(host: PluginHost): Promise<void> | void;
  /**
   * Called once, when no request arrives any more and some are still handled: ends waits that are
   * for the sake of later ones.
   */
  drain?(): void;
  /** Called once, after the last request. */
  stop?(): Promise<void> | void;
  /**
   * Starts the attempt unless it has started, and returns its status. Must start it at most once:
   * names and other external effects derive from the request. An attempt of another owner may have
   * had the same names; it has ended by then, as far as this process has seen it.
   */
  reconcile(request: TaskRequest): Promise<TaskStatus> | TaskStatus;
  /**
   * Stops the attempt. Resolves when nothing of it runs: ABORTED, or the end that it reached
   * before.
   */
  abort(request: TaskRequest): Promise<Aborted | TerminalStatus> | Aborted | TerminalStatus;
  /**
   * Lists the attempts owned by a resource that may still run, as requests with the fields that
   * `abort` and events need. One without a known task has no `id.taskId`; it is aborted without an
   * event. Called for a resource that can no longer be parsed. Omit it only when attempts leave
   * nothing running.
   */
  listAttempts?(workflow: OwningWorkflow): Promise<readonly TaskRequest[]> | readonly TaskRequest[];
  /**
   * Called when the terminal phase has been recorded: removes the attempt's objects if
   * `delete_resources` says so.
   */
  finalize?(request: TaskRequest): Promise<void> | void;
}

/**
 * @throws RangeError when the plugin serves no task type, or the same one twice, or fixed ones
 *   beside those that it sets later.
 */
export function definePlugin(plugin: Plugin): Plugin {
  if (plugin.name === "") throw new RangeError("a plugin needs a name");
  if (plugin.dynamicTaskTypes === true) {
    if (plugin.taskTypes.length > 0) throw new RangeError(`plugin ${plugin.name}: taskTypes must be empty when they are dynamic`);
    return plugin;
  }
  if (plugin.taskTypes.length === 0) throw new RangeError(`plugin ${plugin.name}: taskTypes is empty`);
  if (new Set(plugin.taskTypes).size !== plugin.taskTypes.length) throw new RangeError(`plugin ${plugin.name}: taskTypes has duplicates`);
  return plugin;
}
