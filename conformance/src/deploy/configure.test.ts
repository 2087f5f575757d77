import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "deploy", "compose", "configure.mjs");
const AUDIENCES = ["kept", "database", "bus", "blobs", "services", "cluster"];

test("passwords are made once, and each audience gets its own alone", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-configure-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [...AUDIENCES, "owned/bus"]) mkdirSync(join(folder, name), { recursive: true });
  const configure = () => execFileSync(process.execPath, [program, folder, join(folder, "owned")], { encoding: "utf8" });
  const all = () =>
    AUDIENCES.flatMap((audience) => readdirSync(join(folder, audience)).map((file) => join(audience, file))).map((file) => [
      file,
      readFileSync(join(folder, file), "utf8"),
    ]);

  expect(configure()).not.toMatch(/[0-9a-f]{16}/);
  const first = all();
  // What a run that was broken off has left is in nobody's way.
  mkdirSync(join(folder, "services", ".staged"));
  configure();
  expect(all()).toEqual(first);

  const kept = JSON.parse(readFileSync(join(folder, "kept", "secrets.json"), "utf8")) as Record<string, string>;
  expect(new Set(Object.values(kept)).size).toBe(8);
  const knownTo = (secret: string) => first.filter(([, text]) => text?.includes(secret)).map(([file]) => file);
  expect(knownTo(kept.databasePassword as string)).toEqual([
    "kept/secrets.json",
    "database/password",
    "services/admin.yaml",
    "services/datacatalog.yaml",
    "services/scheduler.yaml",
  ]);
  // Links to logs open those alone.
  expect(knownTo(kept.clusterLogToken as string)).toEqual(["kept/secrets.json", "services/plugin-pod.yaml", "cluster/keys.yaml"]);
  expect(Object.fromEntries(first)["services/plugin-pod.yaml"]).toContain(
    `http://localhost:30086/${kept.clusterLogToken}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`,
  );
  // Tasks can read what stands in the cluster's container.
  for (const secret of ["databasePassword", "busPassword.admin"])
    expect(knownTo(kept[secret] as string)).not.toContain("cluster/keys.yaml");
  for (const user of ["admin", "propeller", "plugin-pod", "plugin-echo"])
    expect(knownTo(kept[`busPassword.${user}`] as string)).toEqual(["kept/secrets.json", "bus/nats.conf", `services/${user}.yaml`]);
  for (const [file = ""] of first)
    expect([file, statSync(join(folder, file)).mode & 0o007]).toEqual([file, file === "database/password" ? 4 : 0]);
});
