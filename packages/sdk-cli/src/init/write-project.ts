import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PACKAGE_FOLDER } from "../own-package.js";
import { ProjectError } from "../project/project-error.js";
import type { NewProject } from "./ask-settings.js";
import { completeManifest } from "./complete-manifest.js";

/** Files of a project that are copied, and their names in the template where these differ. */
const COPIED: Readonly<Record<string, string>> = {
  "tsconfig.json": "tsconfig.json",
  // npm leaves files of this name out of packages.
  ".gitignore": "gitignore",
  Dockerfile: "Dockerfile",
  "src/flows/hello.ts": "src/flows/hello.ts",
  "src/flows/hello.test.ts": "src/flows/hello.test.ts",
};
const CONFIG = "flyte.config.ts";
const MANIFEST = "package.json";

/** A file of the project, and its state after `init`. */
export interface WrittenFile {
  readonly path: string;
  readonly action: "created" | "kept" | "extended";
}

/**
 * Writes the files of a new project. Files that exist stay as they are; package.json receives what
 * it lacks.
 *
 * @throws ProjectError before anything is written, when the folder cannot hold the project
 */
export function writeProject(folder: string, settings: NewProject): readonly WrittenFile[] {
  const config = `${JSON.stringify(settings.project)},\n  domain: ${JSON.stringify(settings.domain)}`;
  const texts: Readonly<Record<string, string>> = {
    [CONFIG]: templateFile(CONFIG).replace('"flytesnacks",\n  domain: "development"', () => config),
    ...Object.fromEntries(Object.entries(COPIED).map(([path, source]) => [path, templateFile(source)])),
  };
  for (const path of [MANIFEST, ...Object.keys(texts)]) checkPlace(folder, path);
  const known = existsSync(join(folder, MANIFEST)) ? readFileSync(join(folder, MANIFEST), "utf8") : undefined;
  const manifest = completeManifest(templateFile(MANIFEST), known);
  const action = known === undefined ? "created" : known === manifest ? "kept" : "extended";
  if (action !== "kept") write(folder, MANIFEST, manifest);
  return [
    { path: MANIFEST, action },
    ...Object.entries(texts).map(([path, text]): WrittenFile => {
      if (existsSync(join(folder, path))) return { path, action: "kept" };
      write(folder, path, text);
      return { path, action: "created" };
    }),
  ];
}

const templateFile = (path: string): string => readFileSync(join(PACKAGE_FOLDER, "template", path), "utf8");

/** Refuses a path that leads through a file, or names a folder. */
function checkPlace(root: string, path: string): void {
  const file = join(root, path);
  if (existsSync(file) && statSync(file).isDirectory()) throw new ProjectError(`${file} is a folder; init writes a file there`);
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    if (!existsSync(folder)) continue;
    if (!statSync(folder).isDirectory()) throw new ProjectError(`${folder} is a file; init needs a folder there`);
    return;
  }
}

function write(root: string, path: string, text: string): void {
  const file = join(root, path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Fails for a file that appeared meanwhile, except for the manifest, which was read.
    writeFileSync(file, text, { flag: path === MANIFEST ? "w" : "wx" });
  } catch (cause) {
    throw new ProjectError(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
