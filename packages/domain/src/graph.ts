export {
  checkExpansion,
  expansionOf,
  ExpansionError,
  type Expansion,
  type ExpansionLimits,
  type GraphUse,
} from "./graph/expansion.js";
export { END_NODE, isReservedNode, START_NODE } from "./graph/reserved-nodes.js";
