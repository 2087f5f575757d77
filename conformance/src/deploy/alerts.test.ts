import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serviceNames } from "@flyte-ts/service-manifest";
import { expect, test } from "vitest";
import { root } from "../repository.js";
import { DEPLOYED } from "../services.js";

test("the alert about a missing service covers every deployed service", () => {
  const text = readFileSync(join(root, "deploy", "kubernetes", "monitoring", "alerts.yaml"), "utf8");
  const jobs = new RegExp(`^(?:${/up\{job=~"([^"]+)"\}/.exec(text)?.[1]})$`);
  const names = DEPLOYED.map(({ manifest }) => serviceNames(manifest).kubernetes);
  expect(names.filter((name) => !jobs.test(name))).toEqual([]);
  expect(jobs.test("flyte-unknown")).toBe(false);
});

test("an alert about rare events counts the first one, with which the series of a counter begins", () => {
  const text = readFileSync(join(root, "deploy", "kubernetes", "monitoring", "alerts.yaml"), "utf8");
  const counters = [...text.matchAll(/increase\((\w+)\[(\w+)\]\)/g)];
  expect(counters.length).toBeGreaterThan(0);
  for (const [, counter, range] of counters) expect(text).toContain(`(${counter} unless ${counter} offset ${range})\n`);
});
