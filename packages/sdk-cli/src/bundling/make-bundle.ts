import { MANIFEST_FILE, type BundleManifest, RUN_FORMAT, thisPlatform } from "@flyte-ts/runtime";
import { EntityHost } from "../entities/entity-host.js";
import type { HostCalls } from "../entities/messages.js";
import type { Project } from "../project/project.js";
import { type SourceModule, sourceModules } from "../project/source-modules.js";
import { type Archive, pack } from "./archive.js";
import { type BuiltModules, buildModules, type BundleFile } from "./build-modules.js";
import type { BundlePurpose } from "./entry-source.js";
import { hashTask } from "./code-hash.js";
import { KeptFile } from "./kept-file.js";
import { type CodeHashes, keptHashes } from "./kept-hashes.js";
import { packageFiles } from "./package-files.js";
import { SDK_VERSION } from "../own-package.js";

/** A loaded bundle of a project. */
export interface LoadedBundle {
  readonly host: EntityHost;
  readonly listed: HostCalls["list"]["answer"];
  readonly manifest: BundleManifest;
  readonly archive: Archive;
  readonly warnings: readonly string[];
}

/**
 * Bundles a project and loads its entities. The caller closes the host. A local bundle is not
 * packed.
 *
 * @param only path of the module to bundle, with those that it imports; default: all
 */
export async function makeBundle(project: Project, purpose: BundlePurpose = "registered", only?: string): Promise<LoadedBundle> {
  const { modules, built } = await buildReached(project, purpose, only);
  const packages = built.externals.isEmpty ? [] : packageFiles(built.externals.folders);
  const host = EntityHost.start([...built.files, ...packages], purpose === "local" ? { cwd: process.cwd() } : {});
  try {
    const listed = await host.call("list", {});
    const isLocal = purpose === "local";
    const hashes = await hashesOf({ project, modules, listed, files: built.files, purpose });
    const manifest = manifestOf({ project, modules, built, listed, hashes });
    const files: BundleFile[] = [
      ...built.files,
      ...(project.externalsFrom === "bundle" ? packages : []),
      { path: MANIFEST_FILE, content: Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`) },
    ];
    const archive = isLocal ? pack([]) : pack(files, new KeptFile(project.root, "archive.json"));
    return { host, listed, manifest, archive, warnings: built.warnings };
  } catch (error) {
    host.close();
    throw error;
  }
}

interface Reached {
  readonly modules: readonly SourceModule[];
  readonly built: BuiltModules;
}

/**
 * Bundles a module and the source modules that it imports: tasks have the names of their modules.
 */
async function buildReached(project: Project, purpose: BundlePurpose, only: string | undefined): Promise<Reached> {
  const all = sourceModules(project);
  let modules = only === undefined ? all : all.filter(({ file }) => file === only);
  for (;;) {
    const built = await buildModules(project, modules, purpose);
    const reached = all.filter((module) => modules.includes(module) || built.reached.has(module.file));
    if (reached.length === modules.length) return { modules, built };
    modules = reached;
  }
}

interface Listed {
  readonly project: Project;
  readonly modules: readonly SourceModule[];
  readonly listed: HostCalls["list"]["answer"];
}

/** Hashes the code of the tasks whose cache version follows from it. */
async function hashesOf({
  project,
  modules,
  listed,
  files: built,
  purpose,
}: Listed & { readonly files: readonly BundleFile[]; readonly purpose: BundlePurpose }): Promise<CodeHashes> {
  const files = new Map(modules.map(({ module, file }) => [module, file]));
  const tasks = listed.entities.filter(({ kind, needsCodeHash }) => kind === "task" && needsCodeHash);
  if (tasks.length === 0) return new Map();
  return keptHashes(project.root, { files: built, tasks: tasks.map(({ name }) => name), purpose }, async () => {
    const hashes = tasks.map(
      async (task) => [task.name, await hashTask(project, { file: files.get(task.module) ?? "", export: task.export })] as const,
    );
    return new Map(await Promise.all(hashes));
  });
}

interface Built extends Listed {
  readonly built: BuiltModules;
  readonly hashes: CodeHashes;
}

function manifestOf({ project, modules, built, listed, hashes }: Built): BundleManifest {
  const files = new Map(modules.map(({ module, file }) => [module, file]));
  const externals = built.externals.list();
  return {
    format: RUN_FORMAT,
    sdkVersion: SDK_VERSION,
    tasks: listed.entities
      .filter(({ kind }) => kind === "task")
      .map((task) => ({
        name: task.name,
        module: task.module,
        export: task.export,
        externals: hashes.get(task.name)?.externals ?? built.externalsOf.get(files.get(task.module) ?? "") ?? [],
        codeHash: hashes.get(task.name)?.hash ?? "",
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    externals,
    externalsFrom: project.externalsFrom,
    ...(externals.length > 0 && project.externalsFrom === "bundle" && { platform: thisPlatform() }),
  };
}
