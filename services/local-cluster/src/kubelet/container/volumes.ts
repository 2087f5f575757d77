import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync, chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";
import { ContainerConfigError, fieldValue, type Lookup, missing } from "./environment.js";
import { absolutePath, type Mount } from "./mounts.js";

/** A volume cannot be provided: kubelet's FailedMount. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
}

export interface VolumeInput {
  readonly pod: KubeObject;
  readonly folder: string;
  readonly lookup: Lookup;
  readonly hostIP: string;
}

/**
 * Creates a pod's volumes, a directory each, with the current contents of secrets and config maps.
 *
 * @throws VolumeError
 */
export function prepareVolumes({ pod, folder, lookup, hostIP }: VolumeInput): void {
  for (const volume of listAt(pod, "spec", "volumes")) {
    if (!isObject(volume)) continue;
    const name = textAt(volume, "name") ?? "";
    const target = join(folder, name);
    const hostPath = textAt(volume, "hostPath", "path");
    if (hostPath !== undefined) {
      rmSync(target, { force: true });
      mkdirSync(folder, { recursive: true });
      symlinkSync(hostPath, target);
      continue;
    }
    mkdirSync(target, { recursive: true });
    try {
      for (const file of filesOf(volume, { pod, lookup, hostIP })) {
        const path = join(target, absolutePath(file.path));
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, file.data);
        // All containers run as the user of this service; other users get no access.
        chmodSync(path, file.mode & 0o700);
      }
    } catch (error) {
      if (error instanceof ContainerConfigError)
        throw new VolumeError(`MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${error.message}`);
      throw error;
    }
  }
}

interface VolumeFile {
  readonly path: string;
  readonly data: Buffer | string;
  readonly mode: number;
}

type Sources = Omit<VolumeInput, "folder">;

function filesOf(volume: JsonObject, sources: Sources): readonly VolumeFile[] {
  const projected = volume["projected"];
  if (isObject(projected)) {
    const mode = modeOf(projected, 0o644);
    return listAt(projected, "sources").flatMap((source) => (isObject(source) ? sourceFiles(source, { sources, mode }) : []));
  }
  if (isObject(volume["emptyDir"])) return [];
  return sourceFiles(volume, { sources, mode: 0o644 });
}

function sourceFiles(volume: JsonObject, { sources, mode }: { sources: Sources; mode: number }): readonly VolumeFile[] {
  for (const [field, kind, nameField] of [
    ["secret", "Secret", volume["secret"] !== undefined && at(volume, "secret", "secretName") !== undefined ? "secretName" : "name"],
    ["configMap", "ConfigMap", "name"],
  ] as const) {
    const source = volume[field];
    if (!isObject(source)) continue;
    const name = textAt(source, nameField) ?? "";
    const data = sources.lookup(kind, name);
    if (data === undefined) {
      if (source["optional"] === true) return [];
      throw missing(kind, name);
    }
    return keyFiles(data, source, mode);
  }
  const downward = volume["downwardAPI"];
  if (isObject(downward)) {
    return listAt(downward, "items").map((item) => ({
      path: textAt(item, "path") ?? "",
      data: fieldValue(sources.pod, textAt(item, "fieldRef", "fieldPath") ?? "", sources.hostIP),
      mode: modeOf(item, modeOf(downward, mode)),
    }));
  }
  const unknown = Object.keys(volume).find((key) => key !== "name");
  throw new ContainerConfigError(`volumes of kind ${unknown ?? "none"} are not provided on this cluster`);
}

function keyFiles(data: ReadonlyMap<string, Buffer>, source: JsonObject, mode: number): readonly VolumeFile[] {
  const plain = modeOf(source, mode);
  const items = listAt(source, "items");
  if (items.length === 0) return [...data].map(([path, value]) => ({ path, data: value, mode: plain }));
  return items.flatMap((item) => {
    const key = textAt(item, "key") ?? "";
    const value = data.get(key);
    if (value !== undefined) return [{ path: textAt(item, "path") ?? key, data: value, mode: modeOf(item, plain) }];
    if (source["optional"] === true) return [];
    throw new ContainerConfigError(`references non-existent key: ${key}`);
  });
}

function modeOf(source: Json, otherwise: number): number {
  const mode = at(source, "mode") ?? at(source, "defaultMode");
  return typeof mode === "number" ? mode : otherwise;
}

/** Links the volumes at their mount paths below a container's root. */
export function linkMounts(mounts: readonly Mount[], { root, volumes }: { root: string; volumes: string }): void {
  for (const { path, volume, subPath } of mounts) {
    const link = join(root, path);
    const target = join(volumes, volume, subPath);
    if (existsSync(link)) continue;
    if (subPath !== "" && !existsSync(target)) mkdirSync(target, { recursive: true });
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link);
  }
}
