export { parseVariableName, type VariableName } from "./variable-name.js";
export {
  resolveBindings,
  type BindingError,
  type BindingErrorCode,
  type BindingSources,
  type BoundInputs,
} from "./resolve.js";
export { evaluateCondition, type ConditionError, type ConditionResult } from "./condition.js";
