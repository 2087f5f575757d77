import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { loadServices, type LocatedService } from "@flyte-ts/service-manifest";

/** Root of the repository. */
export const repository = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Every service of the repository. */
export const SERVICES = await loadServices(repository);

/** Services that `deploy/kubernetes` deploys, optional ones too. */
export const DEPLOYED: readonly LocatedService[] = SERVICES.filter(({ manifest }) => manifest.kubernetes !== undefined);

/** @throws Error when no service has the id */
export function serviceOf(id: string): LocatedService {
  const found = SERVICES.find(({ manifest }) => manifest.id === id);
  if (found === undefined) throw new Error(`there is no service ${id}`);
  return found;
}

/** Folders of `deploy/kubernetes` that an overlay adds to run the optional services. */
export const OPTIONAL_FOLDERS: readonly string[] = DEPLOYED.filter(({ manifest }) => manifest.optional).map(
  ({ manifest }) => `optional/${manifest.id}`,
);
