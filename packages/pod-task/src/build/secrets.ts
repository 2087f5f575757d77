import { type Secret, Secret_MountType } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { Container, EnvVar, PodSpec, VolumeMount } from "../pod-types.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";

// Names and paths that flytekit reads.
const ENV_PREFIX = "_FSEC_";
const SECRETS_DIRECTORY = "/etc/flyte/secrets";
const VOLUME_PREFIX = "flyte-secret-";

type ContainerFilter = (container: Container) => boolean;

/**
 * Adds the requested secrets to the task's containers, from Kubernetes Secrets of its namespace.
 * @throws InvalidPodSpecError
 */
export function addSecrets(spec: PodSpec, secrets: readonly Secret[], isTaskContainer: ContainerFilter): PodSpec {
  return secrets.reduce((before, secret) => addSecret(before, secret, isTaskContainer), spec);
}

function addSecret(spec: PodSpec, secret: Secret, isTaskContainer: ContainerFilter): PodSpec {
  const { group, key } = secret;
  if (group === "" || key === "") {
    throw new InvalidPodSpecError(
      `security_context.secrets: a secret needs group and key, this one has group ${JSON.stringify(group)} and key ${JSON.stringify(key)}`,
    );
  }
  return secret.mountRequirement === Secret_MountType.ENV_VAR
    ? mountAsEnvVar(spec, secret, isTaskContainer)
    : mountAsFile(spec, secret, isTaskContainer);
}

function mountAsEnvVar(spec: PodSpec, { group, key, envVar }: Secret, isTaskContainer: ContainerFilter): PodSpec {
  const valueFrom = { secretKeyRef: { name: group, key, optional: true } };
  const variables: EnvVar[] = [
    { name: `${ENV_PREFIX}${group}_${key}`.toUpperCase(), valueFrom },
    ...(envVar === "" ? [] : [{ name: envVar, valueFrom }]),
    { name: "FLYTE_SECRETS_ENV_PREFIX", value: ENV_PREFIX },
  ];
  return mapContainers(spec, isTaskContainer, (container) => addEnvVars(container, variables));
}

function mountAsFile(spec: PodSpec, { group, key, envVar }: Secret, isTaskContainer: ContainerFilter): PodSpec {
  const directory = `${SECRETS_DIRECTORY}/${group.toLowerCase()}`;
  const file = key.toLowerCase();
  const item = { key, path: file };
  const volumes = structuredClone(spec.volumes ?? []);
  // Use only a volume that this function has added: a volume of the task or of a template for the
  // same Secret keeps all its keys, under their own names.
  let volume = volumes.find((candidate) => candidate.name.startsWith(VOLUME_PREFIX) && candidate.secret?.secretName === group);
  if (volume === undefined) {
    volume = { name: `${VOLUME_PREFIX}${volumes.length}`, secret: { secretName: group, items: [], optional: true } };
    volumes.push(volume);
  }
  const items = volume.secret?.items;
  if (items?.every((known) => known.path !== file)) items.push(item);
  const mount: VolumeMount = { name: volume.name, readOnly: true, mountPath: directory };
  const variables: EnvVar[] = [
    { name: "FLYTE_SECRETS_DEFAULT_DIR", value: SECRETS_DIRECTORY },
    { name: "FLYTE_SECRETS_FILE_PREFIX", value: "" },
    ...(envVar === "" ? [] : [{ name: envVar, value: `${directory}/${file}` }]),
  ];
  return mapContainers({ ...spec, volumes }, isTaskContainer, (container) => addEnvVars(addVolumeMount(container, mount), variables));
}

function mapContainers(spec: PodSpec, isTaskContainer: ContainerFilter, mapContainer: (container: Container) => Container): PodSpec {
  const mapAll = (containers: readonly Container[]) =>
    containers.map((container) => (isTaskContainer(container) ? mapContainer(container) : container));
  return {
    ...spec,
    containers: mapAll(spec.containers),
    ...(spec.initContainers === undefined ? {} : { initContainers: mapAll(spec.initContainers) }),
  };
}

function addEnvVars(container: Container, variables: readonly EnvVar[]): Container {
  const env = [...(container.env ?? [])];
  for (const variable of variables) if (!env.some(({ name }) => name === variable.name)) env.push(variable);
  return { ...container, env };
}

function addVolumeMount(container: Container, mount: VolumeMount): Container {
  const mounts = container.volumeMounts ?? [];
  return mounts.some(({ name }) => name === mount.name) ? container : { ...container, volumeMounts: [...mounts, mount] };
}
