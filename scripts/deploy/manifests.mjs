// Loads the manifests of all services from their sources, so that generated files never follow a
// stale build.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { root } from "../prepare.mjs";

const ENTRY = "\0manifests";

/** Lists the folders of services below `services/`, such as `plugins/pod`. */
export function servicePaths() {
  const services = join(root, "services");
  return ["", "plugins"]
    .flatMap((above) => readdirSync(join(services, above)).map((name) => (above === "" ? name : `${above}/${name}`)))
    .filter((path) => existsSync(join(services, path, "src", "manifest.ts")))
    .toSorted();
}

/**
 * Loads manifests and the model of packages/service-manifest.
 *
 * @returns `services`: each with its manifest, its names and its path below `services/`; `model`:
 *   exports of the package
 */
export async function loadManifests() {
  const paths = servicePaths();
  const code = [
    ...paths.map(
      (path, index) =>
        `import { manifest as manifest${index} } from ${JSON.stringify(join(root, "services", path, "src", "manifest.ts"))};`,
    ),
    `export const manifests = [${paths.map((_, index) => `manifest${index}`).join(", ")}];`,
    `export * as model from ${JSON.stringify(join(root, "packages", "service-manifest", "src", "index.ts"))};`,
  ].join("\n");
  const bundle = await rolldown({
    input: ENTRY,
    platform: "node",
    resolve: { conditionNames: ["source", "node"] },
    plugins: [{ name: "manifests", resolveId: (id) => (id === ENTRY ? id : undefined), load: (id) => (id === ENTRY ? code : undefined) }],
  });
  const folder = mkdtempSync(join(root, "node_modules", ".manifests-"));
  try {
    await bundle.write({ dir: folder, format: "esm", entryFileNames: "manifests.mjs" });
    const { manifests, model } = await import(pathToFileURL(join(folder, "manifests.mjs")).href);
    const services = manifests.map((manifest, index) => ({ ...manifest, path: paths[index], names: model.serviceNames(manifest) }));
    return { services: model.sortServices(services, (service) => service), model };
  } finally {
    await bundle.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
