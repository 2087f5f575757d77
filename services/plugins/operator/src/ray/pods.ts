import type { JsonObject } from "@bufbuild/protobuf";
import type { K8sPod } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Container, EnvVar, PodSpec } from "@flyte-ts/pod-task";
import { withArgs, withoutArgs, withPrimary } from "../build/containers.js";
import { mergeRolePod } from "../build/merge-role-pod.js";
import type { RolePod, RolePodBuilder } from "../build/role-pod-builder.js";
import { podTemplate } from "../build/template.js";
import type { RaySettings } from "./settings.js";

const HEAD = "ray-head";
const WORKER = "ray-worker";

const PORTS = [
  { name: "redis", containerPort: 6379 },
  { name: "head", containerPort: 10_001 },
  { name: "dashboard", containerPort: 8265 },
];

const STATE_VOLUME = "system-ray-state";
/** Ray keeps logs and sockets here. */
const STATE_FOLDER = "/tmp/ray";

/**
 * Template of the head. The task's own pod for it is merged last. The command stays, since KubeRay
 * replaces it.
 */
export function headTemplate(pods: RolePodBuilder, overlay: K8sPod | undefined, settings: RaySettings): JsonObject {
  const pod = pods.build({ containerName: HEAD });
  const spec = withPrimary(pod.spec, HEAD, (container) => ({
    ...withoutArgs(container),
    env: [...(container.env ?? []), fieldVariable("MY_POD_IP", "status.podIP")],
    ports: PORTS,
  }));
  return template({ ...pod, spec: withLogsSidecar(spec, settings.logsSidecar) }, overlay, settings);
}

/** Template of a group of workers. */
export function workerTemplate(pods: RolePodBuilder, overlay: K8sPod | undefined, settings: RaySettings): JsonObject {
  const pod = pods.build({ containerName: WORKER });
  const spec = withPrimary(pod.spec, WORKER, (container) => ({
    ...withoutArgs(container),
    env: [...(container.env ?? []), ...workerVariables()],
    ports: PORTS,
    lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "ray stop"] } } },
  }));
  return template({ ...pod, spec }, overlay, settings);
}

/** Template of the pod that submits the job. KubeRay sets its command if there is none. */
export function submitterTemplate(pods: RolePodBuilder, settings: RaySettings): JsonObject {
  const pod = pods.build();
  const spec = withPrimary(pod.spec, pod.primaryContainer, (container) => withoutArgs(withArgs(container, [])));
  return template({ ...pod, spec }, undefined, settings);
}

function template(pod: RolePod, overlay: K8sPod | undefined, { serviceAccount }: RaySettings): JsonObject {
  const merged = mergeRolePod(pod, overlay);
  const account = serviceAccount === "" ? {} : { serviceAccountName: serviceAccount };
  return podTemplate({ ...merged, spec: { ...merged.spec, ...account } });
}

function workerVariables(): EnvVar[] {
  const resource = (name: string, quantity: string): EnvVar => ({
    name,
    valueFrom: { resourceFieldRef: { containerName: WORKER, resource: quantity } },
  });
  return [
    { name: "RAY_DISABLE_DOCKER_CPU_WARNING", value: "1" },
    { name: "TYPE", value: "worker" },
    resource("CPU_REQUEST", "requests.cpu"),
    resource("CPU_LIMITS", "limits.cpu"),
    resource("MEMORY_REQUESTS", "requests.memory"),
    resource("MEMORY_LIMITS", "limits.memory"),
    fieldVariable("MY_POD_NAME", "metadata.name"),
    fieldVariable("MY_POD_IP", "status.podIP"),
  ];
}

function fieldVariable(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** Shares Ray's folder with a container that reads its logs. */
function withLogsSidecar(spec: PodSpec, sidecar: RaySettings["logsSidecar"]): PodSpec {
  if (sidecar === undefined) return spec;
  const mounts = spec.containers.find(({ name }) => name === HEAD)?.volumeMounts ?? [];
  const known = mounts.find(({ mountPath }) => mountPath === STATE_FOLDER);
  const volume = known?.name ?? STATE_VOLUME;
  const shared = known === undefined ? addStateVolume(spec) : spec;
  const reader = sidecar as unknown as Container;
  const readerMounts = [...(reader.volumeMounts ?? []), { name: volume, mountPath: STATE_FOLDER, readOnly: true }];
  return { ...shared, containers: [...shared.containers, { ...reader, volumeMounts: readerMounts }] };
}

function addStateVolume(spec: PodSpec): PodSpec {
  const mounted = withPrimary(spec, HEAD, (container) => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), { name: STATE_VOLUME, mountPath: STATE_FOLDER }],
  }));
  return { ...mounted, volumes: [...(spec.volumes ?? []), { name: STATE_VOLUME, emptyDir: {} }] };
}
