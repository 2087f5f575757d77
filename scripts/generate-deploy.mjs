// Generates files that follow from the manifests of services (services/**/src/manifest.ts).
//
//   node scripts/generate-deploy.mjs           writes them, and removes those of deleted services
//   node scripts/generate-deploy.mjs --check   fails, naming each file that differs
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { composeFiles } from "./deploy/compose.mjs";
import { kubernetesFiles } from "./deploy/kustomize.mjs";
import { loadManifests } from "./deploy/manifests.mjs";
import { servicesPage } from "./deploy/reference.mjs";
import { withRegions } from "./deploy/regions.mjs";
import { HEADER } from "./deploy/yaml.mjs";
import { parseCheckFlag } from "./drift.mjs";
import { root } from "./prepare.mjs";

/** Folders in which every file with the generated header belongs to a service. */
const GENERATED_FOLDERS = ["deploy/kubernetes", "deploy/compose"];
const RELEASE = ".github/workflows/release.yml";

const isCheck = parseCheckFlag("generate-deploy");

const loaded = await loadManifests();
const files = generatedFiles(loaded);
const stale = [...files].filter(([path, text]) => contentOf(path) !== text).map(([path]) => path);
const orphans = GENERATED_FOLDERS.flatMap(filesBelow).filter((path) => !files.has(path) && contentOf(path).startsWith(HEADER));

if (isCheck) {
  for (const path of stale) console.error(`generate-deploy: ${path} does not match the manifests; run npm run generate`);
  for (const path of orphans) console.error(`generate-deploy: ${path} belongs to no service; run npm run generate`);
  process.exit(stale.length + orphans.length > 0 ? 1 : 0);
}
for (const path of stale) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), files.get(path));
}
for (const path of orphans) rmSync(join(root, path));

function generatedFiles({ services, model }) {
  return new Map([
    ...kubernetesFiles({ services, model }),
    ...composeFiles({ services, model }),
    ["deploy/bus/users.json", `${JSON.stringify(model.busUsers(services), null, 2)}\n`],
    ["deploy/bus/plugin-user.json", `${JSON.stringify(pluginUser(model), null, 2)}\n`],
    [RELEASE, withRegions(RELEASE, { images: services.map(imageLine) })],
    ["tsconfig.json", typescriptProjects()],
    ["docs/reference/services.md", servicesPage({ services, model })],
  ]);
}

/** Permissions from which deploy/bus/plugin-users.mjs derives those of other plugin services. */
function pluginUser({ busUsers, defineService }) {
  const id = "plugin-ID";
  // Upper-case words cannot be part of a subject by accident.
  const manifest = { ...defineService({ id: "plugin-any", description: "Any plugin.", plane: "local", requires: { bus: {} } }), id };
  return busUsers([{ ...manifest, taskTypes: ["TYPE"] }])[id];
}

function imageLine({ names, path, image }) {
  return `- { image: ${names.image}, service: ${path}, target: ${image.target} }`;
}

/** References of the root project: every folder with a tsconfig.json, except those of users. */
function typescriptProjects() {
  const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "--", "*/tsconfig.json"];
  const references = execFileSync("git", listed, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && !/^examples\/|\/template\//.test(file) && existsSync(join(root, file)))
    .map((file) => ({ path: dirname(file) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return `${JSON.stringify({ files: [], references }, null, 2)}\n`;
}

function contentOf(path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
