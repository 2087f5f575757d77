import { createHash } from "node:crypto";

/** File of a bundle that describes it. */
export const MANIFEST_FILE = "manifest.json";
/** Module of a bundle that exports `BundleEntry`. */
export const ENTRY_FILE = "entry.mjs";

/** Package that a bundle imports and that is not part of its modules. */
export interface ExternalPackage {
  readonly name: string;
  readonly version: string;
  /** Places that import it, `src/flows/train.ts:4`, in order. */
  readonly importedAt: readonly string[];
}

/** Task of a bundle. */
export interface BundledTask {
  /** Registered name. */
  readonly name: string;
  /** Module of the task and its export, as in the container's arguments. */
  readonly module: string;
  readonly export: string;
  /** External packages that the task's code imports. */
  readonly externals: readonly string[];
  /** SHA-256 of the code that the task uses, without comments. */
  readonly codeHash: string;
}

/** Content of `manifest.json`. */
export interface BundleManifest {
  readonly format: number;
  /** Version of the SDK that made it. */
  readonly sdkVersion: string;
  readonly tasks: readonly BundledTask[];
  readonly externals: readonly ExternalPackage[];
  /** `bundle`: they are in the bundle's `node_modules`; `image`: the image has to hold them. */
  readonly externalsFrom: "image" | "bundle";
  /** Platform of the native packages in the bundle, `linux-x64-glibc`; absent without any. */
  readonly platform?: string;
}

/** Names this platform as manifests do. */
export function thisPlatform(): string {
  const { glibcVersionRuntime } = (process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }).header;
  const libc = process.platform !== "linux" ? "" : glibcVersionRuntime === undefined ? "-musl" : "-glibc";
  return `${process.platform}-${process.arch}${libc}`;
}

/**
 * Returns the cache version of a task: a hash of its code, and of the packages that its code leaves
 * outside. Where the image holds these, its name is part of the hash.
 */
export function cacheVersionOf(
  { tasks, externals, externalsFrom }: BundleManifest,
  { name, image }: { readonly name: string; readonly image: string },
): string | undefined {
  const task = tasks.find((entry) => entry.name === name);
  if (task === undefined) return undefined;
  const packages = externals
    .filter((external) => task.externals.includes(external.name))
    .map((external) => [external.name, external.version]);
  const parts = [task.codeHash, packages, packages.length > 0 && externalsFrom === "image" ? image : ""];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, CACHE_VERSION_LENGTH);
}

/** Length of a cache version, hex digits. */
const CACHE_VERSION_LENGTH = 32;
