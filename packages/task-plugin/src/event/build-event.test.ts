import { create, toJson } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { describe, expect, it } from "vitest";
import { truncateErrorText } from "./truncate-error-text.js";
import { eventFields } from "./event-fields.js";
import { PermanentFailure, RetryableFailure } from "../failure.js";
import { sampleRequest } from "../harness.js";
import { buildTaskEvent } from "./build-event.js";

const now = new Date("2026-01-02T03:04:05.678Z");
const options = { phaseVersion: 2, pluginIdentifier: "container", producerId: "propeller", now };
const json = (...args: Parameters<typeof buildTaskEvent>) => toJson(TaskEventSchema, buildTaskEvent(...args)) as Record<string, unknown>;

describe("buildTaskEvent", () => {
  it("builds the same event from a request that holds only the event fields", () => {
    const request = sampleRequest("python-task", { interruptible: true, pluginState: new Uint8Array([1]) });
    for (const status of [{ phase: "RUNNING" }, { phase: "SUCCEEDED" }] as const) {
      expect(json(eventFields(request), status, options)).toEqual(json(request, status, options));
    }
  });

  it("a success has the fields that a Go propeller sends", () => {
    const request = sampleRequest("python-task", { interruptible: true });
    const outputs = create(LiteralMapSchema, {});
    const told = json(request, { phase: "SUCCEEDED", outputs, deckUri: "s3://bucket/deck.html" }, options);
    expect(told).toEqual({
      event: {
        taskId: { resourceType: "TASK", project: "p", domain: "development", name: "tasks.work", version: "v1" },
        parentNodeExecutionId: { nodeId: "n0", executionId: { project: "p", domain: "development", name: "a1b2c3d4e5f6g7h8i9j0" } },
        phase: "SUCCEEDED",
        phaseVersion: 2,
        producerId: "propeller",
        occurredAt: "2026-01-02T03:04:05.678Z",
        reportedAt: "2026-01-02T03:04:05.678Z",
        inputUri: request.inputUri,
        outputUri: `${request.outputPrefix}/outputs.pb`,
        taskType: "python-task",
        metadata: { generatedName: "a1b2c3d4e5f6g7h8i9j0-n0-0", pluginIdentifier: "container", instanceClass: "INTERRUPTIBLE" },
        eventVersion: 1,
      },
      workflowKey: "p-development/a1b2c3d4e5f6g7h8i9j0",
      nodePath: "n0",
      ownerUid: request.owner?.uid,
      outputs: {},
      deckUri: "s3://bucket/deck.html",
    });
  });

  it("a reason is in the old and the new field, with its time", () => {
    const occurredAt = new Date("2026-01-02T03:04:00Z");
    const told = json(sampleRequest("t"), { phase: "QUEUED", reason: "task submitted to K8s", occurredAt }, options);
    expect(told.event).toMatchObject({
      phase: "QUEUED",
      reason: "task submitted to K8s",
      reasons: [{ reason: "task submitted to K8s", occurredAt: "2026-01-02T03:04:00Z" }],
      occurredAt: "2026-01-02T03:04:00Z",
      reportedAt: "2026-01-02T03:04:05.678Z",
    });
    expect(told.event).not.toHaveProperty("outputUri");
  });

  it("a failure carries its retry budget and whether it is recoverable", () => {
    const failure = new RetryableFailure({ code: "Interrupted", message: "node gone", kind: "SYSTEM", cleanup: true });
    expect(json(sampleRequest("t"), { phase: "FAILED", failure }, options)).toMatchObject({
      event: { phase: "FAILED", error: { code: "Interrupted", message: "node gone", kind: "SYSTEM" } },
      failure: { recoverable: true, cleanup: true },
    });
    const permanent = new PermanentFailure({ code: "BadTaskFormat", message: "no" });
    expect(json(sampleRequest("t"), { phase: "FAILED", failure: permanent }, options)).toMatchObject({
      event: { error: { code: "BadTaskFormat", kind: "USER" } },
      failure: {},
    });
  });

  it("an aborted attempt has neither error nor output", () => {
    const { event } = buildTaskEvent(sampleRequest("t"), { phase: "ABORTED" }, options);
    expect(event?.outputResult.case).toBeUndefined();
  });
});

describe("truncateErrorText", () => {
  it("keeps head and tail of a long text and splits no character", () => {
    const text = `${"ä".repeat(60_000)}end`;
    const bounded = truncateErrorText(text);
    expect(Buffer.byteLength(bounded)).toBeLessThanOrEqual(100 * 1024);
    expect(bounded.startsWith("ää")).toBe(true);
    expect(bounded.endsWith("äend")).toBe(true);
    expect(bounded).not.toContain("\uFFFD");
    expect(truncateErrorText("short")).toBe("short");
  });
});
