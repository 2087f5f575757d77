import { Health } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { ServerReflection } from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import { ServerReflection as ServerReflectionAlpha } from "@flyte-ts/idl/grpc/reflection/v1alpha/reflection_pb";
import { open, reads, type Rule, rulesFor } from "./rule.js";

/** Rules of the methods that every server has: health is open; reflection needs a role. */
export const platformRules: readonly (readonly [string, Rule])[] = [
  ...rulesFor(Health, { check: open, watch: open }),
  ...rulesFor(ServerReflection, { serverReflectionInfo: reads("viewer", () => ({ kind: "anywhere" })) }),
  ...rulesFor(ServerReflectionAlpha, { serverReflectionInfo: reads("viewer", () => ({ kind: "anywhere" })) }),
];
