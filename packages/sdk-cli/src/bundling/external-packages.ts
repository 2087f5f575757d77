import { existsSync, globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import type { ExternalPackage } from "@flyte-ts/runtime";
import type { Plugin } from "rolldown";
import type { Project } from "../project/project.js";
import { ProjectError } from "../project/project-error.js";

/** Names of packages that hold the build of one platform. */
const PLATFORM_PACKAGE = /(^|[-/@])(linux|darwin|win32|freebsd|android)-(x64|arm64|arm|ia32|riscv64|s390x|ppc64)/;

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly gypfile?: boolean;
  readonly binary?: unknown;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Found {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly importedAt: Set<string>;
}

/**
 * Packages that a bundle leaves outside: those with native parts, which it finds by itself, and
 * those that the project names.
 */
export class ExternalPackages {
  readonly #found = new Map<string, Found>();
  /** Modules and the external packages that they import. */
  readonly imports = new Map<string, Set<string>>();
  readonly #native = new Map<string, boolean>();
  /** Reason why the project cannot be bundled; the bundler wraps what a plugin throws. */
  failure: string | undefined;

  constructor(private readonly project: Pick<Project, "root" | "externals">) {}

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  /** Folders of the packages, by name. */
  get folders(): ReadonlyMap<string, string> {
    return new Map([...this.#found.values()].map(({ name, folder }) => [name, folder]));
  }

  list(): ExternalPackage[] {
    return [...this.#found.values()]
      .map(({ name, version, importedAt }) => ({ name, version, importedAt: [...importedAt].toSorted() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  get plugin(): Plugin {
    const resolveExternal = (id: string, importer: string | undefined, resolved: string | undefined) =>
      this.#resolve(id, importer, resolved);
    return {
      name: "flyte-externals",
      resolveId: {
        order: "pre",
        async handler(id, importer) {
          if (importer === undefined || !/^[@a-zA-Z]/.test(id) || id.startsWith("node:")) return undefined;
          const resolved = await this.resolve(id, importer, { skipSelf: true });
          return resolveExternal(id, importer, resolved?.id);
        },
      },
    };
  }

  #resolve(
    id: string,
    importer: string | undefined,
    resolved: string | undefined,
  ): { readonly id: string; readonly external: true } | undefined {
    const name = packageName(id);
    const isNamed = this.project.externals.includes(name);
    const folder = packageFolder(resolved, name);
    if (folder === undefined) {
      if (isNamed) this.#refuse(`the external package ${name} is not installed: npm install ${name}`);
      const isAuthors = importer !== undefined && !importer.includes("/node_modules/");
      // Packages may name others that are optional.
      if (resolved !== undefined || isBuiltin(id) || !isAuthors) return undefined;
      this.#refuse(`${this.#placeOf(importer, id)} imports ${id}, which is not found: npm install ${name}`);
    }
    if (!isNamed && !this.#isNative(folder)) return undefined;
    const { version = "" } = readManifest(folder);
    const entry = this.#found.get(name) ?? { name, version, folder, importedAt: new Set<string>() };
    this.#found.set(name, entry);
    if (importer !== undefined) {
      entry.importedAt.add(this.#placeOf(importer, id));
      this.imports.set(importer, (this.imports.get(importer) ?? new Set()).add(name));
    }
    return { id, external: true };
  }

  #refuse(message: string): never {
    this.failure ??= message;
    throw new ProjectError(message);
  }

  #isNative(folder: string): boolean {
    const known = this.#native.get(folder);
    if (known !== undefined) return known;
    const { gypfile, binary, optionalDependencies = {} } = readManifest(folder);
    const native =
      gypfile === true ||
      binary !== undefined ||
      existsSync(join(folder, "binding.gyp")) ||
      existsSync(join(folder, "prebuilds")) ||
      Object.keys(optionalDependencies).some((name) => PLATFORM_PACKAGE.test(name)) ||
      globSync(["*.node", "build/Release/*.node", "lib/**/*.node", "dist/**/*.node"], { cwd: folder }).length > 0;
    this.#native.set(folder, native);
    return native;
  }

  /** Returns the place of an import, `src/flows/train.ts:4`. */
  #placeOf(importer: string, id: string): string {
    const path = relative(this.project.root, importer).replaceAll("\\", "/");
    const line = readFileSync(importer, "utf8")
      .split("\n")
      .findIndex((text) => text.includes(`"${id}"`) || text.includes(`'${id}'`));
    return line < 0 ? path : `${path}:${line + 1}`;
  }
}

const packageName = (id: string): string => id.split("/", id.startsWith("@") ? 2 : 1).join("/");

/** Returns the folder of the package that holds a resolved module. */
function packageFolder(resolved: string | undefined, name: string): string | undefined {
  if (resolved === undefined) return undefined;
  for (let folder = dirname(resolved); dirname(folder) !== folder; folder = dirname(folder))
    if (existsSync(join(folder, "package.json")) && readManifest(folder).name === name) return folder;
  return undefined;
}

export function readManifest(folder: string): Manifest & { readonly dependencies?: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
