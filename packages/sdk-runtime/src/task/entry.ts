import { collectEntities, type Collection } from "@flyte-ts/sdk/runtime";
import { type BundleEntry, RUN_FORMAT, type RunRequest } from "../run-request.js";
import { rehearseTask } from "./rehearse-task.js";
import { runRequest } from "./run.js";

/** Module of a bundle that holds entities. */
export interface TaskModule {
  /** Path within the project without its ending, as in the arguments of containers. */
  readonly module: string;
  /** Begins the names of its entities. */
  readonly prefix: string;
  readonly load: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Entry of a bundle, with what registering needs. */
export interface TaskEntry extends BundleEntry {
  /** Loads all modules. */
  readonly collect: () => Promise<Collection>;
}

/**
 * Makes the entry of a bundle.
 *
 * @param folder URL of the bundle's folder
 */
export function createEntry(modules: readonly TaskModule[], folder: string): TaskEntry {
  const load = async (wanted: readonly TaskModule[]): Promise<Collection> =>
    collectEntities(
      await Promise.all(wanted.map(async ({ module, prefix, load: imported }) => ({ module, prefix, exports: await imported() }))),
    );
  const collect = () => load(modules);
  const run = (request: RunRequest): Promise<number> =>
    runRequest(request, { folder, collect, collectOne: (module) => load(modules.filter((known) => known.module === module)) });
  return { format: RUN_FORMAT, run, collect, prepare: rehearseTask };
}
