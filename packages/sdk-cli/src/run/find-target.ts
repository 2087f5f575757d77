import { relative, resolve } from "node:path";
import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import { sourceModules } from "../project/source-modules.js";
import { UsageError } from "../usage-error.js";

/** Entity that FILE and EXPORT name. */
export interface Target {
  readonly module: string;
  readonly export: string;
  readonly kind: "task" | "workflow" | "launchplan";
  readonly name: string;
}

/** Finds the entity that FILE and EXPORT name. @throws UsageError */
export function findTarget(
  project: Project,
  { listed }: Pick<LoadedBundle, "listed">,
  { file, name }: { readonly file: string; readonly name: string },
): Target {
  const path = resolve(file);
  const module = sourceModules(project).find((source) => source.file === path)?.module;
  if (module === undefined) throw new UsageError(`${relative(project.root, path)} is not among the sources of flyte.config.ts`);
  const found = listed.entities.find((entity) => entity.module === module && entity.export === name);
  if (found === undefined || found.kind === "reference") {
    const others = listed.entities.filter((entity) => entity.module === module).map((entity) => entity.export);
    throw new UsageError(`${file} exports no ${name}; it exports ${others.join(", ") || "no task or workflow"}`);
  }
  return { module, export: name, kind: found.kind, name: found.name };
}
