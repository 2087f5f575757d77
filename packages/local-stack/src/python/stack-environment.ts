import { chmodSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceAtomically, runProgram } from "@flyte-ts/host";

/**
 * Python environment of one stack: its own packages take precedence over those of the shared
 * environment that it is based on.
 */
export interface StackEnvironment {
  readonly folder: string;
  readonly bin: string;
  readonly python: string;
  /** Folder of its own packages. */
  readonly packages: string;
}

/** File that adds the packages of the shared environment. */
const LINK_FILE = "flyte-ts-shared.pth";

/** Paths of the environment below a stack's data folder, whether it exists or not. */
export function stackEnvironment(folder: string): StackEnvironment {
  const bin = join(folder, "bin");
  return { folder, bin, python: join(bin, "python"), packages: findSitePackages(folder) ?? join(folder, "lib", "site-packages") };
}

/** True when the environment exists and is complete. */
export const isComplete = (folder: string): boolean => existsSync(join(folder, "complete"));

/**
 * True when it is based on this shared environment, not on one of another version of Python or of
 * flyte-ts.
 */
export function isBasedOn(folder: string, shared: string): boolean {
  const link = join(stackEnvironment(folder).packages, LINK_FILE);
  return existsSync(link) && readFileSync(link, "utf8") === linkContent(shared);
}

/**
 * Creates an environment that uses the packages of the shared one without copying them. Copies the
 * console scripts of the shared environment, so that the Python of the new one runs them. The
 * folder is replaced by the complete environment or stays as it is.
 *
 * @param shared folder of the shared environment
 * @throws Error with Python's output
 */
export async function createStackEnvironment(folder: string, shared: string, signal: AbortSignal): Promise<void> {
  await replaceAtomically(folder, async (staged) => {
    await runProgram(join(shared, "bin", "python"), ["-m", "venv", "--without-pip", staged], { signal });
    writeFileSync(join(stackEnvironment(staged).packages, LINK_FILE), linkContent(shared));
    copyScripts(join(shared, "bin"), join(staged, "bin"), shebang(folder));
    writeFileSync(join(staged, "complete"), "");
  });
}

/** Line of a .pth file that adds a site folder, whose own .pth files count too. */
const linkContent = (shared: string): string => `import site; site.addsitedir(${JSON.stringify(findSitePackages(shared) ?? shared)})\n`;

const findSitePackages = (folder: string): string | undefined => globSync(join(folder, "lib", "python*", "site-packages"))[0];

/**
 * Console scripts begin with the path of their Python: each is copied with that of this
 * environment.
 */
function copyScripts(from: string, to: string, first: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const copy = join(to, entry.name);
    if (!entry.isFile() || existsSync(copy)) continue;
    const text = readFileSync(join(from, entry.name), "latin1");
    const head = SHEBANG.exec(text)?.[0];
    if (head === undefined) continue;
    writeFileSync(copy, `${first}\n${text.slice(head.length)}`, "latin1");
    chmodSync(copy, 0o755);
  }
}

/** First line of a console script: the Python that runs it, or a shell that starts that Python. */
const SHEBANG = /^#!(\/.*\/python[\d.]*|\/bin\/sh\n'''exec' .*\/python.*\n' ''')\n/;

/**
 * Kernels read 127 bytes of this line, without blanks: otherwise a shell starts Python, as in pip's
 * scripts.
 */
function shebang(folder: string): string {
  const python = join(folder, "bin", "python");
  return python.includes(" ") || python.length > 124 ? `#!/bin/sh\n'''exec' "${python}" "$0" "$@"\n' '''` : `#!${python}`;
}
