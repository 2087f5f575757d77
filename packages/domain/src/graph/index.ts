export {
  checkExpansion,
  expansionOf,
  ExpansionError,
  type Expansion,
  type ExpansionLimits,
  type GraphUse,
} from "./expansion.js";
