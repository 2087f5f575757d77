import { createInformer, type InformerEvent, type KubeClient, type KubeObject, PODS } from "@flyte-ts/kubernetes";
import type { Container, Pod } from "@flyte-ts/pod-task";
import type { Logger } from "@flyte-ts/telemetry";

const API_VERSION = "sparkoperator.k8s.io/v1beta2";
const APPLICATIONS = { group: "sparkoperator.k8s.io", version: "v1beta2", plural: "sparkapplications", namespaced: true };
const NAME_LABEL = "sparkoperator.k8s.io/app-name";

interface PodOptions {
  readonly image?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly env?: Container["env"];
  readonly template?: { readonly spec?: Pod["spec"] };
}

interface SparkApplication extends KubeObject {
  readonly spec: { readonly image?: string; readonly driver: PodOptions };
  readonly status?: { readonly applicationState?: { readonly state?: string }; readonly lastSubmissionAttemptTime?: string };
}

/** Ends of an application: nothing follows them. */
const ENDED: ReadonlySet<string> = new Set(["COMPLETED", "FAILED"]);

/**
 * A stand-in for the Spark operator, which is published neither as a Go module nor on PyPI. Creates
 * the driver's pod of a SparkApplication and copies the pod's phase to `status.applicationState`,
 * with the states, names and labels of the real one. There are no executors, submissions never
 * fail, and an application runs once.
 */
export function startSparkOperatorStandIn(client: KubeClient, logger: Logger) {
  const onError = (error: unknown) => logger.info({ error: String(error) }, "the application is seen to again at its next change");
  const actions = new Map<string, Promise<void>>();
  /** Acts for an application when its earlier actions are done: a state never precedes another. */
  const inOrder = (key: string, act: () => Promise<void>) => {
    actions.set(key, (actions.get(key) ?? Promise.resolve()).then(act).catch(onError));
  };
  const applications = createInformer<SparkApplication>({
    client,
    ref: APPLICATIONS,
    logger,
    onEvent: ({ type, key, object }) => (type === "deleted" ? void actions.delete(key) : inOrder(key, () => submit(object))),
  });
  const onPod = async ({ type, object: pod }: InformerEvent<Pod>) => {
    const application = applications.get(applicationOf(pod));
    const states = type === "deleted" ? [["FAILED", "driver pod not found"] as const] : statesOf(pod);
    for (const [state, errorMessage] of states) if (application !== undefined) await setState(application, state, errorMessage);
  };
  const drivers = createInformer<Pod>({
    client,
    ref: PODS,
    labelSelector: `${NAME_LABEL},spark-role=driver`,
    logger,
    onEvent: (event) => inOrder(applicationOf(event.object), () => onPod(event)),
  });

  async function submit(application: SparkApplication): Promise<void> {
    if (application.metadata.deletionTimestamp !== undefined || application.status?.applicationState?.state !== undefined) return;
    await client.create(PODS, driverOf(application));
    const now = new Date().toISOString();
    const more = { lastSubmissionAttemptTime: now, executionAttempts: 1, submissionAttempts: 1, sparkApplicationId: "spark-1" };
    await setState(application, "SUBMITTED", "", { ...more, driverInfo: { podName: `${application.metadata.name}-driver` } });
  }

  async function setState({ metadata }: SparkApplication, state: string, errorMessage = "", more: object = {}): Promise<void> {
    const { namespace, name } = metadata;
    const current = await client.get<SparkApplication>(APPLICATIONS, { namespace, name });
    const known = current?.status?.applicationState?.state ?? "";
    if (current === undefined || known === state || ENDED.has(known)) return;
    const ended = ENDED.has(state) ? { terminationTime: new Date().toISOString() } : {};
    const status = { applicationState: { state, errorMessage }, ...ended, ...more };
    await client.mergePatch(APPLICATIONS, { namespace, name, body: { status }, subresource: "status" });
  }

  return { stop: async () => void (await Promise.all([applications.stop(), drivers.stop()])) };
}

/** Key of a pod's application. */
function applicationOf({ metadata: { namespace, labels } }: Pod): string {
  return `${namespace}/${labels?.[NAME_LABEL]}`;
}

/** The pod that `spark-submit` in cluster mode creates. */
function driverOf({ metadata, spec: { image, driver } }: SparkApplication): KubeObject {
  const { namespace, name, uid } = metadata;
  const owner = { apiVersion: API_VERSION, kind: "SparkApplication", name, uid, controller: true, blockOwnerDeletion: true };
  const labels = { ...driver.labels, [NAME_LABEL]: name, "spark-role": "driver", "spark-app-selector": "spark-1" };
  const container = { name: "spark-kubernetes-driver", image: driver.image ?? image, env: driver.env, args: ["driver"] };
  const { containers: _, ...rest } = driver.template?.spec ?? { containers: [] };
  return {
    metadata: { namespace, name: `${name}-driver`, labels, annotations: driver.annotations, ownerReferences: [owner] },
    spec: { ...rest, containers: [container], restartPolicy: "Never" },
  } as KubeObject;
}

/** States that follow from the driver's phase, in order, with the error of the last. */
function statesOf({ status }: Pod): readonly (readonly [string, string?])[] {
  const terminated = status?.containerStatuses?.[0]?.state?.terminated;
  switch (status?.phase) {
    case "Running":
      return [["RUNNING"]];
    case "Succeeded":
      return [["SUCCEEDING"], ["COMPLETED"]];
    case "Failed": {
      const error = `driver container failed with ExitCode: ${terminated?.exitCode}, Reason: ${terminated?.reason}`;
      return [["FAILING"], ["FAILED", error]];
    }
    default:
      return [];
  }
}
