import { chmodSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complete } from "@flyte-ts/local-servers";
import { runProgram } from "./run-program.js";

/** Python environment of one stack: its packages come first, and those of the shared environment that it rests on after them. */
export interface OwnEnvironment {
  readonly folder: string;
  readonly bin: string;
  readonly python: string;
  /** Folder of its own packages. */
  readonly packages: string;
}

/** File that names the shared environment; its packages are looked at too. */
const LINK = "flyte-ts-shared.pth";

/** The environment below a stack's data folder, whether it has been made or not. */
export function ownEnvironment(folder: string): OwnEnvironment {
  const bin = join(folder, "bin");
  return { folder, bin, python: join(bin, "python"), packages: packagesOf(folder) ?? join(folder, "lib", "site-packages") };
}

/** True when the environment is there, complete. */
export const isMade = (folder: string): boolean => existsSync(join(folder, "complete"));

/** True when it rests on this shared environment, rather than on one of another version of Python or of flyte-ts. */
export function restsOn(folder: string, shared: string): boolean {
  const link = join(ownEnvironment(folder).packages, LINK);
  return existsSync(link) && readFileSync(link, "utf8") === linkTo(shared);
}

/**
 * Makes an environment that sees the packages of the shared one without a copy of them, and has its console scripts, run by its own
 * Python. It stands at its folder when it is complete, or not at all; what stood there goes.
 *
 * @param shared folder of the shared environment
 * @throws Error with what Python said
 */
export async function makeOwnEnvironment(folder: string, shared: string, signal: AbortSignal): Promise<void> {
  await complete(folder, async (staged) => {
    await runProgram(join(shared, "bin", "python"), ["-m", "venv", "--without-pip", staged], signal);
    writeFileSync(join(ownEnvironment(staged).packages, LINK), linkTo(shared));
    copyScripts(join(shared, "bin"), join(staged, "bin"), firstLine(folder));
    writeFileSync(join(staged, "complete"), "");
  });
}

/** Line of a .pth file: as a folder of packages of its own, whose .pth files count too. */
const linkTo = (shared: string): string => `import site; site.addsitedir(${JSON.stringify(packagesOf(shared) ?? shared)})\n`;

const packagesOf = (folder: string): string | undefined => globSync(join(folder, "lib", "python*", "site-packages"))[0];

/** Console scripts begin with the Python that runs them: each gets one that begins with the Python of this environment. */
function copyScripts(from: string, to: string, first: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const copy = join(to, entry.name);
    if (!entry.isFile() || existsSync(copy)) continue;
    const text = readFileSync(join(from, entry.name), "latin1");
    const head = FIRST_LINE.exec(text)?.[0];
    if (head === undefined) continue;
    writeFileSync(copy, `${first}\n${text.slice(head.length)}`, "latin1");
    chmodSync(copy, 0o755);
  }
}

/** Beginning of a console script: the Python that runs it, or a shell that starts that Python. */
const FIRST_LINE = /^#!(\/.*\/python[\d.]*|\/bin\/sh\n'''exec' .*\/python.*\n' ''')\n/;

/** Kernels read 127 bytes of this line, and no blank in it: otherwise a shell starts Python, as in pip's scripts. */
function firstLine(folder: string): string {
  const python = join(folder, "bin", "python");
  return python.includes(" ") || python.length > 124 ? `#!/bin/sh\n'''exec' "${python}" "$0" "$@"\n' '''` : `#!${python}`;
}
