// Collects the licences of the packages whose code is in a bundle.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Returns the licences of all packages of others in a bundle, by the sources of its maps.
 *
 * @throws Error that names a package without a licence
 */
export function thirdPartyLicenses(bundle) {
  const maps = readdirSync(bundle, { recursive: true }).filter((file) => file.endsWith(".map"));
  const sources = maps.flatMap((file) => sourcesOf(join(bundle, file)));
  const packages = new Map();
  for (const source of sources) {
    if (!source.includes("node_modules/")) continue;
    const folder = packageFolder(dirname(source));
    packages.set(folder, JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  }
  const texts = [...packages]
    .toSorted(([, a], [, b]) => (a.name < b.name ? -1 : 1))
    .map(([folder, { name, version, license }]) => `${name} ${version}, ${license}\n\n${licenseOf(folder, { name, license })}`);
  return `This package contains code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** Returns the absolute paths of the sources of a map. */
function sourcesOf(map) {
  return JSON.parse(readFileSync(map, "utf8")).sources.map((source) => resolve(dirname(map), source));
}

function licenseOf(folder, { name, license }) {
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8").trimEnd();
  if (license === undefined) throw new Error(`${name} has neither a file nor a name of its licence`);
  return `Licensed under ${license}.`;
}

/** Returns the folder of a package; some hold manifests without a name, for module formats. */
function packageFolder(folder) {
  const manifest = join(folder, "package.json");
  const isPackage = existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version !== undefined;
  return isPackage ? folder : packageFolder(dirname(folder));
}
