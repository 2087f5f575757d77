import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { differences } from "../recorded/differences.js";
import { findAcceptedDifference, type AcceptedDifference } from "./accepted-differences.js";
import { type ApiResponse, type ApiUnderTest, localApi, realApi } from "./api.js";
import { type Case, CASES, PREPARATION } from "./cases.js";
import { mask } from "./mask.js";

/** Reviewed differences, each with the reason why it is acceptable. */
const list = JSON.parse(
  readFileSync(new URL("../../accepted-kubernetes-differences.json", import.meta.url), "utf8"),
) as AcceptedDifference[];

describe.skipIf(await kubernetesSkipReason())("local-cluster answers as kube-apiserver does", () => {
  let real: ApiUnderTest;
  let local: ApiUnderTest;
  const used = new Set<AcceptedDifference>();

  beforeAll(async () => {
    [real, local] = await Promise.all([realApi(), localApi()]);
    for (const api of [real, local]) for (const request of PREPARATION) await api.call(request);
    // The API serves a definition shortly after its creation.
    const served = async () => (await real.call({ method: "GET", path: "/apis/flyte.lyft.com/v1alpha1/flyteworkflows" })).status === 200;
    while (!(await served())) await sleep(50);
  }, 120_000);
  afterAll(async () => {
    await local?.stop();
    await real?.stop();
  });

  test.each(CASES)("$name", async ({ name, steps }) => {
    const [theirs, ours] = await Promise.all([runSteps(real, steps), runSteps(local, steps)]);
    const all = differences(theirs, ours);
    const open = all.filter((difference) => {
      const reviewed = findAcceptedDifference(list, name, difference);
      if (reviewed !== undefined) used.add(reviewed);
      return reviewed === undefined;
    });
    expect(
      open.map(
        ({ path, recorded, observed }) => `${path}\n  kube-apiserver ${abbreviate(recorded)}\n  local-cluster  ${abbreviate(observed)}`,
      ),
    ).toEqual([]);
  });

  test("every reviewed difference still occurs", () => {
    expect(list.filter((entry) => !used.has(entry)).map(({ cases, path }) => `${cases?.join(",") ?? "all"} ${path}`)).toEqual([]);
  });
});

const abbreviate = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 300);

/** Returns the responses by the request's number, method and path. */
async function runSteps(api: ApiUnderTest, steps: Case["steps"]): Promise<Record<string, unknown>> {
  const answers: ApiResponse[] = [];
  const seen: Record<string, unknown> = {};
  for (const [index, step] of steps.entries()) {
    const request = typeof step === "function" ? step(answers) : step;
    const answer = await api.call(request);
    answers.push(answer);
    seen[`${index} ${request.method}`] = mask(answer);
  }
  return seen;
}
