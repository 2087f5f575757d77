import { describe, expect, it } from "vitest";
import type { ContainerState, Pod } from "../../pod-types.js";
import { parseAttemptEnd, takeOf, withEndFromStatus } from "./attempt-end.js";

const end = { end: "7", code: 3, oom: false, aborted: false, startedAt: 1, finishedAt: 2, message: "why", retires: null };
const pod = (terminated: ContainerState["terminated"]): Pod => ({
  metadata: { name: "warm-1", namespace: "p-d", uid: "u", annotations: { "flyte.org/warm-taken": "u 1970-01-01T00:00:00Z 7" } },
  spec: { containers: [{ name: "task" }] },
  status: { phase: "Failed", containerStatuses: [{ name: "task", state: terminated === undefined ? { running: {} } : { terminated } }] },
});
const shown = (exitCode: number, over: object = {}, reason = "Error") =>
  withEndFromStatus(pod({ exitCode, reason, message: JSON.stringify({ ...end, code: exitCode, ...over }) })).status;

describe("the end of an attempt in a reused pod that has ended", () => {
  it("is read from the termination message", () => {
    expect(shown(3)).toMatchObject({
      phase: "Failed",
      containerStatuses: [
        { state: { terminated: { exitCode: 3, reason: "Error", message: "why", finishedAt: "1970-01-01T00:00:02.000Z" } } },
      ],
    });
    expect(shown(0, {}, "Completed")).toMatchObject({ phase: "Succeeded" });
    expect(shown(0, { oom: true }, "Completed")).toMatchObject({ containerStatuses: [{ state: { terminated: { reason: "OOMKilled" } } }] });
  });

  it.each([
    ["an earlier attempt", { end: "6" }],
    ["an abort", { aborted: true }],
  ])("is not taken from the message of %s: nothing of this one has run", (_, over) => {
    expect(shown(0, over)).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 75, message: "the warm pod ended without an attempt" } } }],
    });
  });

  it("stays that of the container when the supervisor was killed, whatever its message says", () => {
    const killed = pod({ exitCode: 137, reason: "OOMKilled", message: JSON.stringify({ ...end, code: 0 }) });
    expect(withEndFromStatus(killed)).toBe(killed);
  });

  it.each([1e300, 8.7e12, 253_402_300_800, -1, Number.NaN])(
    "stays that of the container when the message names the impossible time %d: an attempt can write it",
    (startedAt) => {
      const state = { exitCode: 137, reason: "OOMKilled" };
      expect(shown(137, { startedAt }, "OOMKilled")).toMatchObject({ containerStatuses: [{ state: { terminated: state } }] });
      expect(shown(137, { finishedAt: startedAt }, "OOMKilled")?.containerStatuses?.[0]?.state?.terminated?.finishedAt).toBeUndefined();
    },
  );

  it("does not exist while the container runs", () => {
    const running = pod(undefined);
    expect([withEndFromStatus(running), takeOf(running)]).toEqual([running, "7"]);
    expect([parseAttemptEnd("no JSON"), parseAttemptEnd('{"start":"7"}')]).toEqual([undefined, undefined]);
  });
});
