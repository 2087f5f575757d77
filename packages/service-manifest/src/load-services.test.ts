import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { loadServices } from "./load-services.js";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** A folder with the package of one plugin service. */
function pluginFolder(id: string): string {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-plugins-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "own", "src"), { recursive: true });
  writeFileSync(join(folder, "own", "src", "manifest.ts"), `export const manifest = { id: "${id}", plane: "data", taskTypes: ["own"] };`);
  return folder;
}

test("every service folder has a manifest whose id is the folder's name", async () => {
  const services = await loadServices(repository);
  const named = services.map(({ folder, manifest }) => [relative(join(repository, "services"), folder), manifest.id]);
  expect(named.map(([folder = ""]) => folder.replace("plugins/", "plugin-"))).toEqual(named.map(([, id]) => id));
  expect(named.map(([folder]) => folder)).toEqual(expect.arrayContaining(["admin", "propeller", "plugins/pod", "copilot"]));
});

test("services of the control plane come first, plugin services after propeller", async () => {
  const ids = (await loadServices(repository)).map(({ manifest }) => manifest.id);
  expect(ids.slice(0, 4)).toEqual(["admin", "datacatalog", "scheduler", "propeller"]);
  expect(ids[4]).toMatch(/^plugin-/);
});

test("no two services have the same default port of health and metrics", async () => {
  const ports = (await loadServices(repository)).flatMap(({ manifest }) => manifest.opsPort ?? []);
  expect(new Set(ports).size).toBe(ports.length);
});

test("plugin services may be in folders outside the repository", async () => {
  const services = await loadServices(repository, [pluginFolder("plugin-own")]);
  expect(services.map(({ manifest }) => manifest.id)).toContain("plugin-own");
});

test("two services with one id are rejected with both folders", async () => {
  await expect(loadServices(repository, [pluginFolder("plugin-echo")])).rejects.toThrow(
    /plugins\/echo.* both have the id plugin-echo|both have the id/,
  );
});
