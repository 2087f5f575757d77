// Values with which the chart equals an overlay of deploy/kubernetes.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { BASES, COMPONENTS } from "./composition.mjs";
import { manifests, overlay } from "./kustomize.mjs";
import { SERVICES } from "./services.mjs";

/** Omitted here: Helm installs into an existing namespace. */
const NOT_OF_RELEASES = new Set(["namespace"]);

export function overlayNames() {
  return readdirSync(join(manifests, "overlays")).toSorted();
}

/** @returns text of a values file */
export function overlayValues(name) {
  const { resources, components = [], images } = overlay(name);
  const folders = new Set([...resources, ...components].map((path) => path.replace(/^(\.\.\/)+/, "")));
  for (const folder of folders)
    if (!(folder in BASES) && !(folder in COMPONENTS)) throw new Error(`overlay ${name}: no value of the chart selects ${folder}`);
  const parts = Object.fromEntries(
    Object.entries({ ...BASES, ...COMPONENTS })
      .filter(([folder]) => !NOT_OF_RELEASES.has(folder))
      .map(([folder, { part }]) => [part, folders.has(folder)]),
  );
  return [
    `# As deploy/kubernetes/overlays/${name}. Made from it by \`npm run generate\`.\n`,
    stringify({ parts, image: imageOf(name, images) }),
    ...Object.entries(SERVICES).flatMap(([container, { values }]) => settingsOf(name, `${container}.yaml`, values)),
  ].join("");
}

function imageOf(name, images) {
  const places = new Set(
    images.map(({ name: image, newName, newTag }) => `${newName.replace(new RegExp(`/${image.split("/")[1]}$`), "")} ${newTag}`),
  );
  if (places.size !== 1) throw new Error(`${name}: images of several registries or tags`);
  const [registry, tag] = [...places][0].split(" ");
  return { registry, tag };
}

/** Keep the comments of the site's file. */
function settingsOf(overlayName, file, values) {
  const path = join(manifests, "overlays", overlayName, "site", file);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  if (text.trim() === "{}") return [];
  return [`${values}:\n  settings:\n`, text.trimEnd().replaceAll(/^(?=.)/gm, "    "), "\n"];
}
