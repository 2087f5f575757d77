import { type LocatedService, loadServices } from "@flyte-ts/service-manifest";
import type { StackConfig } from "../stack-config.js";
import { repositoryRoot } from "../state/paths.js";
import { StackError } from "../stack-error.js";

/**
 * Lists the services that run on top of the servers: those of the control and data planes, and
 * optional ones that the configuration names.
 *
 * @throws StackError when it names a service that does not exist
 */
export async function stackServices({
  services: named,
  pluginFolders,
}: Pick<StackConfig, "services" | "pluginFolders">): Promise<readonly LocatedService[]> {
  const deployed = (await loadServices(repositoryRoot, pluginFolders)).filter(({ manifest }) => manifest.kubernetes !== undefined);
  const optional = deployed.filter(({ manifest }) => manifest.optional).map(({ manifest }) => manifest.id);
  const unknown = named.find((id) => !optional.includes(id));
  if (unknown !== undefined)
    throw new StackError(`--services ${unknown}: optional services are ${optional.length === 0 ? "none" : optional.join(", ")}`);
  return deployed.filter(({ manifest }) => !manifest.optional || named.includes(manifest.id));
}
