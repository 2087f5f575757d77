import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Aborted, EndedStatus, TaskStatus } from "./status.js";

/** What a plugin may ask of the machinery that runs it. */
export interface PluginHost {
  /**
   * Tells a change of an attempt that came about without a request: a pod ended, a
   * timer fired. Nothing is sent when it is not news, and when the attempt is being
   * aborted (then only `abort` answers). `request` may be a remembered or pared-down
   * one: only what events are made of is read. Resolves when the event is stored.
   */
  report(request: TaskRequest, status: TaskStatus): Promise<void>;
}

/** The FlyteWorkflow resource that attempts belong to. */
export type OwningWorkflow = Pick<TaskRequest, "workflowKey" | "owner">;

/**
 * A plugin brings attempts of tasks to their end. All three verbs are called at most
 * once at a time for one attempt, may be repeated, and may meet an attempt that an
 * earlier process began.
 *
 * A thrown PermanentFailure or RetryableFailure ends the attempt; a thrown NotYet, or
 * any other error, has the request delivered again later.
 */
export interface Plugin {
  /** `plugin_identifier` of events and metrics. */
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** Whether ended attempts leave something: without it propeller need not send FINALIZE. Default true. */
  readonly finalizes?: boolean;
  /** `plugin_identifier` where one service stands for several plugins. Default: `name`. */
  readonly identifierOf?: (taskType: string) => string;
  /** Called once, before any request. */
  start?(host: PluginHost): Promise<void> | void;
  /** Called once, after the last request. */
  stop?(): Promise<void> | void;
  /**
   * Brings the attempt under control, if it is not yet, and says how it stands. Must
   * start it at most once: names and other outside effects derive from the request.
   */
  reconcile(request: TaskRequest): Promise<TaskStatus> | TaskStatus;
  /** Stops the attempt. Resolves when nothing of it runs: ABORTED, or the end that it reached before. */
  abort(request: TaskRequest): Promise<Aborted | EndedStatus> | Aborted | EndedStatus;
  /**
   * Lists the attempts that a resource owns and that may still run, as requests that hold what `abort` and events need. One whose task is
   * not known has no `id.taskId`; it is aborted and not told of. Called for a resource that cannot be read any more. Leave it out only
   * when attempts leave nothing that runs.
   */
  attemptsOf?(workflow: OwningWorkflow): Promise<readonly TaskRequest[]> | readonly TaskRequest[];
  /** The end has been taken up: removes what the attempt left, as `delete_resources` says. */
  finalize?(request: TaskRequest): Promise<void> | void;
}

/** @throws RangeError when the plugin serves no task type, or the same one twice. */
export function definePlugin(plugin: Plugin): Plugin {
  if (plugin.name === "") throw new RangeError("name: a plugin needs one");
  if (plugin.taskTypes.length === 0) throw new RangeError(`taskTypes: plugin ${plugin.name} serves none`);
  if (new Set(plugin.taskTypes).size !== plugin.taskTypes.length) throw new RangeError(`taskTypes: plugin ${plugin.name} has one twice`);
  return plugin;
}
