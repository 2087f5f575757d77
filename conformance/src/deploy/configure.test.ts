import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busServices } from "@flyte-ts/service-manifest";
import { expect, onTestFinished, test } from "vitest";
import { DEPLOYED } from "../services.js";
import { root } from "../repository.js";

const program = join(root, "deploy", "compose", "configure.mjs");
const USERS = busServices(DEPLOYED.map(({ manifest }) => manifest)).map(({ id }) => id);
const AUDIENCES = ["kept", "database", "bus", "blobs", "cluster", ...DEPLOYED.map(({ manifest }) => manifest.id)];

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-configure-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [...AUDIENCES, "owned/bus"]) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}

/** Returns the files that the program writes into a folder, by name. */
function configured(folder: string, environment: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const env = { PATH: process.env.PATH ?? "", ...environment };
  execFileSync(process.execPath, [program, folder, join(folder, "owned")], { encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
  const files = AUDIENCES.flatMap((audience) => readdirSync(join(folder, audience)).map((file) => join(audience, file)));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

test("passwords are created once, and each audience gets only its own", () => {
  const folder = emptyFolder();
  const configure = () => execFileSync(process.execPath, [program, folder, join(folder, "owned")], { encoding: "utf8" });
  const all = () =>
    AUDIENCES.flatMap((audience) => readdirSync(join(folder, audience)).map((file) => join(audience, file))).map((file) => [
      file,
      readFileSync(join(folder, file), "utf8"),
    ]);

  expect(configure()).not.toMatch(/[0-9a-f]{16}/);
  const first = all();
  // The leftovers of an interrupted run do not disturb the next one.
  mkdirSync(join(folder, "admin", ".staged"));
  configure();
  expect(all()).toEqual(first);

  const kept = JSON.parse(readFileSync(join(folder, "kept", "secrets.json"), "utf8")) as Record<string, string>;
  expect(new Set(Object.values(kept)).size).toBe(4 + USERS.length);
  const knownTo = (secret: string) => first.filter(([, text]) => text?.includes(secret)).map(([file]) => file);
  expect(knownTo(kept.databasePassword as string)).toEqual([
    "kept/secrets.json",
    "database/password",
    "admin/admin.yaml",
    "datacatalog/datacatalog.yaml",
    "scheduler/scheduler.yaml",
  ]);
  // The token of log links opens logs only.
  expect(knownTo(kept.clusterLogToken as string)).toEqual([
    "kept/secrets.json",
    "cluster/keys.yaml",
    "plugin-operator/plugin-operator.yaml",
    "plugin-pod/plugin-pod.yaml",
  ]);
  expect(Object.fromEntries(first)["plugin-pod/plugin-pod.yaml"]).toContain(
    `http://localhost:30086/${kept.clusterLogToken}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`,
  );
  // Tasks can read the files of the cluster's container.
  for (const secret of ["databasePassword", "busPassword.admin"])
    expect(knownTo(kept[secret] as string)).not.toContain("cluster/keys.yaml");
  for (const user of USERS)
    expect(knownTo(kept[`busPassword.${user}`] as string)).toEqual(["kept/secrets.json", "bus/nats.conf", `${user}/${user}.yaml`]);
  for (const [file = ""] of first)
    expect([file, statSync(join(folder, file)).mode & 0o007]).toEqual([file, file === "database/password" ? 4 : 0]);
});

test("installations share no secret, and the repository contains none", () => {
  const [one, other] = [configured(emptyFolder()), configured(emptyFolder())].map((files) =>
    Object.values(JSON.parse(files["kept/secrets.json"] ?? "{}") as Record<string, string>),
  );
  expect(one?.length).toBeGreaterThan(7);
  expect(one?.filter((secret) => other?.includes(secret))).toEqual([]);
  for (const secret of one ?? []) expect(secret).toMatch(/^[0-9a-f]{12,}$/);
});

test("FLYTE_TS_AUTH enables authentication, and each calling service has its own credentials", () => {
  const open = configured(emptyFolder());
  for (const [file, text] of Object.entries(open)) expect([file, text.includes('"auth"')]).toEqual([file, false]);

  const required = configured(emptyFolder(), { FLYTE_TS_AUTH: "required", FLYTE_TS_PORT: "31080" });
  const read = (file: string) => JSON.parse(required[file] ?? "") as Record<string, unknown>;
  expect(read("admin/admin.yaml")["auth"]).toEqual({
    mode: "required",
    publicUrl: "http://localhost:31080",
    builtIn: { secretsFolder: "/sign-in" },
    roles: [
      { subject: "admin", role: "admin" },
      { subject: "flytekit", role: "contributor" },
    ],
  });
  for (const [service, clientId] of [
    ["propeller", "flytepropeller"],
    ["scheduler", "flytescheduler"],
  ])
    expect(read(`${service}/${service}.yaml`)["admin"]).toEqual({
      auth: { clientId, clientSecretFile: `/sign-in/${clientId}`, tokenEndpoint: "http://api:30080/oauth2/token" },
    });
  expect(read("datacatalog/datacatalog.yaml")["auth"]).toEqual({
    mode: "required",
    providers: [{ issuer: "http://localhost:31080", keysUrl: "http://api:30080/oauth2/jwks", audience: ["http://localhost:31080"] }],
  });
  expect(read("propeller/propeller.yaml")["catalog"]).toEqual(read("propeller/propeller.yaml")["admin"]);
  expect(() => configured(emptyFolder(), { FLYTE_TS_AUTH: "on" })).toThrow(/FLYTE_TS_AUTH must be open or required/);
});
