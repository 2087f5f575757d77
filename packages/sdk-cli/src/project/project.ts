import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { FlyteConfig } from "@flyte-ts/sdk/config";
import { rolldown } from "rolldown";
import { ProjectError } from "./project-error.js";

const CONFIG_FILE = "flyte.config.ts";
/** Folder of a project for what the command makes. */
const WORK_FOLDER = ".flyte-ts";
const LOCAL_HOSTS = /^(dns:\/\/\/)?(localhost|127\.|\[::1\])/;

/** Settings of a project with their defaults. */
export interface Project {
  /** Folder of flyte.config.ts. */
  readonly root: string;
  readonly project: string;
  readonly domain: string;
  readonly endpoint: string;
  /** Patterns of the modules whose exports are registered. */
  readonly sources: readonly string[];
  readonly image: string;
  readonly externals: readonly string[];
  readonly externalsFrom: "image" | "bundle";
}

/** Flags that replace settings of flyte.config.ts. */
export const PROJECT_FLAGS = {
  project: { type: "string" },
  domain: { type: "string" },
  endpoint: { type: "string" },
  image: { type: "string" },
} as const;

export type ProjectFlags = { readonly [Flag in keyof typeof PROJECT_FLAGS]?: string | undefined };

/** Reads flyte.config.ts of a folder or of one above it. @throws ProjectError */
export async function loadProject(folder: string, flags: ProjectFlags): Promise<Project> {
  const root = rootOf(folder);
  const config = await loadConfig(root);
  const endpoint = flags.endpoint ?? config.endpoint ?? process.env["FLYTE_PLATFORM_URL"] ?? "localhost:30080";
  return {
    root,
    project: flags.project ?? config.project,
    domain: flags.domain ?? config.domain,
    endpoint: endpoint.replace(/^dns:\/\/\//, ""),
    sources: config.sources,
    image: flags.image ?? config.image ?? `node:${process.versions.node.split(".")[0]}-slim`,
    externals: config.externals ?? [],
    externalsFrom: config.externalsFrom ?? (LOCAL_HOSTS.test(endpoint) ? "bundle" : "image"),
  };
}

/** Returns the folder of flyte.config.ts, at or above a folder. @throws ProjectError */
export function rootOf(start: string): string {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (existsSync(join(folder, CONFIG_FILE))) return folder;
    if (dirname(folder) === folder) throw new ProjectError(`${start} and the folders above it have no ${CONFIG_FILE}`);
  }
}

/** Runs the configuration's module, which may be TypeScript and import others of the project. */
async function loadConfig(root: string): Promise<FlyteConfig> {
  const bundle = await rolldown({ cwd: root, input: join(root, CONFIG_FILE), platform: "node", external: /^[^./]/ });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  // Below the project, where the packages that it imports are found.
  const file = join(root, WORK_FOLDER, `config-${process.pid}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, output[0].code);
    const { default: config } = (await import(pathToFileURL(file).href)) as { readonly default?: FlyteConfig };
    if (config === undefined) throw new ProjectError(`${CONFIG_FILE} has no default export; write export default defineConfig({ … })`);
    return checked(config);
  } finally {
    rmSync(file, { force: true });
  }
}

function checked(config: FlyteConfig): FlyteConfig {
  for (const name of ["project", "domain"] as const)
    if (typeof config[name] !== "string" || config[name] === "") throw new ProjectError(`${CONFIG_FILE}: ${name} must be a text`);
  if (!Array.isArray(config.sources) || config.sources.length === 0)
    throw new ProjectError(`${CONFIG_FILE}: sources must be patterns of files, such as ["src/flows/**/*.ts"]`);
  return config;
}
