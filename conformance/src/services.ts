import { loadServices, type LocatedService } from "@flyte-ts/service-manifest";
import { root } from "./repository.js";

/** Every service of the repository. */
export const SERVICES = await loadServices(root);

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
