import { JsonPatchError, jsonPatch } from "../../object/json-patch.js";
import { mergePatch, structuralShare } from "../../object/merge-patch.js";
import { type Json, type KubeObject, isObject } from "../../object/model.js";
import { strategicMerge } from "../../object/strategic-merge.js";
import { LARGE_BYTES, type Stored } from "../../store/stored-object.js";
import { ApiError, badRequest, notFound } from "../api-error.js";
import { type ApiContext, objectName, type NamedTarget, storeKey } from "../context.js";
import { parseYamlBody } from "../http/yaml-body.js";
import { create, type WriteOptions } from "./create.js";
import { applyUpdate } from "./update.js";
import { readObject, waitUntilDurable } from "./write-checks.js";

export const PATCH_TYPES = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
} as const;

const NOT_STRATEGIC =
  "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

export type PatchType = (typeof PATCH_TYPES)[keyof typeof PATCH_TYPES];

/**
 * Patches an object. Server-side apply creates missing objects and merges otherwise; field
 * ownership is not tracked.
 */
export async function patch(
  context: ApiContext,
  target: NamedTarget,
  request: { text: string; type: PatchType } & WriteOptions,
): Promise<Stored> {
  const { type } = request;
  const body = readPatch(request.text, type);
  if (type === "strategic" && !target.type.builtIn) throw new ApiError("UnsupportedMediaType", NOT_STRATEGIC);
  const old = context.store.get(storeKey(target));
  if (old === undefined) {
    if (type !== "apply" || !isObject(body)) throw notFound(objectName(target));
    const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
    return create(context, target, { ...request, body: { ...body, metadata: { ...metadata, name: target.name } } });
  }
  const shown = target.type.view?.fromStorage(old.object) ?? old.object;
  const patched = applyPatch(shown, { body, type, target });
  if (!isObject(patched)) throw badRequest("the patched value must be an object");
  const read = readObject(patched, target);
  if (read.metadata.name !== target.name)
    throw badRequest(`the name of the object (${read.metadata.name}) does not match the name on the URL (${target.name})`);
  const next = type !== "merge" && old.size > LARGE_BYTES ? (structuralShare(old.object, read) as KubeObject) : read;
  const change = { old, next, estimate: old.size + request.bytes + 1024, dryRun: request.dryRun };
  return waitUntilDurable(context, applyUpdate(context, target, change));
}

function readPatch(text: string, type: PatchType): Json {
  if (type === "apply") return parseYamlBody(text) as Json;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function applyPatch(object: KubeObject, { body, type, target }: { body: Json; type: PatchType; target: NamedTarget }): Json {
  switch (type) {
    case "json":
      try {
        return jsonPatch(object, body);
      } catch (error) {
        if (error instanceof JsonPatchError)
          throw new ApiError("Invalid", `the server rejected our request due to an error in our request: ${error.message}`);
        // Operations can nest objects more deeply than the stack permits.
        if (error instanceof RangeError) throw badRequest("the patched object is nested too deeply");
        throw error;
      }
    case "merge":
      if (!isObject(body)) throw badRequest("a merge patch must be an object");
      return mergePatch(object, body);
    case "strategic":
      return strategicMerge(object, body);
    case "apply":
      if (!isObject(body)) throw badRequest("an applied configuration must be an object");
      return target.type.builtIn ? strategicMerge(object, body) : mergePatch(object, body);
  }
}
