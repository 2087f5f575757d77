import { expect, test } from "vitest";
import { adminConfigSchema } from "./config.js";

test("an empty configuration has the defaults of Flyte", () => {
  const config = adminConfigSchema.parse({});
  expect(config.taskResources).toEqual({
    defaults: { cpu: "2", memory: "200Mi", ephemeralStorage: "", gpu: "" },
    limits: { cpu: "2", memory: "1Gi", ephemeralStorage: "", gpu: "1" },
  });
  expect(config.registration.maxWorkflowNodes).toBe(100);
  expect(config.domains.map(({ id }) => id)).toEqual(["development", "staging", "production"]);
});

test("default limits apply to all resources except GPUs, whose limit is their request", () => {
  const parse = (defaultLimits: object) => adminConfigSchema.safeParse({ taskResources: { defaultLimits } });
  expect(parse({ cpu: "4" }).data?.taskResources.defaultLimits).toEqual({ cpu: "4", memory: "", ephemeralStorage: "" });
  expect(parse({ gpu: "1" }).error?.issues[0]?.path).toEqual(["taskResources", "defaultLimits"]);
});

test("unknown keys are refused", () => {
  expect(adminConfigSchema.safeParse({ server: { prot: 1 } }).success).toBe(false);
});

test("without authentication, an address beyond loopback needs an explicit setting", () => {
  const parse = (server: object) => adminConfigSchema.safeParse({ server });
  expect(parse({ host: "127.0.0.2" }).success).toBe(true);
  expect(parse({ host: "0.0.0.0" }).error?.issues[0]).toMatchObject({
    path: ["server", "host"],
    message: expect.stringContaining("openToNetwork"),
  });
  expect(parse({ host: "0.0.0.0", openToNetwork: true }).success).toBe(true);
});

test("the time zone of schedules must exist", () => {
  const parse = (timeZone: string) => adminConfigSchema.safeParse({ schedules: { timeZone } }).success;
  expect([parse("Europe/Berlin"), parse("UTC"), parse("Mars/Base"), parse(""), parse("+02:00")]).toEqual([true, true, false, false, false]);
});

test("with authentication, any address may be served, and its settings are required", () => {
  const parse = (auth: object) => adminConfigSchema.safeParse({ server: { host: "0.0.0.0" }, auth: { mode: "required", ...auth } });
  const providers = [{ issuer: "https://idp.test" }];
  for (const publicUrl of ["https://flyte.test", "https://flyte.test/"]) {
    expect(parse({ providers, publicUrl }).data?.auth.publicUrl).toBe("https://flyte.test");
  }
  expect(parse({ publicUrl: "https://flyte.test" }).error?.issues[0]).toMatchObject({ path: ["auth", "providers"] });
  expect(parse({ providers }).error?.issues[0]).toMatchObject({ path: ["auth", "publicUrl"] });
  for (const publicUrl of [
    "https://flyte.test/flyte",
    "https://flyte.test//",
    "https://flyte.test/?a",
    "ftp://flyte.test",
    "https://a:b@flyte.test",
    "flyte.test",
    "",
  ]) {
    expect(parse({ providers, publicUrl }).error?.issues[0]).toMatchObject({ path: ["auth", "publicUrl"] });
  }
  const roles = [{ subject: "a", group: "b", role: "viewer" }];
  expect(parse({ providers, publicUrl: "https://flyte.test", roles }).success).toBe(false);
});
