import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { retry, Semaphore } from "@flyte-ts/async";
import { createInformer, type InformerEvent, isTransient, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import type { Logger } from "@flyte-ts/telemetry";
import { statesOf } from "./driver-states.js";
import { APPLICATIONS, driverNameOf, NAME_LABEL, type SparkApplication, type Submit } from "./application.js";

export interface SparkOperatorOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly submit: Submit;
  /**
   * Wait after the first failed submission, ms; after the second it is twice as long, and so on.
   * Default: 5 s.
   */
  readonly submissionRetryMs?: number;
}

/** Ends of an application: nothing follows them. */
const ENDED: ReadonlySet<string> = new Set(["COMPLETED", "FAILED"]);
const SUBMISSION_RETRY_MS = 5_000;
/** Submissions at a time, and reconciliations; more would time out at a busy API server. */
const CONCURRENCY = 16;
const CALL_RETRY = { initialMs: 200, maxMs: 5_000, jitter: 0.5, isRetryable: isTransient };

/**
 * A small Spark operator: the real one is published neither as a Go module nor on PyPI. Submits
 * each SparkApplication, again after a failure, and copies the driver's phase to
 * `status.applicationState`, with the states, names and labels of the real one. An application runs
 * once.
 */
export function startSparkOperator({ client, logger, submit, submissionRetryMs = SUBMISSION_RETRY_MS }: SparkOperatorOptions) {
  const stopping = new AbortController();
  const submissions = new Semaphore(CONCURRENCY);
  const calls = new Semaphore(CONCURRENCY);
  /** Repeats calls while the API server does not answer. */
  const call = <T>(act: () => Promise<T>) => retry(() => calls.run(act), { ...CALL_RETRY, signal: stopping.signal });
  /** Uids of applications whose submission was started, and of those with a driver. */
  const started = new Set<string>();
  const submitted = new Set<string>();
  const onError = (error: unknown) => logger.info({ error: String(error) }, "the application is reconciled again after its next change");
  const actions = new Map<string, Promise<void>>();
  /** Acts for an application after its earlier actions: no state overtakes another. */
  const inOrder = (key: string, act: () => Promise<void>) => {
    actions.set(key, (actions.get(key) ?? Promise.resolve()).then(act).catch(onError));
  };
  const applications = createInformer<SparkApplication>({
    client,
    ref: APPLICATIONS,
    logger,
    onEvent: ({ type, key, object }) => void (type === "deleted" ? actions.delete(key) : onApplication(object).catch(onError)),
  });
  const drivers = createInformer<Pod>({
    client,
    ref: PODS,
    labelSelector: `${NAME_LABEL},spark-role=driver`,
    logger,
    onEvent: (event) => inOrder(applicationOf(event.object), () => onDriver(event)),
  });

  async function onApplication(application: SparkApplication): Promise<void> {
    const { uid = "" } = application.metadata;
    if (application.status?.applicationState?.state !== undefined || started.has(uid)) return;
    started.add(uid);
    const retries = application.spec.restartPolicy?.onSubmissionFailureRetries ?? 0;
    for (let attempt = 1; isCurrent(application); attempt++) {
      const end = await trySubmission(application, attempt);
      if (end.submitted) return;
      const last = attempt > retries;
      await setState(application, last ? "FAILED" : "SUBMISSION_FAILED", end.error, { submissionAttempts: attempt });
      if (last) return;
      await sleep(submissionRetryMs * attempt, undefined, { signal: stopping.signal });
      await removeDriver(application);
    }
  }

  /** A submission may fail after it has created the driver's pod, whose name the next one needs. */
  async function removeDriver(application: SparkApplication): Promise<void> {
    const driver = { namespace: application.metadata.namespace, name: driverNameOf(application) };
    await call(() => client.delete(PODS, driver));
    while ((await call(() => client.get(PODS, driver))) !== undefined) await sleep(100, undefined, { signal: stopping.signal });
  }

  function isCurrent({ metadata: { namespace, name, uid } }: SparkApplication): boolean {
    const current = applications.get(`${namespace}/${name}`)?.metadata;
    return current !== undefined && current.uid === uid && current.deletionTimestamp === undefined;
  }

  async function trySubmission(application: SparkApplication, attempt: number): Promise<{ submitted: boolean; error: string }> {
    const { namespace, name } = application.metadata;
    const [driverName, id] = [driverNameOf(application), randomUUID()];
    try {
      await submissions.run(() => submit({ application, driverName, id }));
    } catch (error) {
      return { submitted: false, error: `failed to run spark-submit for ${namespace}/${name}: ${(error as Error).message}` };
    }
    const findDriver = () => call(() => client.get<Pod>(PODS, { namespace, name: driverName }));
    const sparkApplicationId = (await findDriver())?.metadata.labels?.["spark-app-selector"];
    const attempts = { executionAttempts: 1, submissionAttempts: attempt, lastSubmissionAttemptTime: new Date().toISOString() };
    await setState(application, "SUBMITTED", "", {
      ...attempts,
      submissionID: id,
      sparkApplicationId,
      driverInfo: { podName: driverName },
    });
    submitted.add(application.metadata.uid ?? "");
    // It may have changed before the state above was written.
    const driver = await findDriver();
    if (driver !== undefined) await copyPhase(application, driver);
    return { submitted: true, error: "" };
  }

  async function onDriver({ type, object: pod }: InformerEvent<Pod>): Promise<void> {
    const application = applications.get(applicationOf(pod));
    // A new driver may run before its submission has ended.
    if (application === undefined || !submitted.has(application.metadata.uid ?? "")) return;
    if (type === "deleted") await setState(application, "FAILED", "driver pod not found");
    else await copyPhase(application, pod);
  }

  async function copyPhase(application: SparkApplication, driver: Pod): Promise<void> {
    for (const [state, error] of statesOf(driver)) await setState(application, state, error);
  }

  function setState({ metadata }: SparkApplication, state: string, errorMessage = "", more: object = {}): Promise<void> {
    const { namespace, name } = metadata;
    return call(async () => {
      const current = await client.get<SparkApplication>(APPLICATIONS, { namespace, name });
      const known = current?.status?.applicationState?.state ?? "";
      if (current === undefined || known === state || ENDED.has(known)) return;
      const ended = ENDED.has(state) ? { terminationTime: new Date().toISOString() } : {};
      const status = { applicationState: { state, errorMessage }, ...ended, ...more };
      await client.mergePatch(APPLICATIONS, { namespace, name, body: { status }, subresource: "status" });
    });
  }

  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([applications.stop(), drivers.stop()]);
    },
  };
}

/** Key of a driver's application. */
function applicationOf({ metadata: { namespace, labels } }: Pod): string {
  return `${namespace}/${labels?.[NAME_LABEL]}`;
}
