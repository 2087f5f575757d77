// For the command: descriptions of a bundle, and values of its entities.
export { decodeOutputs, encodeInputs, LocalFileStore } from "@flyte-ts/sdk/runtime";
export {
  describeBundle,
  type DescribeRequest,
  type EncodedDescription,
  type ListedEntity,
  listEntities,
  unresolvedReferences,
} from "./describe/describe.js";
export { referenceKey } from "./task/registration.js";
