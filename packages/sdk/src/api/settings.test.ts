import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adminSection } from "./flytectl-file.js";
import { type ConnectionSettings, type Environment, originOf, resolveSettings } from "./settings.js";

const FILE = `# flytectl
console:
  endpoint: https://console.example.org
admin:
  endpoint: dns:///flyte.example.org   # the ingress
  insecure: false
  clientId: "robot"
  clientSecretEnvVar: 'ROBOT_SECRET'
  scopes:
    - all
  nested:
    endpoint: elsewhere
logger:
  level: 0
`;
const resolved = (given: ConnectionSettings, environment: Environment) =>
  resolveSettings(given, environment, async () => adminSection(FILE));

test("arguments come before the environment, that before flytectl's file, that before the sandbox", async () => {
  const environment = { FLYTE_PLATFORM_URL: "env.example.org:81", FLYTE_TS_TOKEN: "t1" };
  expect(await resolved({ endpoint: "http://given:82", token: "t0" }, environment)).toMatchObject({
    origin: "http://given:82",
    token: "t0",
  });
  expect(await resolved({}, environment)).toMatchObject({ origin: "https://env.example.org:81", token: "t1" });
  expect(await resolved({}, { ROBOT_SECRET: "s" })).toMatchObject({
    origin: "https://flyte.example.org",
    token: undefined,
    client: { id: "robot", secret: "s" },
  });
  expect(await resolveSettings({}, {}, async () => ({}))).toMatchObject({ origin: "http://localhost:30080" });
});

test("flytectl's file says who signs in, for its own API alone", async () => {
  const file = (authType: string) =>
    `admin:\n  endpoint: dns:///flyte.example.org\n  authType: ${authType}\n  command: ["get token", --audience, 'a,b']\n`;
  const settingsOf = (text: string, endpoint?: string) =>
    resolveSettings(endpoint === undefined ? {} : { endpoint }, {}, async () => adminSection(text));
  expect(await settingsOf(file("DeviceFlow"))).toMatchObject({ needsPerson: true, command: undefined });
  expect(await settingsOf(file("Pkce"), "https://flyte.example.org")).toMatchObject({ needsPerson: true });
  expect(await settingsOf(file("Pkce"), "https://other.example.org")).toMatchObject({ needsPerson: false });
  const command = ["get token", "--audience", "a,b"];
  expect(await settingsOf(file("ExternalCommand"))).toMatchObject({ needsPerson: false, command });
  const block =
    'admin:\n  authType: ExternalCommand\n  command:\n    - "get token"\n    - --audience\n    - a,b # list\n  insecure: true\n';
  expect(await settingsOf(block)).toMatchObject({ origin: "http://localhost:30080", command });
  await expect(settingsOf("admin:\n  authType: ExternalCommand\n")).rejects.toThrow("admin.command");
});

test("the secret of a client is read from its file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-settings-"));
  const file = join(folder, "secret");
  writeFileSync(file, "hidden\n");
  const environment = { FLYTE_CREDENTIALS_CLIENT_ID: "ci", FLYTE_CREDENTIALS_CLIENT_SECRET_LOCATION: file };
  const { client } = await resolved({ endpoint: "localhost:1" }, environment);
  rmSync(folder, { recursive: true });
  expect(client).toEqual({ id: "ci", secret: "hidden" });
});

test("this machine is reached without TLS, others with it", () => {
  const origins = ["localhost:80", "127.0.0.1:81", "dns:///localhost:82", "example.org", "https://localhost:83/"].map((endpoint) =>
    originOf(endpoint, undefined),
  );
  expect(origins).toEqual([
    "http://localhost",
    "http://127.0.0.1:81",
    "http://localhost:82",
    "https://example.org",
    "https://localhost:83",
  ]);
  expect(originOf("example.org", true)).toBe("http://example.org");
  expect(originOf("localhost", false)).toBe("https://localhost");
});
