import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BundleFile } from "./build-modules.js";
import { readManifest } from "./external-packages.js";

/**
 * Collects the files of packages and of all that they depend on, as a `node_modules` folder.
 *
 * @param folders folder of each package by its name
 */
export function packageFiles(folders: ReadonlyMap<string, string>): BundleFile[] {
  const placed = new Map([...folders].map(([name, folder]) => [`node_modules/${name}`, realpathSync(folder)]));
  const pending = [...placed];
  for (const [place, folder] of pending) {
    const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }).toSorted()) {
      const found = findPackage(folder, name);
      // Optional packages of other platforms are not installed.
      if (found === undefined) continue;
      const shared = `node_modules/${name}`;
      const known = placed.get(shared);
      if (known === found) continue;
      const target = known === undefined ? shared : `${place}/node_modules/${name}`;
      placed.set(target, found);
      pending.push([target, found]);
    }
  }
  return [...placed].flatMap(([place, folder]) => filesOf(folder, place));
}

function findPackage(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, "node_modules", name);
    if (existsSync(join(found, "package.json"))) return realpathSync(found);
    if (dirname(folder) === folder) return undefined;
  }
}

function filesOf(folder: string, place: string): BundleFile[] {
  return readdirSync(folder).flatMap((name) => {
    if (name === "node_modules") return [];
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) return filesOf(path, `${place}/${name}`);
    if (!stats.isFile()) return [];
    return [{ path: `${place}/${name}`, content: readFileSync(path), executable: (stats.mode & 0o100) !== 0 }];
  });
}
