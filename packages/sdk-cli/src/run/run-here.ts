import { join } from "node:path";
import { cacheVersionOf } from "@flyte-ts/runtime";
import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import type { Target } from "./find-target.js";

export interface LocalRun {
  readonly project: Project;
  /** A local bundle. */
  readonly bundle: LoadedBundle;
  readonly target: Target;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Answers of gates, by name. */
  readonly signals?: Readonly<Record<string, unknown>>;
}

/**
 * Runs an entity in the process of its bundle, which prints nodes and outputs. Outputs of cached
 * tasks are kept below `.flyte-ts`, for runs with the same code and inputs.
 *
 * @returns the exit status
 */
export function runHere({ project, bundle, target, inputs, signals = {} }: LocalRun): Promise<number> {
  const { host, manifest } = bundle;
  const versions = manifest.tasks.flatMap(({ name, codeHash }) => {
    const version = codeHash === "" ? undefined : cacheVersionOf(manifest, { name, image: project.image });
    return version === undefined ? [] : [[name, version] as const];
  });
  return host.call("local", {
    module: target.module,
    export: target.export,
    inputs,
    signals,
    secrets: {},
    cacheFolder: join(project.root, ".flyte-ts", "cache"),
    cacheVersions: Object.fromEntries(versions),
  });
}
