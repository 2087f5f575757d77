import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BusPermissions, busUsers, defineService } from "@flyte-ts/service-manifest";
import { expect, onTestFinished, test } from "vitest";
import { DEPLOYED } from "../services.js";
import { root } from "../repository.js";

const program = join(root, "deploy", "bus", "add-plugin.mjs");
const added = (...args: readonly string[]) =>
  JSON.parse(execFileSync(process.execPath, [program, ...args], { encoding: "utf8" })) as Record<string, BusPermissions>;

/** The same permissions in one order. */
function sorted(users: Readonly<Record<string, BusPermissions>>): object {
  const inOrder = (subjects: readonly string[]) => [...new Set(subjects)].sort();
  return Object.fromEntries(
    Object.entries(users).map(([id, { publish, subscribe }]) => [
      id,
      { allow: inOrder(publish.allow), deny: inOrder(publish.deny), subscribe: inOrder(subscribe.allow) },
    ]),
  );
}

test("an added plugin gets the permissions that a manifest would give it, and others lose what is its own", () => {
  const plugin = (id: string, taskTypes: string[]) =>
    defineService({ id, description: "A plugin elsewhere.", plane: "local", taskTypes, requires: { bus: {} } });
  const manifests = DEPLOYED.map(({ manifest }) => manifest);
  const expected = busUsers([...manifests, plugin("plugin-own", ["one", "two"]), plugin("plugin-other", ["three"])]);
  expect(sorted(added("plugin-own", "one", "two", "--", "plugin-other", "three"))).toEqual(sorted(expected));
});

test.each([
  [["plugin-own", "echo"], "task type echo belongs to plugin-echo"],
  [["plugin-own", "one", "--", "plugin-other", "one"], "task type one belongs to plugin-own"],
  [["plugin-pod", "one"], "plugin-pod is a user of the bus already"],
  [["own", "one"], "the id of a plugin is plugin-"],
  [["plugin-own", "a.*"], "a task type has letters, digits, _ and -"],
])("%j is refused", (args, why) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining(why)]);
});

test("Docker Compose gives an added plugin its user and its settings", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-added-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["kept", "database", "bus", "blobs", "cluster", "owned", "plugin-own", ...DEPLOYED.map(({ manifest }) => manifest.id)])
    mkdirSync(join(folder, name));
  const env = { PATH: process.env.PATH ?? "", FLYTE_TS_PLUGINS: '{"plugin-own": ["one"]}' };
  execFileSync(process.execPath, [join(root, "deploy/compose/configure.mjs"), folder, join(folder, "owned")], { env });
  const { nats, storage } = JSON.parse(readFileSync(join(folder, "plugin-own", "plugin-own.yaml"), "utf8")) as {
    readonly nats: { readonly url: string };
    readonly storage: { readonly s3: { readonly endpoint: string } };
  };
  const [, password = ""] = /^nats:\/\/plugin-own:(\w+)@nats:4222$/.exec(nats.url) ?? [];
  expect(readFileSync(join(folder, "bus", "nats.conf"), "utf8")).toContain(`"user":"plugin-own","password":"${password}"`);
  expect(storage.s3.endpoint).toBe("http://blobs:30002");
});
