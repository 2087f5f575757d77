import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type * as DescribeModule from "@flyte-ts/runtime/describe";
import type { TaskEntry } from "@flyte-ts/runtime/task";
import type * as RuntimeModule from "@flyte-ts/sdk/runtime";
import type * as TestingModule from "@flyte-ts/sdk/testing";
import { formatOutputs } from "./format-outputs.js";
import { valuesFromJson } from "./json-values.js";
import { runInProcess } from "./run-in-process.js";
import { stagedFiles } from "./staged-files.js";
import type { ExportAddress, HostCall, HostCalls } from "./messages.js";

/** Exports of the entry of a bundle for local use. */
export interface LocalEntry extends TaskEntry {
  readonly describe: () => Promise<typeof DescribeModule>;
  readonly runtime?: () => Promise<typeof RuntimeModule>;
  readonly local?: () => Promise<typeof TestingModule>;
}

type Handlers = { readonly [Call in HostCall]: (request: HostCalls[Call]["request"]) => Promise<HostCalls[Call]["answer"]> };

/** Returns the answers to calls about a bundle that this process has loaded. */
export function handlersOf(entry: LocalEntry): Handlers {
  const find = async ({ module, export: name }: ExportAddress) => {
    const found = (await entry.collect()).find(module, name);
    if (found === undefined) throw new Error(`${module} exports no task or workflow ${name}`);
    return found.definition;
  };
  const runtime = async () => {
    if (entry.runtime === undefined) throw new Error("this bundle is not made for local use");
    return entry.runtime();
  };
  return {
    list: async () => {
      const { listEntities, unresolvedReferences, referenceKey } = await entry.describe();
      const collection = await entry.collect();
      const references = unresolvedReferences(collection).map((address) => ({ key: referenceKey(address), ...address }));
      return { entities: listEntities(collection), references };
    },
    describe: async (request) => (await entry.describe()).describeBundle(await entry.collect(), request),
    check: async ({ project, domain }) => {
      const { checkEntities } = await runtime();
      const unused = { version: "check", image: "check", code: { entry: "check" }, sdkVersion: "0" };
      const registration = { project, domain, ...unused, cacheVersion: () => "check", resolve: () => "check" };
      return checkEntities(await entry.collect(), registration);
    },
    encode: async (request) => {
      const { encodeInputs, LocalFileStore } = await entry.describe();
      const definition = await find(request);
      const values = valuesFromJson(definition.inputs, request.inputs);
      process.chdir(request.cwd);
      const literals = await encodeInputs(definition, values, stagedFiles(new LocalFileStore(request.folder), request));
      return Buffer.from(toBinary(LiteralMapSchema, literals)).toString("base64");
    },
    decode: async (request) => {
      const { decodeOutputs, LocalFileStore } = await entry.describe();
      const definition = await find(request);
      const literals = fromBinary(LiteralMapSchema, Buffer.from(request.outputs, "base64"));
      return formatOutputs(definition, await decodeOutputs(definition, literals, new LocalFileStore("/tmp")));
    },
    local: async (request) => runInProcess(await find(request), request, await runtime()),
  };
}
