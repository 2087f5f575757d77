export { parseVariableName, type VariableName } from "./binding/variable-name.js";
export {
  resolveBindings,
  type BindingError,
  type BindingErrorCode,
  type BindingSources,
  type BoundInputs,
} from "./binding/resolve.js";
export { evaluateCondition, type ConditionError, type ConditionResult } from "./binding/condition.js";
