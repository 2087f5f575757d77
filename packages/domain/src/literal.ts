export {
  MSGPACK_TAG,
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  durationLiteral,
  floatLiteral,
  integerLiteral,
  literalMap,
  mapLiteral,
  noneLiteral,
  schemaLiteral,
  stringLiteral,
  structLiteral,
  structuredDatasetLiteral,
  unionLiteral,
} from "./literal/build.js";
export { resolveJsonPointer, JsonLiteralError, literalFromJson, parseJsonPointer } from "./literal/from-json.js";
export { literalsEqual } from "./literal/equal.js";
export { literalFitsType } from "./literal/fits.js";
export { literalTypeOf, simpleTypeOfPrimitive, scalarTypeOf } from "./literal/literal-type.js";
export { MsgpackError, readHead, skipValue, type MsgpackHead } from "./literal/msgpack.js";
export { AttributeError, resolveAttributes, type AttributeErrorCode, type OffloadedAt } from "./literal/attribute.js";
export {
  checkInputs,
  checkLiterals,
  type CheckedInputs,
  type InputCheck,
  type InputError,
  type InputErrorCode,
} from "./literal/inputs.js";
export { loadOffloaded } from "./literal/offloaded-literal.js";
