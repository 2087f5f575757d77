import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openBlobs } from "../blob/open-blobs.js";
import { ENTRY_FILE } from "../manifest.js";
import { type BundleEntry, RUN_FORMAT, type RunRequest } from "../run-request.js";
import { type ErrorClass, SYSTEM_FAILURE } from "../failure/error-class.js";
import { BootstrapError } from "./bootstrap-error.js";
import { fetchBundle } from "./bundle-cache.js";
import { bundleRoot } from "./bundle-root.js";
import { prepareExternals } from "./externals.js";
import { type ExecuteFlags, parseFlags } from "./flags.js";

/**
 * Runs the task that the arguments of a container name. Returns the exit status. A task whose code
 * cannot be started fails with the reason, as if it had thrown it.
 */
export async function execute(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const flags = parseFlags(argv);
  const blobs = openBlobs(environment);
  const { addresses, task, map, code } = flags;
  let entry: BundleEntry;
  try {
    entry = await loadEntry(flags, { blobs, environment });
  } catch (error) {
    const { errorClass, message } =
      error instanceof BootstrapError ? error : new BootstrapError(`the bundle cannot be loaded: ${stackOf(error)}`, LOAD_FAILURE);
    process.stderr.write(`${message}\n`);
    const { writeFailure } = await import("../failure/failure-document.js");
    await writeFailure({ blobs, environment, outputPrefix: addresses.outputPrefix }, { ...errorClass, message });
    return environment["FLYTE_FAIL_ON_ERROR"] === "true" ? 1 : 0;
  }
  return entry.run({ format: RUN_FORMAT, task, addresses, map, code, environment, blobs });
}

/** Class of an error that the modules of a bundle throw when they are loaded. */
const LOAD_FAILURE: ErrorClass = { code: "USER:LoadError", recoverable: false, origin: "user" };

async function loadEntry(
  { code, task }: ExecuteFlags,
  { blobs, environment }: Pick<RunRequest, "blobs"> & { readonly environment: NodeJS.ProcessEnv },
): Promise<BundleEntry> {
  let file: string;
  if (code.kind === "entry") file = resolve(code.path);
  else {
    const folder = await fetchBundle(blobs, code, bundleRoot(environment));
    prepareExternals(folder, { task, searched: [process.cwd(), dirname(fileURLToPath(import.meta.url))] });
    file = join(folder, ENTRY_FILE);
  }
  const entry = (await import(pathToFileURL(file).href)) as Partial<BundleEntry>;
  if (entry.format !== RUN_FORMAT || entry.run === undefined) {
    const remedy = "use @flyte-ts/runtime and @flyte-ts/cli of one version";
    throw new BootstrapError(
      `the bundle has the format ${entry.format ?? "of no bundle"}, this runtime runs ${RUN_FORMAT}: ${remedy}`,
      SYSTEM_FAILURE,
    );
  }
  return { format: entry.format, run: entry.run };
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
