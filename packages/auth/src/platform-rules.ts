import { Health } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { ServerReflection } from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import { ServerReflection as ServerReflectionAlpha } from "@flyte-ts/idl/grpc/reflection/v1alpha/reflection_pb";
import { publicRule, readRule, type Rule, ruleEntries } from "./rule.js";

/** Rules of the methods that every server has: health is open; reflection needs a role. */
export const platformRules: readonly (readonly [string, Rule])[] = [
  ...ruleEntries(Health, { check: publicRule, watch: publicRule }),
  ...ruleEntries(ServerReflection, { serverReflectionInfo: readRule("viewer", () => ({ kind: "anywhere" })) }),
  ...ruleEntries(ServerReflectionAlpha, { serverReflectionInfo: readRule("viewer", () => ({ kind: "anywhere" })) }),
];
