import { ManualTime } from "@flyte-ts/async/manual-time";
import type { KubeObject } from "@flyte-ts/kubernetes";
import { attemptKey } from "@flyte-ts/task-plugin";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { beforeEach, describe, expect, it } from "vitest";
import { annotateAttempt } from "./attempt-annotation.js";
import { FinishedAttempts } from "./finished-attempts.js";
import { CREATION_SETTLES_WITHIN_MS, UnsettledCreations } from "./unsettled-creations.js";

const request = sampleRequest("python-task");
const key = attemptKey(request);

function objectOf(uid: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject {
  const { namespace, generatedName: name, owner } = request;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: "v1", kind: "K", name: owner.name, uid: owner.uid }];
  return annotateAttempt({ metadata: { namespace, name, uid, ownerReferences, ...metadata } }, request);
}

describe("after a restart", () => {
  let clock: ManualTime;
  let ended: boolean;
  let finished: FinishedAttempts<KubeObject>;
  const removed: (string | undefined)[] = [];
  /** Time of the deletion that is not due yet, ms. */
  const deleteDue = () =>
    finished.deleteDue(key, (uid) => {
      removed.push(uid);
      return Promise.resolve();
    });
  const appears = (object: KubeObject) => finished.onEvent(key, { type: "added", object, previous: undefined });

  beforeEach(() => {
    clock = new ManualTime();
    ended = false;
    removed.length = 0;
    const creations = new UnsettledCreations({ clock });
    creations.takeOver();
    finished = new FinishedAttempts({ clock, creations, hasEnded: () => ended });
    finished.add(key, request);
  });

  it("an ended object is deleted after the time in which another of its name may be created", async () => {
    ended = true;
    const dueAtMs = clock.now() + CREATION_SETTLES_WITHIN_MS;
    expect(finished.deferDeletion(key, objectOf("1"))).toBe(dueAtMs);
    expect(await deleteDue()).toBe(dueAtMs);
    expect(removed).toEqual([]);
    await clock.advance(CREATION_SETTLES_WITHIN_MS);
    expect(await deleteDue()).toBeUndefined();
    expect(removed).toEqual(["1"]);
    expect(finished.isObsolete(key)).toBe(false);
  });

  it("an object stays obsolete when its deletion fails", async () => {
    appears(objectOf("2"));
    await expect(finished.deleteDue(key, () => Promise.reject(new Error("unavailable")))).rejects.toThrow("unavailable");
    expect(finished.isObsolete(key)).toBe(true);
  });

  it("an object that appears during the deletion of another is deleted next", async () => {
    appears(objectOf("2"));
    const replace = () => Promise.resolve(appears(objectOf("3")));
    expect(await finished.deleteDue(key, replace)).toBe(clock.now());
    expect(await deleteDue()).toBeUndefined();
    expect(removed).toEqual(["3"]);
  });

  it("an attempt of another owner with the same key is another one", () => {
    const { owner } = request;
    expect(finished.has(key, request)).toBe(true);
    expect(finished.has(key, { owner: owner && { ...owner, uid: "other" } })).toBe(false);
    expect(finished.has(key, { owner: undefined })).toBe(true);
  });

  it("an object that runs is deleted at once", () => {
    expect(finished.deferDeletion(key, objectOf("1"))).toBeUndefined();
  });

  it("an object that appears is deleted at once, and forgotten when it is gone", async () => {
    const late = objectOf("2");
    expect(appears(late)).toBe(true);
    expect(await deleteDue()).toBeUndefined();
    expect(removed).toEqual(["2"]);
    expect(appears(late)).toBe(true);
    expect(finished.onEvent(key, { type: "modified", object: late, previous: late })).toBe(false);
    finished.onEvent(key, { type: "deleted", object: late, previous: late });
    expect(finished.isObsolete(key)).toBe(false);
  });

  it("an object that replaces another between two lists is deleted", () => {
    expect(finished.onEvent(key, { type: "modified", object: objectOf("2"), previous: objectOf("1") })).toBe(true);
  });

  it.each([
    ["of another owner", { ownerReferences: [{ apiVersion: "v1", kind: "K", name: "n", uid: "other" }] }],
    ["that is being deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
  ])("an object %s is left alone", (_, metadata) => {
    expect(appears(objectOf("2", metadata))).toBe(false);
  });

  it("neither holds when creations of earlier processes are settled", async () => {
    await clock.advance(CREATION_SETTLES_WITHIN_MS);
    expect(appears(objectOf("2"))).toBe(false);
    ended = true;
    expect(finished.deferDeletion(key, objectOf("1"))).toBeUndefined();
  });
});
