import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import type { Project } from "../project/project.js";
import { ProjectError } from "../project/project-error.js";
import type { SourceModule } from "../project/source-modules.js";
import { builtSdkPlugin } from "./built-sdk.js";
import { type BundlePurpose, entrySource } from "./entry-source.js";
import { builtinModules } from "./builtin-modules.js";
import { ExternalPackages, readManifest } from "./external-packages.js";
import { lazyMessages } from "./lazy-messages.js";

const ENTRY = "\0flyte-entry";
/** Packages that the entry imports and that a project need not have. */
const RUNTIME = /^@flyte-ts\/runtime(\/|$)/;
const SDK = /^@flyte-ts\/sdk(\/|$)/;
const here = fileURLToPath(import.meta.url);

/** File of a bundle. */
export interface BundleFile {
  /** Relative path with slashes. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable?: boolean;
}

export interface BuiltModules {
  readonly files: readonly BundleFile[];
  /** Packages that the modules leave outside. */
  readonly externals: ExternalPackages;
  /** Names of the external packages that each source module loads, by its path. */
  readonly externalsOf: ReadonlyMap<string, readonly string[]>;
  /** Paths of the modules whose code is in the bundle. */
  readonly reached: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Bundles the modules of a project: a chunk for each, and for what they share. The same sources
 * give the same bytes in any folder.
 */
export async function buildModules(project: Project, modules: readonly SourceModule[], purpose: BundlePurpose): Promise<BuiltModules> {
  const externals = new ExternalPackages(project);
  const warnings: string[] = [];
  const bundle = await rolldown({
    cwd: project.root,
    input: { entry: ENTRY },
    platform: "node",
    experimental: { attachDebugInfo: "none" },
    plugins: [
      ...(purpose === "local" ? [builtSdkPlugin(project.root)] : []),
      entryPlugin(entrySource(modules, purpose), project.root),
      lazyMessages(here),
      builtinModules,
      externals.plugin,
    ],
    onLog: (level, log) => {
      if (level === "warn" && !log.message.includes("node_modules")) warnings.push(log.message);
    },
  });
  try {
    const { output } = await bundle.generate({
      format: "esm",
      entryFileNames: "entry.mjs",
      chunkFileNames: "chunks/[name]-[hash].mjs",
      comments: { legal: true, annotation: false, jsdoc: false },
      // The code stays in memory, with two bytes for each character if a single one is not ASCII.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
      sourcemap: true,
      sourcemapExcludeSources: true,
      // Sources are named by their place in the project, as a stack shows them.
      sourcemapPathTransform: (source, map) => mappedPath(project.root, source, map),
    });
    const files = output.map((item) => ({
      path: item.fileName,
      content: Buffer.from(item.type === "chunk" ? item.code : item.source),
    }));
    const chunks = output.filter((item) => item.type === "chunk");
    const externalsOf = new Map(modules.map(({ file }) => [file, externalsReached(file, chunks, externals)]));
    const reached = new Set(chunks.flatMap(({ moduleIds }) => moduleIds));
    return { files, externals, externalsOf, reached, warnings };
  } catch (cause) {
    throw new ProjectError(externals.failure ?? `the project cannot be bundled: ${stripVTControlCharacters((cause as Error).message)}`, {
      cause,
    });
  } finally {
    await bundle.close();
  }
}

/** Lists the external packages that the chunk of a module and those that it imports use. */
function externalsReached(file: string, chunks: readonly OutputChunk[], { imports }: ExternalPackages): string[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const pending = chunks.filter(({ facadeModuleId }) => facadeModuleId === file);
  const reached = new Set(pending);
  for (const chunk of pending) {
    for (const name of [...chunk.imports, ...chunk.dynamicImports]) {
      const next = byName.get(name);
      if (next === undefined || reached.has(next)) continue;
      reached.add(next);
      pending.push(next);
    }
  }
  const names = [...reached].flatMap(({ moduleIds }) => moduleIds.flatMap((id) => [...(imports.get(id) ?? [])]));
  return [...new Set(names)].toSorted();
}

/**
 * Returns a source's path in the project, or below the name of its package, relative to the source
 * map that lists it.
 */
function mappedPath(root: string, source: string, map: string): string {
  const path = resolve(dirname(map), source).replaceAll("\\", "/");
  const inner = path.startsWith(`${root}/`) && !path.includes("/node_modules/") ? path.slice(root.length + 1) : packagePath(path);
  return dirname(map).endsWith("/chunks") ? `../${inner}` : inner;
}

function packagePath(path: string): string {
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
    const { name } = existsSync(join(folder, "package.json")) ? readManifest(folder) : {};
    if (name !== undefined) return `node_modules/${name}${path.slice(folder.length)}`;
  }
  return `node_modules/${basename(path)}`;
}

/**
 * Provides the entry, the runtime of this command, and one SDK for both the project's modules and
 * the runtime: entities are known to the copy that made them.
 */
export function entryPlugin(source: string, root: string): Plugin {
  const ofProject = createRequire(join(root, "package.json"));
  return {
    name: "flyte-entry",
    resolveId: {
      order: "pre",
      async handler(id) {
        if (id === ENTRY) return ENTRY;
        if (RUNTIME.test(id)) return this.resolve(id, here, { skipSelf: true });
        if (SDK.test(id)) return this.resolve(id, hasSdk(ofProject) ? join(root, "flyte.config.ts") : here, { skipSelf: true });
        return undefined;
      },
    },
    load: (id) => (id === ENTRY ? source : undefined),
  };
}

/** True when the project has an SDK of its own; else that of this command is used. */
function hasSdk(ofProject: NodeJS.Require): boolean {
  try {
    ofProject.resolve("@flyte-ts/sdk");
    return true;
  } catch {
    return false;
  }
}
