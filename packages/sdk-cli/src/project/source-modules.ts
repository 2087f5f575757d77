import { globSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./project.js";
import { ProjectError } from "./project-error.js";

/** Module of a project whose exports are registered. */
export interface SourceModule {
  /** Absolute path. */
  readonly file: string;
  /** Path without `src/` and ending, `flows/train`, as in the arguments of containers. */
  readonly module: string;
  /** Begin of the names of its entities: its path below the fixed part of the pattern, `train`. */
  readonly prefix: string;
}

/** Lists the modules that the patterns of a project match, in the order of their paths. */
export function sourceModules({ root, sources }: Pick<Project, "root" | "sources">): SourceModule[] {
  const modules = new Map<string, SourceModule>();
  for (const pattern of sources) {
    const base = fixedPart(pattern);
    for (const path of globSync(pattern, { cwd: root })) {
      const slashes = path.replaceAll("\\", "/");
      if (isNoModule(slashes)) continue;
      const name = slashes.replace(/\.[cm]?[jt]sx?$/, "");
      const prefix = name.slice(base.length).replaceAll("/", ".");
      modules.set(slashes, { file: join(root, path), module: name.replace(/^src\//, ""), prefix });
    }
  }
  if (modules.size === 0) throw new ProjectError(`no file matches the sources ${sources.join(", ")} of flyte.config.ts`);
  return [...modules].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, module]) => module);
}

const isNoModule = (path: string): boolean => /\.(test|spec|d)\.[cm]?[jt]sx?$/.test(path) || !/\.[cm]?[jt]sx?$/.test(path);

/** Returns the part of a pattern before its first wildcard, up to a slash. */
function fixedPart(pattern: string): string {
  const wildcard = pattern.search(/[*?[{]/);
  const fixed = wildcard < 0 ? pattern : pattern.slice(0, wildcard);
  return fixed.slice(0, fixed.lastIndexOf("/") + 1);
}
