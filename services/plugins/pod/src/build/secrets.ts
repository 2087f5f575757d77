import { type Secret, Secret_MountType } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { Container, EnvVar, PodSpec, VolumeMount } from "../kube/pod-types.js";
import { BadSpecification } from "./bad-specification.js";

// Names and paths that flytekit reads (contract §6.6).
const ENV_PREFIX = "_FSEC_";
const DIRECTORY = "/etc/flyte/secrets";
const VOLUME = "flyte-secret-";

type Chosen = (container: Container) => boolean;

/** Adds the requested secrets to the task's containers, from Kubernetes Secrets of its namespace. @throws BadSpecification */
export function withSecrets(spec: PodSpec, secrets: readonly Secret[], isOfTask: Chosen): PodSpec {
  return secrets.reduce((before, secret) => withSecret(before, secret, isOfTask), spec);
}

function withSecret(spec: PodSpec, secret: Secret, isOfTask: Chosen): PodSpec {
  const { group, key } = secret;
  if (group === "" || key === "") {
    throw new BadSpecification(
      `security_context.secrets: a secret needs group and key, this one has group ${JSON.stringify(group)} and key ${JSON.stringify(key)}`,
    );
  }
  return secret.mountRequirement === Secret_MountType.ENV_VAR ? asVariable(spec, secret, isOfTask) : asFile(spec, secret, isOfTask);
}

function asVariable(spec: PodSpec, { group, key, envVar }: Secret, isOfTask: Chosen): PodSpec {
  const valueFrom = { secretKeyRef: { name: group, key, optional: true } };
  const variables: EnvVar[] = [
    { name: `${ENV_PREFIX}${group}_${key}`.toUpperCase(), valueFrom },
    ...(envVar === "" ? [] : [{ name: envVar, valueFrom }]),
    { name: "FLYTE_SECRETS_ENV_PREFIX", value: ENV_PREFIX },
  ];
  return inContainers(spec, isOfTask, (container) => withVariables(container, variables));
}

function asFile(spec: PodSpec, { group, key, envVar }: Secret, isOfTask: Chosen): PodSpec {
  const folder = `${DIRECTORY}/${group.toLowerCase()}`;
  const file = key.toLowerCase();
  const item = { key, path: file };
  const volumes = structuredClone(spec.volumes ?? []);
  // Volumes of the task or a template for the same Secret keep all its keys, under their own names.
  let volume = volumes.find((candidate) => candidate.name.startsWith(VOLUME) && candidate.secret?.secretName === group);
  if (volume === undefined) {
    volume = { name: `${VOLUME}${volumes.length}`, secret: { secretName: group, items: [], optional: true } };
    volumes.push(volume);
  }
  const items = volume.secret?.items;
  if (items?.every((known) => known.path !== file)) items.push(item);
  const mount: VolumeMount = { name: volume.name, readOnly: true, mountPath: folder };
  const variables: EnvVar[] = [
    { name: "FLYTE_SECRETS_DEFAULT_DIR", value: DIRECTORY },
    { name: "FLYTE_SECRETS_FILE_PREFIX", value: "" },
    ...(envVar === "" ? [] : [{ name: envVar, value: `${folder}/${file}` }]),
  ];
  return inContainers({ ...spec, volumes }, isOfTask, (container) => withVariables(withMount(container, mount), variables));
}

function inContainers(spec: PodSpec, isOfTask: Chosen, change: (container: Container) => Container): PodSpec {
  const changed = (containers: readonly Container[]) =>
    containers.map((container) => (isOfTask(container) ? change(container) : container));
  return {
    ...spec,
    containers: changed(spec.containers),
    ...(spec.initContainers === undefined ? {} : { initContainers: changed(spec.initContainers) }),
  };
}

function withVariables(container: Container, variables: readonly EnvVar[]): Container {
  const env = [...(container.env ?? [])];
  for (const variable of variables) if (!env.some(({ name }) => name === variable.name)) env.push(variable);
  return { ...container, env };
}

function withMount(container: Container, mount: VolumeMount): Container {
  const mounts = container.volumeMounts ?? [];
  return mounts.some(({ name }) => name === mount.name) ? container : { ...container, volumeMounts: [...mounts, mount] };
}
