import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { loadServiceConfig } from "./service-config.js";
import { blobStoreSettings, databaseSettings, tracingSettings } from "./settings.js";

const schema = z
  .strictObject({
    database: databaseSettings({ name: "x", maxConnections: 3 }),
    s3: blobStoreSettings.s3,
    azure: blobStoreSettings.azure,
    tracing: tracingSettings,
    clientSecretFile: z.string().default("/secret/file"),
    hooks: z.array(z.strictObject({ url: z.string(), secret: z.string() })).default([]),
  })
  .refine(({ hooks }) => hooks.length < 2);

class Ended extends Error {}

/**
 * Output and exit status of a program with these arguments; undefined status when it gets its
 * configuration.
 */
function run(...words: string[]): { out: string; err: string; status: number | undefined; config?: z.infer<typeof schema> } {
  const printed = { out: "", err: "", status: undefined as number | undefined };
  try {
    const config = loadServiceConfig(schema, "x", {
      argv: ["node", "main.js", ...words],
      env: {},
      stdout: { write: (text) => (printed.out += text) },
      stderr: { write: (text) => (printed.err += text) },
      exit: (status) => {
        printed.status = status;
        throw new Ended();
      },
    });
    return { ...printed, config };
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return printed;
  }
}

test("a valid configuration is returned and nothing is printed", () => {
  const { config, out, err, status } = run("--database.maxConnections", "7");
  expect([config?.database.maxConnections, out, err, status]).toEqual([7, "", "", undefined]);
});

test("--print-schema prints the settings with their types and defaults", () => {
  const { out, status } = run("--print-schema");
  expect(status).toBe(0);
  const printed = JSON.parse(out) as {
    properties: Record<string, { properties?: Record<string, unknown> }>;
    additionalProperties: boolean;
  };
  expect(printed.additionalProperties).toBe(false);
  expect(printed.properties.database?.properties?.maxConnections).toMatchObject({ type: "integer", default: 3 });
});

test("--print-config prints the effective configuration without secrets", () => {
  const hooks = '[{url: "https://u:hidden1@h/x", secret: hidden2}]';
  const words = [
    "--database.url",
    "postgresql://flyte:hidden3@db:5432/x",
    "--s3.secretAccessKey",
    "hidden4",
    "--s3.accessKeyId",
    "hidden5",
    "--azure.account",
    "shown",
    "--azure.accountKey",
    "hidden7",
  ];
  const { out, status } = run("--print-config", ...words, "--hooks", hooks, "--tracing.headers", "{authorization: hidden6}");
  expect(status).toBe(0);
  expect(out).not.toMatch(/hidden/);
  expect(parse(out)).toMatchObject({
    database: { url: "postgresql://flyte:[secret]@db:5432/x", maxConnections: 3 },
    s3: { maxConnections: 64, secretAccessKey: "[secret]" },
    azure: { account: "shown", accountKey: "[secret]" },
    clientSecretFile: "/secret/file",
    hooks: [{ url: "https://u:[secret]@h/x" }],
  });
});

test("an invalid setting is reported in one line with exit status 2", () => {
  const { err, status } = run("--databse.url", "x");
  expect([err, status]).toEqual(["configuration of x: databse: unknown setting; did you mean database?\n", 2]);
});
