import { SDK_VERSION } from "../own-package.js";
import { ProjectError } from "../project/project-error.js";

type Texts = Readonly<Record<string, string>>;

interface Manifest {
  readonly type?: string;
  readonly scripts?: Texts;
  readonly dependencies?: Texts;
  readonly devDependencies?: Texts;
}

const OWN_PACKAGE = /^@flyte-ts\//;
/** Script that `npm init` writes. */
const NO_TEST = /no test specified/;

/**
 * Returns the text of a package.json with what a project needs. Values that it has stay.
 *
 * @param template text of the template's package.json
 * @param known text of the project's package.json, if it has one
 * @throws ProjectError when the project's modules are no ES modules, or its file is no JSON
 */
export function completeManifest(template: string, known: string | undefined): string {
  const wanted = JSON.parse(template) as Manifest;
  const versioned = { ...wanted, dependencies: ownVersions(wanted.dependencies), devDependencies: ownVersions(wanted.devDependencies) };
  if (known === undefined) return textOf(versioned);
  const given = parse(known);
  if (given.type !== undefined && given.type !== "module")
    throw new ProjectError(`package.json says "type": "${given.type}"; workflows are ES modules: set "type": "module" and run init again`);
  const { test, ...scripts } = given.scripts ?? {};
  const isInstalled = (name: string) => name in (given.dependencies ?? {}) || name in (given.devDependencies ?? {});
  const lacking = (names: Texts) => Object.fromEntries(Object.entries(names).filter(([name]) => !isInstalled(name)));
  const completed = {
    ...given,
    type: "module",
    scripts: { ...wanted.scripts, ...scripts, ...(test !== undefined && !NO_TEST.test(test) && { test }) },
    dependencies: { ...given.dependencies, ...lacking(versioned.dependencies) },
    devDependencies: { ...given.devDependencies, ...lacking(versioned.devDependencies) },
  };
  return JSON.stringify(completed) === JSON.stringify(given) ? known : textOf(completed);
}

function parse(text: string): Manifest {
  try {
    return JSON.parse(text) as Manifest;
  } catch (cause) {
    throw new ProjectError(`package.json is no JSON: ${(cause as Error).message}`, { cause });
  }
}

const textOf = (manifest: object): string => `${JSON.stringify(manifest, undefined, 2)}\n`;

/** Replaces the versions of the SDK's packages by the version of this command. */
function ownVersions(dependencies: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(dependencies).map(([name, version]) => [name, OWN_PACKAGE.test(name) ? SDK_VERSION : version]));
}
