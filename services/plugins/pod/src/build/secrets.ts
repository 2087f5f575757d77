import { type Secret, Secret_MountType } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { Container, EnvVar, PodSpec, VolumeMount } from "../kube/pod-types.js";
import { BadSpecification } from "./bad-specification.js";

// Names and places that flytekit reads (contract §6.6).
const ENV_PREFIX = "_FSEC_";
const DIRECTORY = "/etc/flyte/secrets";

/** Gives every container the secrets that the task asked for, from Kubernetes Secrets of its namespace. @throws BadSpecification */
export function withSecrets(spec: PodSpec, secrets: readonly Secret[]): PodSpec {
  return secrets.reduce(withSecret, spec);
}

function withSecret(spec: PodSpec, secret: Secret): PodSpec {
  const { group, key } = secret;
  if (group === "" || key === "") {
    throw new BadSpecification(
      `security_context.secrets: a secret needs group and key, this one has group ${JSON.stringify(group)} and key ${JSON.stringify(key)}`,
    );
  }
  return secret.mountRequirement === Secret_MountType.ENV_VAR ? asVariable(spec, secret) : asFile(spec, secret);
}

function asVariable(spec: PodSpec, { group, key, envVar }: Secret): PodSpec {
  const valueFrom = { secretKeyRef: { name: group, key, optional: true } };
  const variables: EnvVar[] = [
    { name: `${ENV_PREFIX}${group}_${key}`.toUpperCase(), valueFrom },
    ...(envVar === "" ? [] : [{ name: envVar, valueFrom }]),
    { name: "FLYTE_SECRETS_ENV_PREFIX", value: ENV_PREFIX },
  ];
  return inEveryContainer(spec, (container) => withVariables(container, variables));
}

function asFile(spec: PodSpec, { group, key, envVar }: Secret): PodSpec {
  const folder = `${DIRECTORY}/${group.toLowerCase()}`;
  const file = key.toLowerCase();
  const item = { key, path: file };
  const volumes = structuredClone(spec.volumes ?? []);
  let volume = volumes.find((candidate) => candidate.secret?.secretName === group);
  if (volume === undefined) {
    volume = { name: `flyte-secret-${volumes.length}`, secret: { secretName: group, items: [], optional: true } };
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
  return inEveryContainer({ ...spec, volumes }, (container) => withVariables(withMount(container, mount), variables));
}

function inEveryContainer(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  return {
    ...spec,
    containers: spec.containers.map(change),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(change) }),
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
