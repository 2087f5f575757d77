import { create } from "@bufbuild/protobuf";
import { collectionLiteral, integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ArrayItemSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { expect, it } from "vitest";
import { inputsForFile, inputsFromFile } from "./item-inputs.js";

const own = literalMap([
  ["a", integerLiteral(1)],
  ["b", integerLiteral(2)],
]);

it("wraps the inputs of an item into lists of one element, except bound inputs, and unwraps them", () => {
  const arrayItem = create(ArrayItemSchema, { index: 7, lists: true, boundInputs: ["b"] });
  const file = inputsForFile({ arrayItem }, own);
  expect(file).toEqual(
    literalMap([
      ["a", collectionLiteral([integerLiteral(1)])],
      ["b", integerLiteral(2)],
    ]),
  );
  expect(inputsFromFile({ arrayItem }, file)).toEqual(own);
});

it("selects the inputs of an item from the lists of the whole array", () => {
  const arrayItem = create(ArrayItemSchema, { index: 1, lists: true, position: 1 });
  const file = literalMap([["a", collectionLiteral([integerLiteral(8), integerLiteral(9)])]]);
  expect(inputsFromFile({ arrayItem }, file)).toEqual(literalMap([["a", integerLiteral(9)]]));
});

it("leaves the inputs of other requests unchanged", () => {
  expect(inputsForFile({}, own)).toBe(own);
  expect(inputsFromFile({ arrayItem: create(ArrayItemSchema, { index: 3 }) }, own)).toBe(own);
});
