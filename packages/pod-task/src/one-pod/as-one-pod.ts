import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { BuiltPodSpec } from "../build/build-pod-spec.js";
import type { Container } from "../pod-types.js";
import { daskContainer } from "./dask.js";
import { type OnePodConfig, type OnePodTaskType, onePodTaskType } from "./one-pod-config.js";
import { withMemory } from "./primary-container.js";
import { rayContainer } from "./ray.js";
import { sparkContainer } from "./spark.js";

const CONTAINERS: Readonly<Record<OnePodTaskType, (container: Container, request: TaskRequest) => Container>> = {
  spark: sparkContainer,
  ray: rayContainer,
  dask: daskContainer,
};

const NAMES: Readonly<Record<OnePodTaskType, string>> = { spark: "Spark", ray: "Ray", dask: "Dask" };

/**
 * Changes the pod of a Spark, Ray or Dask task so that its cluster runs inside of its primary
 * container; other pods stay as they are. Pure.
 *
 * @throws InvalidPodSpecError for a task that needs a cluster of several pods
 */
export function asOnePod(built: BuiltPodSpec, request: TaskRequest, config: OnePodConfig | undefined): BuiltPodSpec {
  const type = onePodTaskType(request.template?.type, config);
  if (type === undefined || config === undefined) return built;
  const { spec, primaryContainer } = built;
  const change = (container: Container) => CONTAINERS[type](withMemory(container, request, config.memory), request);
  const containers = spec.containers.map((container) => (container.name === primaryContainer ? change(container) : container));
  const installer = installContainer(type, config, containers.find(({ name }) => name === primaryContainer)?.image);
  const initContainers = [...installer, ...(spec.initContainers ?? [])];
  return { ...built, spec: { ...spec, containers, ...(initContainers.length === 0 ? {} : { initContainers }) } };
}

function installContainer(type: OnePodTaskType, { installCommand, installEnv }: OnePodConfig, image: string | undefined): Container[] {
  if (installCommand.length === 0) return [];
  return [
    {
      name: `install-${type}`,
      ...(image === undefined ? {} : { image }),
      command: [...installCommand, type],
      env: Object.entries(installEnv).map(([name, value]) => ({ name, value })),
      terminationMessagePolicy: "FallbackToLogsOnError",
    },
  ];
}

/**
 * Tells users that a task runs as one pod: the reason of its submission, and the custom information
 * of its attempt. Undefined for other tasks.
 */
export function describeOnePod(
  taskType: string | undefined,
  config: OnePodConfig | undefined,
): { readonly reason: string; readonly customInfo: JsonObject } | undefined {
  const type = onePodTaskType(taskType, config);
  if (type === undefined || config === undefined) return undefined;
  const mode = `runs as one pod: no ${NAMES[type]} operator`;
  const install =
    config.installCommand.length === 0
      ? ""
      : `; installs the packages of ${NAMES[type]} first if this stack lacks them (once, some minutes)`;
  return { reason: `task submitted to K8s, ${mode}${install}`, customInfo: { mode } };
}
