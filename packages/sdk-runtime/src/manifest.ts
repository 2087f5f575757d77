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
}

/** Content of `manifest.json`. */
export interface BundleManifest {
  readonly format: number;
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
