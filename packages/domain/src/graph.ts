export {
  checkExpansion,
  expansionOf,
  ExpansionError,
  type Expansion,
  type ExpansionLimits,
  type GraphUse,
} from "./graph/expansion.js";
