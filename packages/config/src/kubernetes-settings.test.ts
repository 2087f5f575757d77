import { expect, test } from "vitest";
import { z } from "zod";
import { checkKubernetesSettings, kubernetesSettings } from "./kubernetes-settings.js";

const schema = z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings);
const problems = (given: object) => schema.safeParse(given).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

test("each way to connect to a cluster is accepted by itself", () => {
  expect(problems({})).toEqual([]);
  expect(problems({ kubeconfig: "/k", context: "east" })).toEqual([]);
  expect(problems({ inCluster: true })).toEqual([]);
  expect(problems({ endpoint: "https://10.0.0.1:6443", auth: { tokenPath: "/t", certPath: "/c" } })).toEqual([]);
});

test("conflicting settings are reported", () => {
  expect(problems({ kubeconfig: "/k", endpoint: "https://a" })).toEqual(["endpoint: kubeconfig and endpoint are mutually exclusive"]);
  expect(problems({ inCluster: true, context: "east" })).toEqual(["context: a context requires a kubeconfig"]);
  expect(problems({ endpoint: "10.0.0.1:6443" })).toEqual(["endpoint: it must be an address as https://10.0.0.1:6443"]);
  expect(problems({ auth: { tokenPath: "/t" } })).toEqual(["auth: tokenPath and certPath belong to an endpoint"]);
  expect(problems({ token: "secret" })).toHaveLength(1);
});
