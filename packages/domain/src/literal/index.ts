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
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "./build.js";
export { resolveJsonPointer, JsonLiteralError, literalFromJson, parseJsonPointer } from "./from-json.js";
export { literalsEqual } from "./equal.js";
export { literalFitsType } from "./fits.js";
export { literalTypeOf, simpleTypeOfPrimitive, scalarTypeOf } from "./type-of.js";
export { AttributeError, resolveAttributes, type AttributeErrorCode, type OffloadedAt } from "./attribute.js";
export {
  checkInputs,
  checkLiterals,
  type CheckedInputs,
  type InputCheck,
  type InputError,
  type InputErrorCode,
} from "./inputs.js";
