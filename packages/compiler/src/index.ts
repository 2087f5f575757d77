// Tasks
export { compileTask, type TaskCompilation } from "./task.js";

// Workflows
export { compileWorkflow, type LaunchPlanInterface, type WorkflowCompilation, type WorkflowSource } from "./workflow.js";
export { requirementsOf, type Requirements } from "./requirements.js";

// Errors
export { formatCompileErrors, type CompileError, type CompileErrorCode, type CompileErrors } from "./compile-error.js";
