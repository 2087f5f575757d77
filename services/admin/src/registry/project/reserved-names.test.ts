import { getOption, hasOption } from "@bufbuild/protobuf";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import { Code } from "@flyte-ts/rpc";
import { describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { checkNotReserved } from "./reserved-names.js";

const config = adminConfigSchema.parse({});
const refused = { code: Code.INVALID_ARGUMENT };
const check = (id: string, changes: object = {}) => checkNotReserved(id, { ...config, ...changes });
const refusal = (id: string, changes: object = {}): unknown => {
  try {
    check(id, changes);
    return undefined;
  } catch (error) {
    return error;
  }
};

test.each(["metadata", "data", "admin", "propeller"])("%s is a folder of Flyte itself", (id) => {
  expect(refusal(id)).toMatchObject({ ...refused, message: expect.stringContaining("blob store") as string });
});

test.each(["flytesnacks", "meta", "data2", "administration"])("%s is not reserved", (id) => expect(refusal(id)).toBeUndefined());

describe("configured folders", () => {
  const storage = {
    ...config.storage,
    metadataPrefix: "meta/flyte",
    propellerPrefix: "engine/x",
    rawOutputPrefix: `${config.storage.container}/raw`,
  };

  test("are reserved when uploads share their container", () => {
    expect(["meta", "engine", "raw", "admin"].map((id) => refusal(id, { storage }) !== undefined)).toEqual([true, true, true, true]);
    expect(["metadata", "data", "x", "propeller"].map((id) => refusal(id, { storage }))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("are not reserved when uploads have their own folder", () => {
    const dataProxy = { ...config.dataProxy, upload: { ...config.dataProxy.upload, storagePrefix: "uploads" } };
    expect(["data", "metadata"].map((id) => refusal(id, { dataProxy }))).toEqual([undefined, undefined]);
    expect(refusal("propeller", { dataProxy })).toMatchObject(refused);
  });
});

test("a project whose namespace would be one of Kubernetes itself is refused", () => {
  expect(refusal("kube-system", { namespaceTemplate: "{{ project }}" })).toMatchObject(refused);
  expect(refusal("kube", { domains: [{ id: "system", name: "system" }] })).toMatchObject(refused);
  expect(refusal("kube")).toBeUndefined();
});

test("every literal path component that REST paths have in place of a project is reserved", () => {
  const paths = [AdminService, DataProxyService, SignalService].flatMap(({ methods }) =>
    methods.flatMap((method) => {
      if (!hasOption(method, http)) return [];
      const rule = getOption(method, http);
      return [rule, ...rule.additionalBindings].map(({ pattern }) =>
        String(pattern.case === "custom" ? pattern.value.path : pattern.value).split("/"),
      );
    }),
  );
  const isProject = (part: string | undefined) => part !== undefined && /^\{.*project.*\}$/.test(part);
  const words = paths.flatMap((path) =>
    path.filter(
      (word, i) =>
        !word.startsWith("{") && paths.some((other) => isProject(other[i]) && other.slice(0, i).every((part, k) => part === path[k])),
    ),
  );
  expect(words.length).toBeGreaterThan(0);
  expect([...new Set(words)].filter((word) => refusal(word) === undefined && /^[a-z0-9-]+$/.test(word))).toEqual([]);
});
