import { create } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { buildTaskEvent } from "@flyte-ts/task-plugin";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { ATTEMPT_ANNOTATION, reduceRequest, encodeAttemptAnnotation, decodeAttemptAnnotation } from "./attempt-annotation.js";

describe("the attempt annotation", () => {
  const request = sampleRequest("python-task", { interruptible: true });
  if (request.template !== undefined) {
    request.template.interface = create(TypedInterfaceSchema, { outputs: { variables: { o0: { description: "long" }, o1: {} } } });
  }
  request.inputs = create(LiteralMapSchema, { literals: { a: { hash: "x".repeat(10_000) } } });
  const pod = (annotation: string, name = request.generatedName) => ({
    metadata: { name, namespace: request.namespace, annotations: { [ATTEMPT_ANNOTATION]: annotation } },
  });

  it("holds all fields of events and stays small", () => {
    const text = encodeAttemptAnnotation(request);
    const { metadata } = pod(text);
    const ownerReferences = [{ apiVersion: "v1", kind: "flyteworkflow", name: "n", uid: request.owner?.uid ?? "" }];
    const record = decodeAttemptAnnotation({ metadata: { ...metadata, ownerReferences } });
    const options = { phaseVersion: 0, pluginIdentifier: "container", producerId: "propeller", now: new Date(0) };
    const plain = { ...request, pluginState: new Uint8Array() };
    expect(buildTaskEvent(record ?? reduceRequest(request), { phase: "SUCCEEDED" }, options)).toEqual(
      buildTaskEvent(plain, { phase: "SUCCEEDED" }, options),
    );
    expect(record?.template?.interface?.outputs?.variables).toHaveProperty("o0");
    expect(text.length).toBeLessThan(1_000);
  });

  it("is read with the owner of its object", () => {
    const { owner } = request;
    const object = pod(encodeAttemptAnnotation(request));
    const reference = { apiVersion: "v1", kind: "flyteworkflow", name: "n", uid: owner?.uid ?? "" };
    expect(decodeAttemptAnnotation({ metadata: { ...object.metadata, ownerReferences: [reference] } })?.owner).toMatchObject(reference);
    expect(decodeAttemptAnnotation(object)?.owner).toBeUndefined();
  });

  it("is ignored when it is malformed or belongs to another pod", () => {
    expect(decodeAttemptAnnotation(pod(encodeAttemptAnnotation(request), "other"))).toBeUndefined();
    expect(decodeAttemptAnnotation(pod("!"))).toBeUndefined();
    expect(decodeAttemptAnnotation({ metadata: { name: "x" } })).toBeUndefined();
  });
});
