import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const deploy = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "deploy");

/**
 * Lists the settings of a service in `deploy/` as command-line arguments: the service must accept
 * each. `file` is their file name, such as `admin.yaml`.
 */
export function deployedConfigs(file: string): readonly (readonly [place: string, argv: readonly string[]])[] {
  const kubernetes = join(deploy, "kubernetes");
  const settings = ["control-plane", "data-plane"].map((plane) => join(kubernetes, plane, "settings", file)).filter(existsSync);
  const places: (readonly [string, readonly string[]])[] = readdirSync(join(kubernetes, "overlays")).flatMap((overlay) => {
    const site = join(kubernetes, "overlays", overlay, "site", file);
    return existsSync(site) ? [[`overlay ${overlay}`, [...settings, site]] as const] : [];
  });
  const optional = ["settings", "site"].map((folder) => join(kubernetes, "optional", basename(file, ".yaml"), folder, file));
  if (optional.every(existsSync)) places.push(["optional service", optional]);
  const compose = join(deploy, "compose", "config", file);
  if (existsSync(compose)) places.push(["compose", [compose]]);
  return places.map(([place, files]) => [place, files.flatMap((path) => ["--config", path])] as const);
}
