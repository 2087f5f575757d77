import { createRegistry, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { expect, test } from "vitest";
import { unimplementedService } from "../index.js";
import { bindRequest } from "./routing/bind-request.js";
import { createCodecs } from "./json/codec.js";
import { parseMessageText } from "./json/message-text.js";
import { createRouteTable } from "./routing/route-table.js";
import { parseScalar, TextError } from "./json/scalar-text.js";

// Length of texts on which an ambiguous pattern takes quadratic time or worse: minutes, during
// which the server answers no other request. Each text must be processed within the test's timeout.
const LENGTH = 1_000_000;
const timeout = 20_000;

test("a million digits that are not a number are refused in linear time", { timeout }, () => {
  expect(() => parseScalar(ScalarType.DOUBLE, `${"1".repeat(LENGTH)}x`)).toThrow(TextError);
  expect(parseScalar(ScalarType.DOUBLE, "1.")).toBe(1);
  expect(parseScalar(ScalarType.FLOAT, ".5e1")).toBe(5);
});

test("ambiguous units of a duration are refused in linear time", { timeout }, () => {
  expect(() => parseMessageText(DurationSchema, `${"1ms".repeat(40)}x`)).toThrow(TextError);
  expect(() => parseMessageText(DurationSchema, `${"ms".repeat(40)}x`)).toThrow(TextError);
  expect(parseMessageText(DurationSchema, "1m2ms3s")).toMatchObject({ seconds: 63n, nanos: 2_000_000 });
});

test("a million unclosed brackets in a parameter name are read in linear time", { timeout }, () => {
  const lookup = createRouteTable([unimplementedService(AdminService)]).find("GET", ["api", "v1", "projects"]);
  if (lookup.kind !== "found") throw new Error(lookup.kind);
  const { request: codec } = createCodecs(createRegistry()).choose({ contentType: [], accept: [] });
  const bound = (parameter: string) => bindRequest(lookup.matched, { codec, body: new Uint8Array(), query: new Map([[parameter, ["7"]]]) });
  expect(bound("[".repeat(LENGTH))).toMatchObject({ limit: 0 });
  expect(bound(`${"[".repeat(LENGTH)}]x`)).toMatchObject({ limit: 0 });
  expect(bound("limit")).toMatchObject({ limit: 7 });
});
