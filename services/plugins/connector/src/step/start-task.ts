import { retry } from "@flyte-ts/async";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import { findRoute, type Route } from "../discovery/routes.js";
import { CallFailure } from "../endpoint/call-failure.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { CreatedTask } from "../record/created-task.js";
import { recordedAttempt } from "@flyte-ts/task-plugin/files";
import type { LiveAttempt } from "../attempt/live-attempt.js";
import { callToStart, type StartCall } from "./call-to-start.js";
import { pollDelay } from "./poll-delay.js";
import { adopt } from "./poll-task.js";
import { runSyncTask } from "./run-sync-task.js";
import type { StepContext, StepResult } from "./step.js";

/** Delay before the next try without a change of routes or slots, ms. */
const RECHECK_MS = 30_000;
const RECORD_RETRY = { initialMs: 500, maxMs: 15_000, jitter: 0.4 };

/**
 * Creates the task of an attempt at most once, when an endpoint has its type and room for it. A
 * synchronous connector runs it at once.
 */
export async function startTask(attempt: LiveAttempt, context: StepContext): Promise<StepResult> {
  const route = await routeOf(attempt, context);
  if (typeof route === "string") return { status: attempt.waiting(route), againInMs: RECHECK_MS, waitsFor: "route" };
  const endpoint = context.endpoints.get(route.endpoint) as Endpoint;
  if (attempt.slot !== endpoint) {
    const full = endpoint.slots.fullReason(attempt.project);
    if (full !== undefined) {
      const reason = `waiting for connector endpoint ${JSON.stringify(endpoint.name)}: ${full}`;
      return { status: attempt.waiting(reason), againInMs: RECHECK_MS, waitsFor: endpoint };
    }
    attempt.occupySlot(endpoint);
  }
  return route.isSync ? runSyncTask(attempt, endpoint, context) : createTask(attempt, endpoint, context);
}

/**
 * Returns the endpoint of an attempt, or a reason to wait while none has the type.
 *
 * @throws PermanentFailure for an unknown version, CallFailure while the endpoint does not answer.
 */
async function routeOf({ taskType, version }: LiveAttempt, context: StepContext): Promise<Route | string> {
  const { routes, refreshRoutes } = context;
  let found = findRoute(routes(), taskType, version);
  if (found.kind === "unknownVersion") {
    // A connector that knows the version may have started just now.
    await refreshRoutes();
    found = findRoute(routes(), taskType, version);
  }
  switch (found.kind) {
    case "found":
      return found.route;
    case "unknownType":
      return `no connector announces the task type ${JSON.stringify(taskType)}`;
    case "unanswered": {
      const message = `connector endpoint ${JSON.stringify(found.endpoint)} has not answered yet`;
      throw new CallFailure(message, { kind: "unavailable", withoutEffect: true });
    }
    case "unknownVersion":
      throw (
        noAnswerOf(found.endpoints, context) ??
        new PermanentFailure({
          code: "BadTaskSpecification",
          message: `task type ${JSON.stringify(taskType)} has version ${version}; the connectors at ${found.endpoints.join(", ")} know the versions ${found.known.join(", ")}`,
        })
      );
  }
}

function noAnswerOf(names: readonly string[], { endpoints }: StepContext): CallFailure | undefined {
  return names.map((name) => endpoints.get(name)?.lastNoAnswer()).find((failure) => failure !== undefined);
}

async function createTask(attempt: LiveAttempt, endpoint: Endpoint, context: StepContext): Promise<StepResult> {
  const { clock, records, random, config } = context;
  const call: StartCall<Uint8Array> = { name: "CreateTask", endpoint, run: (calls, request) => calls.createTask(request) };
  const started = await callToStart(attempt, call, context);
  if (started.kind === "created") return adopt(attempt, started.task, context);
  if (started.kind === "result") return started.result;
  const { taskType, version } = attempt;
  const task: CreatedTask = { endpoint: endpoint.name, taskType, version, resourceMeta: started.answer };
  attempt.onCreated(task, clock.elapsed());
  // An abort meanwhile ends the retries; it finds the task's id in memory.
  await retry(
    () => records.write(attempt.source.outputPrefix, { task, attempt: recordedAttempt(attempt.request, attempt.ownerUid) }),
    { ...RECORD_RETRY, signal: attempt.stopping.signal, random },
    clock,
  );
  const polling = config.pollingOfTaskTypes[taskType] ?? config.polling;
  const reason = `task created by connector endpoint ${JSON.stringify(endpoint.name)}`;
  return { status: { phase: "QUEUED", reason, ...attempt.pluginState() }, againInMs: pollDelay(polling, { polls: 0, ageMs: 0, random }) };
}
