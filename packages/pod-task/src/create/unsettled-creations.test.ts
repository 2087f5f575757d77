import { ManualTime } from "@flyte-ts/async/manual-time";
import { KubeError } from "@flyte-ts/kubernetes";
import { RetryableFailure, RetryLater } from "@flyte-ts/task-plugin";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { beforeEach, describe, expect, it } from "vitest";
import { kubeUnavailable } from "./create-error.js";
import { CREATION_SETTLES_WITHIN_MS, UnsettledCreations } from "./unsettled-creations.js";

const request = sampleRequest("ray");
const refusal = new RetryableFailure({ code: "RuntimeFailure", message: "forbidden", kind: "USER" });
const unanswered = kubeUnavailable(new KubeError("socket hang up", { status: 0 }));

describe("creations", () => {
  let clock: ManualTime;
  let creations: UnsettledCreations;
  const create = (error?: Error) => creations.track(request, () => (error === undefined ? Promise.resolve(1) : Promise.reject(error)));

  beforeEach(() => {
    clock = new ManualTime();
    creations = new UnsettledCreations({ clock });
  });

  it("with an answer are settled", async () => {
    await create();
    await expect(create(refusal)).rejects.toBe(refusal);
    expect(creations.isSettled(request)).toBe(true);
  });

  it.each([
    ["that never reached the server", { status: 0, cause: { code: "ECONNREFUSED" } }],
    ["that the server refused unprocessed", { status: 429 }],
  ])("%s are settled", async (_, options) => {
    await expect(create(kubeUnavailable(new KubeError("no", options)))).rejects.toBeInstanceOf(RetryLater);
    expect(creations.isSettled(request)).toBe(true);
  });

  it("without an answer may take effect for a time, also after a later one has succeeded", async () => {
    await expect(create(unanswered)).rejects.toBe(unanswered);
    await clock.advance(1_000);
    await create();
    expect(() => creations.requireSettled(request)).toThrow(expect.objectContaining({ retryAfterMs: CREATION_SETTLES_WITHIN_MS - 1_000 }));
    await clock.advance(CREATION_SETTLES_WITHIN_MS - 1_000);
    expect(creations.isSettled(request)).toBe(true);
  });

  it("without an answer delay the failure of the attempt by a later refusal", async () => {
    await expect(create(unanswered)).rejects.toBe(unanswered);
    await expect(create(refusal)).rejects.toMatchObject({ name: "RetryLater", message: "forbidden" });
    await clock.advance(CREATION_SETTLES_WITHIN_MS);
    await expect(create(refusal)).rejects.toBe(refusal);
  });

  it("started by earlier processes may take effect for a time after the start", async () => {
    creations.takeOver();
    expect(() => creations.requireEarlierSettled()).toThrow(RetryLater);
    expect(() => creations.addAttempts([], request.owner)).toThrow(RetryLater);
    expect(creations.addAttempts([request], request.owner)).toEqual([request]);
    await clock.advance(CREATION_SETTLES_WITHIN_MS);
    expect(creations.addAttempts([], request.owner)).toEqual([]);
  });

  it("are listed by owner while they may take effect", async () => {
    await expect(create(unanswered)).rejects.toBe(unanswered);
    expect(creations.addAttempts([], request.owner)).toMatchObject([{ generatedName: request.generatedName }]);
    expect(creations.addAttempts([], request.owner && { ...request.owner, uid: "another" })).toEqual([]);
  });
});
