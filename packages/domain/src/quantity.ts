export {
  canonicalQuantity,
  compareQuantities,
  divideUp,
  isQuantity,
  isZeroQuantity,
  parseQuantity,
  QuantityError,
  type Quantity,
} from "./quantity/quantity.js";
